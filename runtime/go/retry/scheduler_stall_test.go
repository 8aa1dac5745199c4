package retry_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// fakeRetries has rows that are always due, and hangs where it is told to.
type fakeRetries struct {
	store.Retries
	mu        sync.Mutex
	rows      []store.Retry
	hang      map[string]int // how often a method hangs
	postponed []time.Duration
	marked    int
	swept     int
	limits    []int // of the claims
}

func (f *fakeRetries) stall(ctx context.Context, method string) error {
	if f.hang[method] == 0 {
		return nil
	}
	f.hang[method]--
	<-ctx.Done()
	return ctx.Err()
}

func (f *fakeRetries) ClaimDue(ctx context.Context, token string, limit int, _ time.Duration) ([]store.Retry, error) {
	if err := f.stall(ctx, "claim"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limits = append(f.limits, limit)
	rows := f.rows[:min(limit, len(f.rows))]
	f.rows = f.rows[len(rows):]
	return rows, nil
}

func (f *fakeRetries) MarkPublished(ctx context.Context, marks []store.Mark) ([]bool, error) {
	f.marked += len(marks)
	return make([]bool, len(marks)), f.stall(ctx, "mark")
}

func (f *fakeRetries) Postpone(ctx context.Context, marks []store.Mark, due time.Duration) error {
	for range marks {
		f.postponed = append(f.postponed, due)
	}
	return f.stall(ctx, "postpone")
}

func (f *fakeRetries) NextDue(ctx context.Context) (time.Duration, bool, error) {
	return 0, false, f.stall(ctx, "next")
}

func (f *fakeRetries) add(r store.Retry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = append(f.rows, r)
}

func (f *fakeRetries) SweepLanes(ctx context.Context, _ int) (int, error) {
	f.swept++
	return 0, f.stall(ctx, "sweep")
}

func (f *fakeRetries) CountRetries(ctx context.Context) (store.RetryCounts, error) {
	return store.RetryCounts{}, f.stall(ctx, "count")
}

type failing struct{}

func (failing) Publish(_ context.Context, messages []broker.Message) []error {
	errs := make([]error, len(messages))
	for i := range errs {
		errs[i] = errDown
	}
	return errs
}

// stalling hangs until its time is over, a number of times.
type stalling struct {
	broker.Publisher
	times int
}

func (p *stalling) Publish(ctx context.Context, messages []broker.Message) []error {
	if p.times == 0 {
		return p.Publisher.Publish(ctx, messages)
	}
	p.times--
	<-ctx.Done()
	return failing{}.Publish(ctx, messages)
}

func TestFault15_aStalledQueryOrPublicationDoesNotHangTheLoop(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"claim", "mark", "postpone", "next", "sweep", "count", "publish"} {
		t.Log(method)
		synctest.Test(t, func(t *testing.T) {
			b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
			defer b.Close()
			p := &stalling{Publisher: b}
			r := &fakeRetries{hang: map[string]int{method: 2}}
			if method == "publish" || method == "postpone" {
				p.times = 1 // key-1, which is postponed then
			}
			s, err := retry.NewScheduler(r, p, retry.Config{Log: quiet, Observer: new(gauge)})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- s.Run(ctx) }()
			r.add(row(1, 0))
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			r.add(row(2, 0))
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if n := published(b, target)["key-2"]; n == 0 {
				t.Errorf("%s stalls: nothing is published afterwards", method)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
