package conformance

import (
	"strings"
	"sync"
)

// ring keeps the last bytes that were written to it.
type ring struct {
	mu   sync.Mutex
	buf  []byte
	next int
	full bool
}

func newRing(size int) *ring { return &ring{buf: make([]byte, size)} }

// Write keeps the end of p. It never fails.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	if len(p) >= len(r.buf) {
		p = p[len(p)-len(r.buf):]
		r.next, r.full = 0, true
	}
	for len(p) > 0 {
		k := copy(r.buf[r.next:], p)
		p = p[k:]
		if r.next += k; r.next == len(r.buf) {
			r.next, r.full = 0, true
		}
	}
	return n, nil
}

// tail returns the last lines, at most n of them, as valid UTF-8.
func (r *ring) tail(n int) string {
	r.mu.Lock()
	var s string
	if r.full {
		s = string(r.buf[r.next:])
	}
	s += string(r.buf[:r.next])
	r.mu.Unlock()
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(s, "\uFFFD"), "\r\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
