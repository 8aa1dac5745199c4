package consumer

// queue is a double-ended queue of deliveries. The zero value is empty.
type queue struct {
	ring  []*task // a power of two, or nil
	first int
	n     int
}

func (q *queue) len() int { return q.n }

func (q *queue) grow() {
	ring := make([]*task, max(64, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = q.ring[(q.first+i)&(len(q.ring)-1)]
	}
	q.ring, q.first = ring, 0
}

func (q *queue) push(t *task) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.first+q.n)&(len(q.ring)-1)] = t
	q.n++
}

func (q *queue) pushFront(t *task) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.first = (q.first - 1) & (len(q.ring) - 1)
	q.ring[q.first] = t
	q.n++
}

// pop takes the first; nil where there is none.
func (q *queue) pop() *task {
	if q.n == 0 {
		return nil
	}
	t := q.ring[q.first]
	q.ring[q.first] = nil
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.n--
	return t
}

// front is the first, which stays; nil where there is none.
func (q *queue) front() *task {
	if q.n == 0 {
		return nil
	}
	return q.ring[q.first]
}

func (q *queue) at(i int) *task { return q.ring[(q.first+i)&(len(q.ring)-1)] }

// keep leaves those in the queue that the function says to keep, in their order.
func (q *queue) keep(keep func(*task) bool) {
	kept := 0
	for i := range q.n {
		t := q.at(i)
		if keep(t) {
			q.ring[(q.first+kept)&(len(q.ring)-1)] = t
			kept++
		}
	}
	for i := kept; i < q.n; i++ {
		q.ring[(q.first+i)&(len(q.ring)-1)] = nil
	}
	q.n = kept
}
