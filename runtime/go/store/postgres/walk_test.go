package postgres

import (
	"testing"
	"time"
)

const day = 24 * time.Hour

// readRound reads what a round has to be read, as if nothing had expired, and says how much it was.
func readRound(w *walk, now time.Time, slices int, files string) (read int) {
	w.begin(now, slices, files)
	for w.find() {
		w.read(slice{now: now})
		read++
	}
	return read
}

func TestAWalk(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const large = 100_000
	type round struct {
		after  time.Duration
		slices int
		files  string
		want   int
	}
	for _, c := range []struct {
		name   string
		rounds []round
	}{
		{"an empty table", []round{{0, 0, "a", 0}, {time.Hour, 0, "a", 0}}},
		{"a small table is read at once, and then not for the retention", []round{{0, 100, "a", 100}, {15 * day, 100, "a", 0}, {2 * day, 100, "a", 100}}},
		{"a large table is read in a sixteenth of the retention", []round{{0, large, "a", leastSlices}, {day, large, "a", large - leastSlices}, {time.Hour, large, "a", 0}}},
		{"a large table is read at its pace", []round{{0, large, "a", leastSlices}, {time.Hour, large, "a", leastSlices + large/24}}},
		{"pages that are new have nothing that expires sooner than the retention", []round{{0, 10, "a", 10}, {time.Hour, 20, "a", 0}, {16*day - time.Hour, 20, "a", 10}, {2 * time.Hour, 20, "a", 10}}},
		{"a table that was written anew", []round{{0, 10, "a", 10}, {time.Hour, 10, "b", 10}}},
		{"a table that is shorter", []round{{0, 10, "a", 10}, {time.Hour, 3, "a", 0}, {16 * day, 3, "a", 3}}},
		{"a clock that was set back", []round{{0, 10, "a", 10}, {-time.Hour, 10, "a", 10}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWalk(16 * day)
			now := began
			for i, r := range c.rounds {
				now = now.Add(r.after)
				if read := readRound(w, now, r.slices, r.files); read != r.want {
					t.Errorf("round %d: %d slices read, want %d", i, read, r.want)
				}
			}
		})
	}
}

// Slices that have much that has expired are read one after the other, whatever the pace.
func TestAWalkIsNotSlowerThanWhatExpires(t *testing.T) {
	t.Parallel()
	w := newWalk(16 * day)
	now := time.Now()
	w.begin(now, 5000, "a")
	read := 0
	for ; w.find(); read++ {
		w.read(slice{now: now, removed: worthwhile})
	}
	if read != 5000 {
		t.Errorf("%d slices read", read)
	}
}
