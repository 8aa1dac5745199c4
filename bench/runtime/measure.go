package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/idem-spec/idem/bench/figures"
)

type (
	report     = figures.Report
	comparison = figures.Comparison
	contender  = figures.Contender
)

// side is what takes its turn in each round.
type side struct {
	name string
	// round works through n messages, and says what it took.
	round func(ctx context.Context, n int) (usage, error)
	// n is how many messages a round has, where that is not what the others have.
	n int
}

// usage is what messages took.
type usage struct {
	messages int
	wall     time.Duration
	cpu      time.Duration // of this process, and of the servers where they are counted
	allocs   uint64
	bytes    uint64
}

// meter measures from its start to stop.
type meter struct {
	began   time.Time
	cpu     time.Duration
	before  runtime.MemStats
	servers func() time.Duration
}

// start begins a measurement, after a collection, so that nobody pays for what the one before has left. servers, if
// not nil, is the processor time of those who work for this process.
func start(servers func() time.Duration) *meter {
	m := &meter{servers: servers}
	runtime.GC()
	runtime.ReadMemStats(&m.before)
	m.cpu = m.used()
	m.began = time.Now()
	return m
}

func (m *meter) stop(messages int) usage {
	u := usage{messages: messages, wall: time.Since(m.began)}
	u.cpu = m.used() - m.cpu
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	u.allocs, u.bytes = after.Mallocs-m.before.Mallocs, after.TotalAlloc-m.before.TotalAlloc
	return u
}

func (m *meter) used() time.Duration {
	t := figures.OwnCPU()
	if m.servers != nil {
		t += m.servers()
	}
	return t
}

// compare lets sides take turns, and gives two comparisons: messages in a second on the wall, and processor time of a
// message.
func compare(ctx context.Context, title, what string, s size, n int, sides []side) ([]comparison, error) {
	rates := comparison{Title: title + ", " + what + " a second", Unit: "k/s"}
	cpu := comparison{Title: title + ", processor time", Unit: "µs"}
	all := make([][]usage, len(sides))
	err := figures.Turns(s.rounds, len(sides), func(i int, counts bool) error {
		side := sides[i]
		count := s.of(n)
		if side.n > 0 {
			count = s.of(side.n)
		}
		u, err := side.round(ctx, count)
		if err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
		if counts {
			all[i] = append(all[i], u)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, side := range sides {
		r, c := contender{Name: side.name}, contender{Name: side.name}
		var allocs, bytes []float64
		for _, u := range all[i] {
			m := float64(u.messages)
			r.Rounds = append(r.Rounds, m/u.wall.Seconds()/1e3)
			c.Rounds = append(c.Rounds, u.cpu.Seconds()*1e6/m)
			allocs, bytes = append(allocs, float64(u.allocs)/m), append(bytes, float64(u.bytes)/m)
		}
		r.Extra = fmt.Sprintf("%.1f allocs, %.0f B", median(allocs), median(bytes))
		rates.Contenders, cpu.Contenders = append(rates.Contenders, r), append(cpu.Contenders, c)
	}
	return []comparison{rates, cpu}, nil
}

func median(all []float64) float64 { return quantile(all, 0.5) }

// quantile is the value that a part q of all values does not exceed.
func quantile[T ~int64 | ~float64](all []T, q float64) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
