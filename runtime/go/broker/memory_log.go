package broker

import (
	"sort"
	"sync"
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

// append adds a message, and n more copies of it, which share their bytes. It gives them their offsets.
func (l *memoryLog) append(message packed, n int) {
	l.mu.Lock()
	for range 1 + max(n, 0) {
		message.offset = l.end
		l.end++
		l.messages.push(&message)
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

// fetchAtMost is how many messages a read gives at most: more of them, with their headers, would leave the processor's
// caches before anybody looks at the last one.
const fetchAtMost = 64

// read gives messages at or behind offset, as many as fit into maxBytes, the first one whatever its size.
// Where there are none it gives a channel that is closed when there are.
func (l *memoryLog) read(offset int64, maxBytes int) (Batch, chan struct{}) {
	l.mu.Lock()
	from := l.indexLocked(offset)
	if from == l.messages.n {
		defer l.mu.Unlock()
		if l.grown == nil {
			l.grown = make(chan struct{})
		}
		return Batch{End: l.end}, l.grown
	}
	to, size := from, 0
	for to < l.messages.n {
		size += l.messages.at(to).size()
		if to > from && (size > maxBytes || to-from == fetchAtMost) {
			break
		}
		to++
	}
	parts, end := l.messages.slices(from, to), l.end
	l.mu.Unlock()
	return Batch{Messages: unpack(l.TopicPartition, parts, to-from), End: end}, nil
}

// all is everything that it has now.
func (l *memoryLog) all() []Message {
	l.mu.Lock()
	n := l.messages.n
	parts := l.messages.slices(0, n)
	l.mu.Unlock()
	return unpack(l.TopicPartition, parts, n)
}

// indexLocked finds the first message at or behind offset.
func (l *memoryLog) indexLocked(offset int64) int {
	n := l.messages.n
	if n == 0 {
		return 0
	}
	first := l.messages.at(0).offset
	if offset <= first {
		return 0
	}
	// Without gaps, the usual case, it is a subtraction.
	if i := offset - first; i < int64(n) && l.messages.at(int(i)).offset == offset {
		return int(i)
	}
	return sort.Search(n, func(i int) bool { return l.messages.at(i).offset >= offset })
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
