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

	"github.com/idem-spec/idem/internal/history"
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

// TestSchedules runs -seeds schedules from -from on. None of them may break a promise, and together they have to
// reach everything: a simulation proves nothing of what it never reaches.
func TestSchedules(t *testing.T) {
	if *seed != 0 {
		t.Skip("-seed is given: TestSchedule runs it")
	}
	n := *seeds
	if testing.Short() {
		n = min(n, 100)
	}
	total := tally{began: time.Now(), reached: make(map[string]int)}
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				r := run(t, *from+i, "", simulate.Options{})
				if r.Wrong() {
					t.Errorf("seed %d (again: GOMAXPROCS=1 go test ./runtime/go/internal/simulate -run 'TestSchedule$' -seed %[1]d -times 100):\n%s", *from+i, r)
				}
				if !total.add(r, n) {
					return
				}
			}
		})
	}
	workers.Wait()
	t.Log(total.String())
	if t.Failed() || n < 1000 {
		return
	}
	for _, what := range []string{
		"OK ACK", "DUPLICATE ACK", "STALE ACK", "IN_PROGRESS DEFER", "FENCED DEFER", "RETRYABLE RETRY", "THROTTLED RETRY",
		"OUT_OF_ORDER HOLD", "NON_RETRYABLE DEAD_LETTER", "CRASH_LOOP DEAD_LETTER", "OUT_OF_ORDER DEAD_LETTER",
		"RETRYABLE DEAD_LETTER", "MALFORMED DEAD_LETTER", "killed", "parked", "recovered", "redriven", "guarded",
	} {
		if total.reached[what] == 0 {
			t.Errorf("%s: in none of %d schedules", what, n)
		}
	}
}

// tally adds up what schedules came to.
type tally struct {
	began time.Time

	mu                            sync.Mutex
	done, failed, messages, calls int
	reached                       map[string]int
}

// enough is how many failures end a run.
const enough = 5

// add says whether to go on.
func (t *tally) add(r *simulate.Result, of uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	t.messages += r.Messages
	t.calls += r.Calls
	if r.Wrong() {
		t.failed++
	}
	for what, n := range r.Reached {
		t.reached[what] += n
	}
	if t.done%5000 == 0 {
		fmt.Fprintf(os.Stderr, "from %d: %d of %d schedules, %.0f a second, %d failed\n", *from, t.done, of, float64(t.done)/time.Since(t.began).Seconds(), t.failed)
	}
	return t.failed < enough
}

func (t *tally) String() string {
	took := time.Since(t.began)
	lines := []string{fmt.Sprintf("%d schedules, %d messages, %d calls of handlers in %v, %.0f schedules a second; in them:",
		t.done, t.messages, t.calls, took.Round(time.Second), float64(t.done)/took.Seconds())}
	for _, what := range slices.Sorted(maps.Keys(t.reached)) {
		lines = append(lines, fmt.Sprintf("%9d %s", t.reached[what], what))
	}
	return strings.Join(lines, "\n")
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
