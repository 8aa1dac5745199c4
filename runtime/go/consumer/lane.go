package consumer

import (
	"hash/maphash"
	"time"
)

// laneKey names what runs one after the other. On an ordered route that is a lane of the spec, the messages
// of one biz key of one origin topic; on an unordered one it is the copies of one message, which would only
// find each other's claim. The same key in two topics is two lanes.
type laneKey struct {
	key    string
	topic  int32 // the origin's place among the consumer's topics
	copies bool  // key is an idempotency key
}

// lane is the deliveries that wait for each other. The head may work, the others wait.
type lane struct {
	laneKey
	hash       uint64
	next       *lane // in its bucket
	head, tail *task
	n          int
	// since is when the head was first held in place; zero where it is not.
	since time.Time
}

// lanes are all lanes that have a delivery: a hash table of lists, which deliveries bring their hashes to, so that
// nobody hashes under the engine's lock, nor allocates. It is not safe for concurrent use.
type lanes struct {
	buckets []*lane // a power of two
	n       int
	free    []*lane
}

func newLanes() *lanes { return &lanes{buckets: make([]*lane, 1024)} }

// laneSeed is that of all hashes.
var laneSeed = maphash.MakeSeed()

// hashOf is the hash of a key; of keys that only differ in the rest it is the same.
func (k laneKey) hashOf() uint64 { return maphash.String(laneSeed, k.key) }

// find is the lane of a key; nil where it has no delivery.
func (s *lanes) find(key laneKey, hash uint64) *lane {
	for l := *s.bucket(hash); l != nil; l = l.next {
		if l.hash == hash && l.laneKey == key {
			return l
		}
	}
	return nil
}

func (s *lanes) bucket(hash uint64) **lane { return &s.buckets[hash&uint64(len(s.buckets)-1)] }

// make makes the lane of a key, which has none.
func (s *lanes) make(key laneKey, hash uint64) *lane {
	if s.n == len(s.buckets) {
		s.grow()
	}
	var l *lane
	if n := len(s.free); n > 0 {
		l, s.free = s.free[n-1], s.free[:n-1]
	} else {
		l = new(lane)
	}
	b := s.bucket(hash)
	l.laneKey, l.hash, l.next = key, hash, *b
	*b = l
	s.n++
	return l
}

func (s *lanes) grow() {
	old := s.buckets
	s.buckets = make([]*lane, 2*len(old))
	for _, l := range old {
		for l != nil {
			b, next := s.bucket(l.hash), l.next
			l.next, *b = *b, l
			l = next
		}
	}
}

// remove ends a lane that has no delivery any more.
func (s *lanes) remove(l *lane) {
	b := s.bucket(l.hash)
	for *b != l {
		b = &(*b).next
	}
	*b = l.next
	s.n--
	*l = lane{}
	if len(s.free) < 1024 {
		s.free = append(s.free, l)
	}
}

// enter puts a delivery, which has the key's hash, at the end of its lane, and says whether it is the head.
func (s *lanes) enter(key laneKey, t *task) bool {
	l := s.find(key, t.hash)
	if l == nil {
		l = s.make(key, t.hash)
	}
	t.lane, t.before, t.behind = l, l.tail, nil
	if l.tail == nil {
		l.head = t
	} else {
		l.tail.behind = t
	}
	l.tail = t
	l.n++
	return l.head == t
}

// leave takes a delivery out of its lane. The delivery it returns, if any, is the new head.
func (s *lanes) leave(t *task) *task {
	l := t.lane
	if l == nil {
		return nil
	}
	wasHead := l.head == t
	if t.before == nil {
		l.head = t.behind
	} else {
		t.before.behind = t.behind
	}
	if t.behind == nil {
		l.tail = t.before
	} else {
		t.behind.before = t.before
	}
	t.lane, t.before, t.behind = nil, nil, nil
	l.n--
	if l.n == 0 {
		s.remove(l)
		return nil
	}
	if wasHead {
		l.since = time.Time{}
		return l.head
	}
	return nil
}
