package consumer

import "time"

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
	head, tail *task
	n          int
	// since is when the head was first held in place; zero where it is not.
	since time.Time
}

// lanes are all lanes that have a delivery. It is not safe for concurrent use.
type lanes struct {
	byKey map[laneKey]*lane
	free  []*lane
}

func newLanes() *lanes { return &lanes{byKey: make(map[laneKey]*lane, 1024)} }

// enter puts a delivery at the end of its lane, and says whether it is the head.
func (s *lanes) enter(key laneKey, t *task) bool {
	l := s.byKey[key]
	if l == nil {
		if n := len(s.free); n > 0 {
			l, s.free = s.free[n-1], s.free[:n-1]
		} else {
			l = new(lane)
		}
		l.laneKey = key
		s.byKey[key] = l
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
		delete(s.byKey, l.laneKey)
		*l = lane{}
		if len(s.free) < 1024 {
			s.free = append(s.free, l)
		}
		return nil
	}
	if wasHead {
		l.since = time.Time{}
		return l.head
	}
	return nil
}
