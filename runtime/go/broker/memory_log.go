package broker

import (
	"sort"
	"sync"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// memoryLog is one partition: messages in the order of their offsets, which may have gaps.
type memoryLog struct {
	TopicPartition

	mu       sync.Mutex
	messages chunks
	first    int64 // the earliest offset
	end      int64 // the next one
	// grown is closed at the next append. It is made by a reader that found nothing, so that appending
	// costs nothing where nobody waits.
	grown chan struct{}
}

// append takes copies of messages, whose offsets it gives.
func (l *memoryLog) append(copies ...Message) {
	l.mu.Lock()
	for i := range copies {
		copies[i].Topic, copies[i].Partition, copies[i].Offset = l.Topic, l.Partition, l.end
		l.end++
		l.messages.push(&copies[i])
	}
	l.wakeLocked()
	l.mu.Unlock()
}

func (l *memoryLog) wakeLocked() {
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

func (l *memoryLog) earliest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

// read gives messages at or behind offset, as many as fit into maxBytes, the first one whatever its size.
// Where there are none it gives a channel that is closed when there are.
func (l *memoryLog) read(offset int64, maxBytes int) (Batch, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.indexLocked(offset)
	if from == l.messages.n {
		if l.grown == nil {
			l.grown = make(chan struct{})
		}
		return Batch{End: l.end}, l.grown
	}
	to, size := from, 0
	for to < l.messages.n {
		size += sizeOf(l.messages.at(to))
		if to > from && size > maxBytes {
			break
		}
		to++
	}
	return Batch{Messages: l.messages.copyOf(from, to), End: l.end}, nil
}

// indexLocked finds the first message at or behind offset.
func (l *memoryLog) indexLocked(offset int64) int {
	n := l.messages.n
	if n == 0 {
		return 0
	}
	first := l.messages.at(0).Offset
	if offset <= first {
		return 0
	}
	// Without gaps, the usual case, it is a subtraction.
	if i := offset - first; i < int64(n) && l.messages.at(int(i)).Offset == offset {
		return int(i)
	}
	return sort.Search(n, func(i int) bool { return l.messages.at(i).Offset >= offset })
}

func (l *memoryLog) truncate(before int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before = min(before, l.end)
	if before <= l.first {
		return
	}
	l.messages.drop(l.indexLocked(before))
	l.first = before
}

func (l *memoryLog) skip(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end += max(n, 0)
	l.wakeLocked()
}

// sizeOf is about what a message takes on the wire.
func sizeOf(m *Message) int {
	n := 24 + len(m.Key) + len(m.Value)
	for i := range m.Headers {
		n += 4 + len(m.Headers[i].Name) + len(m.Headers[i].Value)
	}
	return n
}

// arena gives copies of messages out of two allocations.
type arena struct {
	bytes   []byte
	headers idem.Headers
}

func newArena(messages []Message) *arena {
	size, headers := 0, 0
	for i := range messages {
		m := &messages[i]
		size += len(m.Key) + len(m.Value)
		for j := range m.Headers {
			size += len(m.Headers[j].Value)
		}
		headers += len(m.Headers)
	}
	return &arena{bytes: make([]byte, 0, size), headers: make(idem.Headers, 0, headers)}
}

// clone copies b; nil stays nil, and empty stays empty.
func (a *arena) clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	n := len(a.bytes)
	a.bytes = append(a.bytes, b...)
	return a.bytes[n:len(a.bytes):len(a.bytes)]
}

func (a *arena) copyOf(m *Message) Message {
	c := *m
	c.Key, c.Value = a.clone(m.Key), a.clone(m.Value)
	if m.Headers != nil {
		n := len(a.headers)
		a.headers = append(a.headers, m.Headers...)
		c.Headers = a.headers[n:len(a.headers):len(a.headers)]
		for i := range c.Headers {
			c.Headers[i].Value = a.clone(c.Headers[i].Value)
		}
	}
	return c
}
