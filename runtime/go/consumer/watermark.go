package consumer

// A watermark knows which offset of one partition may be committed: the one behind the last delivery of the
// contiguous run of settled ones, in the order fetched. Offsets may have gaps, which compaction and
// transactions leave. There is one for each (generation, partition): it is closed when the generation ends,
// and what is settled later moves nothing. It is not safe for concurrent use. (CONS-001, CONS-002)
type watermark struct {
	ring   []mark // a power of two; ring[seq&mask]
	first  uint64 // the oldest delivery that is not settled, or next
	next   uint64 // the sequence number of the next delivery
	offset int64  // to commit
	ahead  int64  // the offset behind the last delivery that was added
	closed bool
}

// mark is one delivery on its way.
type mark struct {
	offset int64
	task   *task // nil once it is settled
	done   bool
}

// newWatermark begins at the offset that the group goes on with.
func newWatermark(offset int64) *watermark {
	return &watermark{ring: make([]mark, 64), offset: offset, ahead: offset}
}

// add takes the next delivery in the order fetched, and gives the number that done wants. False says that its
// offset is not ahead of those before it: it was fetched before, and is not to be delivered again.
func (w *watermark) add(offset int64, t *task) (seq uint64, ok bool) {
	if offset < w.ahead {
		return 0, false
	}
	if w.next-w.first == uint64(len(w.ring)) {
		w.grow()
	}
	seq = w.next
	w.ring[seq&uint64(len(w.ring)-1)] = mark{offset: offset, task: t}
	w.next++
	w.ahead = offset + 1
	return seq, true
}

func (w *watermark) grow() {
	ring := make([]mark, 2*len(w.ring))
	for seq := w.first; seq != w.next; seq++ {
		ring[seq&uint64(len(ring)-1)] = w.ring[seq&uint64(len(w.ring)-1)]
	}
	w.ring = ring
}

// done settles a delivery; false where the generation is over, or it was settled before.
func (w *watermark) done(seq uint64) bool {
	if w.closed || seq < w.first || seq >= w.next {
		return false
	}
	mask := uint64(len(w.ring) - 1)
	m := &w.ring[seq&mask]
	if m.done {
		return false
	}
	m.done, m.task = true, nil
	for w.first != w.next && w.ring[w.first&mask].done {
		w.offset = w.ring[w.first&mask].offset + 1
		w.first++
	}
	return true
}

// span is how many deliveries there are from the oldest that is not settled to the last one.
func (w *watermark) span() int { return int(w.next - w.first) }

// oldest is the delivery that holds the offset; nil where none does.
func (w *watermark) oldest() *task {
	if w.first == w.next {
		return nil
	}
	return w.ring[w.first&uint64(len(w.ring)-1)].task
}

// each visits the deliveries that are not settled, the oldest first.
func (w *watermark) each(visit func(*task)) {
	for seq := w.first; seq != w.next; seq++ {
		if t := w.ring[seq&uint64(len(w.ring)-1)].task; t != nil {
			visit(t)
		}
	}
}

// close ends it: its offset stays as it is.
func (w *watermark) close() {
	w.closed = true
	w.ring = w.ring[:0:0]
	w.first = w.next
}
