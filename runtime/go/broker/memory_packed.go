package broker

import (
	"encoding/binary"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// packed is a message as a log keeps it. A log keeps everything, and a Message with its headers is a dozen pointers
// that each garbage collection follows: packed has all bytes in a row, and what it shares with the message before it.
// It does not change once it is made.
type packed struct {
	offset int64
	time   time.Time
	shape  *shape
	bytes  []byte // key, value and header values, each behind its length and 1; a 0 is one that is nil
}

// shape is what messages have in common: the names of their headers. Nil: the headers are nil.
type shape struct {
	headers []headerShape
	size    int // on the wire
}

type headerShape struct {
	name    string
	integer bool
}

// packer packs the messages of one publication, whose bytes are one allocation.
type packer struct {
	bytes []byte
	last  *shape
}

func newPacker(messages []Message) *packer {
	size := 0
	for i := range messages {
		m := &messages[i]
		size += packedLen(m.Key) + packedLen(m.Value)
		for j := range m.Headers {
			size += packedLen(m.Headers[j].Value)
		}
	}
	return &packer{bytes: make([]byte, 0, size)}
}

// packedLen is at least what b takes.
func packedLen(b []byte) int {
	switch n := len(b); {
	case n < 1<<7-1:
		return n + 1
	case n < 1<<14-1:
		return n + 2
	default:
		return n + binary.MaxVarintLen64
	}
}

// pack copies a message. Its offset is still to come.
func (p *packer) pack(m *Message, now time.Time) packed {
	start := len(p.bytes)
	p.add(m.Key)
	p.add(m.Value)
	for i := range m.Headers {
		p.add(m.Headers[i].Value)
	}
	end := len(p.bytes)
	return packed{time: now, shape: p.shapeOf(m.Headers), bytes: p.bytes[start:end:end]}
}

func (p *packer) add(b []byte) {
	if b == nil {
		p.bytes = append(p.bytes, 0)
		return
	}
	p.bytes = binary.AppendUvarint(p.bytes, uint64(len(b))+1)
	p.bytes = append(p.bytes, b...)
}

// shapeOf is the shape of the message before, where these headers have the same.
func (p *packer) shapeOf(headers idem.Headers) *shape {
	if headers == nil {
		return nil
	}
	if p.last == nil || !p.last.fits(headers) {
		p.last = newShape(headers)
	}
	return p.last
}

func newShape(headers idem.Headers) *shape {
	s := &shape{headers: make([]headerShape, len(headers))}
	for i := range headers {
		s.headers[i] = headerShape{headers[i].Name, headers[i].Integer}
		s.size += 4 + len(headers[i].Name)
	}
	return s
}

func (s *shape) fits(headers idem.Headers) bool {
	if len(s.headers) != len(headers) {
		return false
	}
	for i := range headers {
		if s.headers[i].name != headers[i].Name || s.headers[i].integer != headers[i].Integer {
			return false
		}
	}
	return true
}

// size is about what it takes on the wire.
func (p *packed) size() int {
	n := 24 + len(p.bytes)
	if p.shape != nil {
		n += p.shape.size
	}
	return n
}

// unpack makes messages of parts, of which there are n. Their bytes are those of the log.
func unpack(from TopicPartition, parts [][]packed, n int) []Message {
	count := 0
	for _, part := range parts {
		for i := range part {
			if s := part[i].shape; s != nil {
				count += len(s.headers)
			}
		}
	}
	all, headers := make([]Message, 0, n), make(idem.Headers, 0, count)
	for _, part := range parts {
		for i := range part {
			all = append(all, Message{Topic: from.Topic, Partition: from.Partition})
			headers = part[i].unpack(&all[len(all)-1], headers)
		}
	}
	return all
}

// unpack puts the headers into the room that there is, and gives back what is left of it, as append does.
func (p *packed) unpack(m *Message, room idem.Headers) idem.Headers {
	m.Offset, m.Time = p.offset, p.time
	rest := p.bytes
	m.Key, rest = next(rest)
	m.Value, rest = next(rest)
	if p.shape == nil {
		return room
	}
	n := len(room)
	for _, h := range p.shape.headers {
		header := idem.Header{Name: h.name, Integer: h.integer}
		header.Value, rest = next(rest)
		room = append(room, header)
	}
	m.Headers = room[n:len(room):len(room)]
	return room
}

// next is the bytes at the front, and what is behind them.
func next(b []byte) (value, rest []byte) {
	n, at := uint64(b[0]), 1
	if n >= 1<<7 {
		n, at = binary.Uvarint(b)
	}
	if n == 0 {
		return nil, b[at:]
	}
	end := at + int(n) - 1
	return b[at:end:end], b[end:]
}
