package simulate_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/idem-spec/idem/runtime/go/internal/history"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	"github.com/idem-spec/idem/runtime/go/internal/simulate"
)

var (
	seed  = flag.Uint64("seed", 0, "run the schedule of this seed alone, and show what happened where it fails")
	times = flag.Int("times", 1, "run -seed so often, or until it fails")
	bug   = flag.String("bug", "", "plant this bug: see package plant")
	from  = flag.Uint64("from", 1, "the first seed")
	seeds = flag.Uint64("seeds", 2000, "how many seeds")
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// run runs a schedule in a bubble of its own.
func run(t *testing.T, seed uint64, bug plant.Bug, o simulate.Options) (r *simulate.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = simulate.Run(seed, bug, o); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	})
	return r
}

// TestSchedules runs -seeds schedules from -from on; none of them may break a promise.
func TestSchedules(t *testing.T) {
	if *seed != 0 {
		t.Skip("-seed is given: TestSchedule runs it")
	}
	t.Parallel()
	n := *seeds
	if testing.Short() {
		n = min(n, 100)
	}
	var next, done, messages, calls, failed atomic.Uint64
	began := time.Now()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= n || failed.Load() >= 5 {
					return
				}
				s := *from + i
				r := run(t, s, "", simulate.Options{})
				messages.Add(uint64(r.Messages))
				calls.Add(uint64(r.Calls))
				if r.Wrong() {
					failed.Add(1)
					t.Errorf("seed %d (again: go test ./runtime/go/internal/simulate -run 'TestSchedule$' -seed %[1]d -times 20):\n%s", s, r)
				}
				if d := done.Add(1); d%10000 == 0 {
					fmt.Fprintf(os.Stderr, "%d of %d schedules, %.0f a second, %d failed\n", d, n, float64(d)/time.Since(began).Seconds(), failed.Load())
				}
			}
		})
	}
	workers.Wait()
	took := time.Since(began)
	t.Logf("%d schedules, %d messages, %d calls in %v: %.0f schedules a second", done.Load(), messages.Load(), calls.Load(), took.Round(time.Second), float64(done.Load())/took.Seconds())
}

// TestSchedule runs -seed, again and again until it fails.
func TestSchedule(t *testing.T) {
	if *seed == 0 {
		t.Skip("no -seed")
	}
	for range *times {
		if r := run(t, *seed, plant.Bug(*bug), simulate.Options{Trace: true}); r.Wrong() || testing.Verbose() {
			t.Fatalf("seed %d:\n%s\n%s", *seed, r, strings.Join(r.Trace, "\n"))
		}
	}
}

// A simulation proves nothing of what it never reaches.
func TestSchedulesReachEverything(t *testing.T) {
	if *seed != 0 {
		t.Skip("-seed is given")
	}
	t.Parallel()
	reached := make(map[string]int)
	for s := range uint64(300) {
		for what, n := range run(t, s+1, "", simulate.Options{}).Reached {
			reached[what] += n
		}
	}
	for _, what := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%6d %s", reached[what], what)
	}
	for _, what := range []string{
		"OK ACK", "DUPLICATE ACK", "STALE ACK", "IN_PROGRESS DEFER", "FENCED DEFER", "RETRYABLE RETRY", "THROTTLED RETRY",
		"OUT_OF_ORDER HOLD", "NON_RETRYABLE DEAD_LETTER", "CRASH_LOOP DEAD_LETTER", "OUT_OF_ORDER DEAD_LETTER",
		"RETRYABLE DEAD_LETTER", "killed", "parked", "recovered", "redriven", "guarded",
	} {
		if reached[what] == 0 {
			t.Errorf("%s: never", what)
		}
	}
}

// Each planted bug is found within so many schedules, by what it breaks, or the simulation proves nothing.
func TestPlantedBugsAreFound(t *testing.T) {
	if *seed != 0 {
		t.Skip("-seed is given")
	}
	const within = 400
	breaks := map[plant.Bug]history.Kind{
		plant.NoFence: history.Twice, plant.EarlyCommit: history.Lost, plant.DedupBeforeEffect: history.Lost,
		plant.HighestOffset: history.Lost, plant.RepublishUnconfirmed: history.Lost, plant.LeaseIgnored: history.Overlap,
		plant.HintBeforeCommit: history.Lost, plant.ParkOrderLost: history.Order,
	}
	for _, bug := range plant.Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			for s := range uint64(within) {
				r := run(t, s+1, bug, simulate.Options{})
				if slices.ContainsFunc(r.Violations, func(v history.Violation) bool { return v.Kind == breaks[bug] }) {
					t.Logf("found by seed %d:\n%s", s+1, r)
					return
				}
			}
			t.Errorf("not found by %d schedules", within)
		})
	}
}
