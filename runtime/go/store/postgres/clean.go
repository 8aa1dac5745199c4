package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// leastSlices is how many a round may read in any case: a small table is read as a whole.
	leastSlices = 128
	// passes is how often the table may be read in the retention, where that is more.
	passes = 16
	// worthwhile is from how many records on a slice was worth reading, and is not counted.
	worthwhile = 100
)

// walk is what a process knows of the pages of idem_record, which it reads a slice after the other, round and round. A
// slice is a megabyte, some 2,400 records.
// It begins anywhere, so that processes do not walk in step, and with nothing: each slice is read once. From then on
// it is known when the first record of a slice expires, and the slice is left alone until then.
type walk struct {
	turn      chan struct{} // one call at a time
	retention time.Duration
	files     string    // those of the table, or of its partitions
	pages     int64     // of a slice, in each of them
	due       []int64   // of each slice, on the server's clock in ms
	next      int       // the slice that comes next
	began     time.Time // this round did, on the server's clock
	now       time.Time
	ahead     int // slices of this round to look at
	reads     int // and those of them to read in vain
}

func newWalk(retention time.Duration) *walk {
	return &walk{turn: make(chan struct{}, 1), retention: retention}
}

// Clean removes expired records. Of one that is PROCESSING a tombstone remains. Fewer than limit means that none is
// known to be left: a large table that this process has not read yet is read over some calls, at the latest in a
// sixteenth of the retention.
func (c *core) Clean(ctx context.Context, limit int) (int, error) {
	n, err := c.clean(ctx, limit)
	if err != nil {
		return n, named(fmt.Sprintf("clean %d records", limit), err)
	}
	return n, nil
}

func (c *core) clean(ctx context.Context, limit int) (n int, err error) {
	w := c.walk
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if w.ahead == 0 || w.reads == 0 {
		if err := c.measureHeap(ctx, w); err != nil {
			return 0, err
		}
	}
	for n < limit && w.find() {
		s, err := c.cleanSlice(ctx, w.next, limit-n)
		if err != nil {
			w.pass() // whatever it is that hinders: the others are not to wait for it
			return n, err
		}
		n += s.removed
		if n < limit { // else there may be more in this slice
			w.read(s)
		}
	}
	return n, nil
}

// measureHeap begins a round.
func (c *core) measureHeap(ctx context.Context, w *walk) error {
	var now time.Time
	var pages, slice int64
	var files string
	err := c.transact(ctx, work{}, func(work *work) error {
		work.queue("clean_heap").QueryRow(func(row pgx.Row) error { return row.Scan(&now, &pages, &slice, &files) })
		return nil
	})
	if err == nil {
		w.pages = slice
		w.begin(now, int((pages+slice-1)/slice), files)
	}
	return err
}

// begin begins a round over so many slices.
func (w *walk) begin(now time.Time, slices int, files string) {
	elapsed := now.Sub(w.began)
	if files != w.files || elapsed < 0 { // other pages, or another clock
		w.files, w.due, elapsed = files, make([]int64, slices), 0
		w.next = rand.IntN(max(slices, 1))
	}
	w.due = w.due[:min(len(w.due), slices)]
	for len(w.due) < slices { // what is in them was written since the last round
		w.due = append(w.due, w.began.Add(w.retention).UnixMilli())
	}
	if w.next >= slices {
		w.next = 0
	}
	share := float64(slices) * passes * min(elapsed.Seconds()/w.retention.Seconds(), 1)
	w.began, w.now, w.ahead, w.reads = now, now, slices, leastSlices+int(share)
}

// find goes on to the next slice that has to be read, and says whether there is one in this round.
func (w *walk) find() bool {
	for ; w.ahead > 0 && w.reads > 0; w.pass() {
		if w.due[w.next] <= w.now.UnixMilli() {
			return true
		}
	}
	return false
}

// pass leaves a slice behind.
func (w *walk) pass() {
	w.ahead--
	if w.next++; w.next == len(w.due) {
		w.next = 0
	}
}

// slice is what clean.sql answers.
type slice struct {
	now           time.Time
	removed, left int
	next          *time.Time
}

// read keeps what was found in a slice, and leaves it behind.
func (w *walk) read(s slice) {
	w.now = s.now
	due := s.now.Add(w.retention)
	if s.next != nil && s.next.Before(due) {
		due = *s.next
	}
	if s.left != 0 { // others have locked or changed them
		due = s.now.Add(w.retention / passes)
	}
	w.due[w.next] = due.UnixMilli() + 1 // not before it, for the part of a millisecond
	if s.removed < worthwhile {
		w.reads--
	}
	w.pass()
}

func (c *core) cleanSlice(ctx context.Context, i, limit int) (s slice, err error) {
	page := int64(i) * c.walk.pages
	err = c.transact(ctx, work{}, func(w *work) error {
		w.queue("clean", page, page+c.walk.pages, limit, c.config.Retention.Milliseconds()).QueryRow(func(row pgx.Row) error {
			return row.Scan(&s.now, &s.removed, &s.left, &s.next)
		})
		return nil
	})
	return s, err
}
