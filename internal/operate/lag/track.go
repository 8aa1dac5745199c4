package lag

import (
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// mark is an offset at a time.
type mark struct {
	at     time.Time
	offset int64
}

// unknown is the offset of a commit that was removed.
const unknown = -1

// track is what is known of a partition over time, in order of time.
type track struct {
	ends    []mark // where it ended
	commits []mark // where the group went on from then
}

// Point is the lag at a time.
type Point struct {
	At  time.Time
	Lag int64

	in, out int64 // the end, and where the group went on
}

// commitsFrom begins the track with what the group has committed since a time, and where it goes on now.
func (t *track) commitsFrom(from time.Time, commits []kafka.Commit, next int64) {
	if len(commits) == 0 {
		t.commits = []mark{{from, next}} // it has been there all the time
		return
	}
	for _, c := range commits {
		t.commits = append(t.commits, mark{c.At, c.Offset})
	}
	slices.SortStableFunc(t.commits, func(a, b mark) int { return a.at.Compare(b.at) })
}

// endsAt adds where the partition ended at a time past, in any order.
func (t *track) endsAt(at time.Time, end int64) {
	i, _ := slices.BinarySearchFunc(t.ends, at, func(m mark, at time.Time) int { return m.at.Compare(at) })
	t.ends = slices.Insert(t.ends, i, mark{at, end})
}

// look adds what is the case now, and drops what is older than a time.
func (t *track) look(now time.Time, end, next int64, since time.Time) {
	// The clocks of the brokers may be ahead of this one's.
	for i := range t.commits {
		if t.commits[i].at.After(now) {
			t.commits[i].at = now
		}
	}
	t.ends = append(t.ends, mark{now, end})
	if n := len(t.commits); n == 0 || t.commits[n-1].offset != next {
		t.commits = append(t.commits, mark{now, next})
	}
	for len(t.ends) > 1 && t.ends[0].at.Before(since) {
		t.ends = t.ends[1:]
	}
	for len(t.commits) > 1 && !t.commits[1].at.After(since) {
		t.commits = t.commits[1:]
	}
}

// points are the lags at the times whose end is known.
func (t *track) points() []Point {
	points := make([]Point, 0, len(t.ends))
	i, next, end := 0, int64(unknown), int64(0)
	for _, m := range t.ends {
		for ; i < len(t.commits) && !t.commits[i].at.After(m.at); i++ {
			next = t.commits[i].offset
		}
		end = max(end, m.offset) // timestamps that go back make it look shorter
		if next != unknown {
			points = append(points, Point{m.at, max(end-next, 0), end, next})
		}
	}
	return points
}

// unmoved is since when the group has been where it is, and whether it is known that it came there then.
func (t *track) unmoved() (since time.Time, came bool) {
	i := len(t.commits) - 1
	if i < 0 {
		return time.Time{}, false
	}
	for ; i > 0 && t.commits[i-1].offset == t.commits[i].offset; i-- {
	}
	return t.commits[i].at, i > 0
}

// step is how many messages the group usually commits at once: the median. The lag goes up and down by as much.
func (t *track) step() int64 {
	var steps []int64
	for i := 1; i < len(t.commits); i++ {
		if before := t.commits[i-1].offset; before != unknown && t.commits[i].offset > before {
			steps = append(steps, t.commits[i].offset-before)
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[(len(steps)-1)/2]
}
