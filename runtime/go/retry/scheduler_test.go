package retry_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func scheduler(t testing.TB, w *world, c retry.Config) *retry.Scheduler {
	t.Helper()
	c.Now, c.Log = w.Now, quiet
	s, err := retry.NewScheduler(w.store, w.broker, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func step(t testing.TB, s *retry.Scheduler, want int) {
	t.Helper()
	n, err := s.Step(context.Background())
	if err != nil || n != want {
		t.Fatalf("step: %d published, %v; want %d", n, err, want)
	}
}

func TestRowsArePublishedAsTheyAreWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	s := scheduler(t, w, retry.Config{})
	early, late := row(1, time.Second), row(2, time.Minute)
	late.Payload, late.MessageKey = nil, nil
	put(t, w.store, early, late)
	step(t, s, 0)
	w.Add(time.Second)
	step(t, s, 1)
	step(t, s, 0)
	w.Add(time.Minute)
	step(t, s, 1)
	for _, m := range w.broker.Messages(target) {
		want := &early
		if m.Value == nil {
			want = &late
		}
		if string(m.Value) != string(want.Payload) || string(m.Key) != string(want.MessageKey) || (m.Key == nil) != (want.MessageKey == nil) ||
			!reflect.DeepEqual(m.Headers, want.Headers) {
			t.Errorf("published %+v, want %+v", m, want)
		}
	}
	if c, err := w.store.CountRetries(t.Context()); err != nil || c.Pending != 0 {
		t.Errorf("%+v %v left", c, err)
	}
}

func TestFault15_replicasPublishARowOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	const rows, replicas = 500, 8
	for n := range rows {
		put(t, w.store, row(n, 0))
	}
	var all sync.WaitGroup
	for range replicas {
		s := scheduler(t, w, retry.Config{Batch: 13})
		all.Go(func() {
			for {
				n, err := s.Step(context.Background())
				if err != nil {
					t.Error(err)
				}
				if n == 0 {
					return
				}
			}
		})
	}
	all.Wait()
	got := published(w.broker, target)
	for key, n := range got {
		if n != 1 {
			t.Errorf("%s published %d times", key, n)
		}
	}
	if len(got) != rows {
		t.Errorf("%d of %d published", len(got), rows)
	}
}

func TestFault15_aBadRowBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	bad := map[string]bool{"key-0": true, "key-7": true, "key-14": true} // of one biz key
	w.fault = func(m *broker.Message) (f broker.PublishFault) {
		if bad[string(m.Headers[0].Value)] {
			f.Err = errors.New("message too large")
		}
		return f
	}
	s := scheduler(t, w, retry.Config{Batch: 50})
	for n := range 21 {
		put(t, w.store, row(n, 0))
	}
	step(t, s, 18)
	for round := range 100 { // later rows find their way too, also of the same biz key
		put(t, w.store, row(21+round*7, 0))
		step(t, s, 1)
		w.Add(time.Second)
	}
	if c, _ := w.store.CountRetries(t.Context()); c.Pending != 3 {
		t.Errorf("%d rows left, want the bad ones", c.Pending)
	}
	bad = nil
	w.Add(time.Minute)
	step(t, s, 3)
}

func TestFault15_anOutageIsTriedAgainAtGrowingDelays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	down := true
	var tries []time.Time
	w.fault = func(*broker.Message) (f broker.PublishFault) {
		if down {
			tries = append(tries, w.Now())
			f.Err = errDown
		}
		return f
	}
	s := scheduler(t, w, retry.Config{MaxDelay: 10 * time.Second})
	put(t, w.store, row(1, 0))
	begin := w.Now()
	for range 400 {
		step(t, s, 0)
		w.Add(100 * time.Millisecond)
	}
	var got []time.Duration
	for _, at := range tries {
		got = append(got, at.Sub(begin))
	}
	want := []time.Duration{0, 1, 3, 7, 15, 25, 35}
	for i := range want {
		want[i] *= time.Second
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("tried at %v, want %v", got, want)
	}
	down = false
	w.Add(10 * time.Second)
	step(t, s, 1)
}

// After a round of which nothing was confirmed fewer are tried, until one is.
func TestAnOutageIsTriedWithFewRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.down(true)
	r := &fakeRetries{}
	for n := range 900 {
		r.add(row(n, 0))
	}
	s, err := retry.NewScheduler(r, w.broker, retry.Config{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	step(t, s, 0)
	step(t, s, 0)
	w.down(false)
	step(t, s, 16)
	step(t, s, 200)
	if want := []int{200, 16, 16, 200}; !reflect.DeepEqual(r.limits, want) {
		t.Errorf("claimed %v, want %v", r.limits, want)
	}
}

func TestFault07_theDelayOfARowThatWasClaimedTooOftenIsNotNegative(t *testing.T) {
	t.Parallel()
	r := &fakeRetries{rows: []store.Retry{row(1, 0)}}
	r.rows[0].Publications = 1<<31 - 1
	s, err := retry.NewScheduler(r, failing{}, retry.Config{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	step(t, s, 0)
	if len(r.postponed) != 1 || r.postponed[0] != time.Minute {
		t.Errorf("postponed by %v, want a minute", r.postponed)
	}
}

// A publisher that times out and delivers later, or fails in part, or delivers and fails: the rows that it
// did not confirm, by index, stay. (CONS-020)
func TestFault04_onlyWhatIsConfirmedIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.fault = func(m *broker.Message) (f broker.PublishFault) {
		switch string(m.Headers[0].Value) {
		case "key-1":
			f.Err = errDown // not delivered
		case "key-2":
			f.Err, f.Delivered = broker.ErrReplyLost, true
		}
		return f
	}
	s := scheduler(t, w, retry.Config{})
	for n := range 4 {
		put(t, w.store, row(n, 0))
	}
	step(t, s, 2)
	if c, _ := w.store.CountRetries(t.Context()); c.Pending != 2 {
		t.Errorf("%d rows left, want 2", c.Pending)
	}
	w.fault = nil
	w.Add(time.Minute)
	step(t, s, 2)
	got := published(w.broker, target)
	if got["key-0"] != 1 || got["key-1"] != 1 || got["key-2"] < 2 || got["key-3"] != 1 {
		t.Errorf("published %v: key-2 twice or more, the others once", got)
	}
}

func TestARowThatWasRaisedMeanwhileStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.fault = func(*broker.Message) broker.PublishFault {
		raised := row(1, time.Minute) // its delivery ran, failed, and has written the next one
		raised.RetryCount = 2
		put(t, w.store, raised)
		return broker.PublishFault{}
	}
	s := scheduler(t, w, retry.Config{})
	put(t, w.store, row(1, 0))
	step(t, s, 1)
	w.fault = nil
	if c, _ := w.store.CountRetries(t.Context()); c.Pending != 1 {
		t.Fatalf("%d rows, want the raised one", c.Pending)
	}
	step(t, s, 0)
	w.Add(time.Minute)
	step(t, s, 1)
}

func TestAClaimOfASchedulerThatDiedIsOverWithItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	put(t, w.store, row(1, 0))
	if rows, err := w.store.ClaimDue(t.Context(), "dead", 10, time.Minute); err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	s := scheduler(t, w, retry.Config{})
	step(t, s, 0)
	w.Add(time.Minute)
	step(t, s, 1)
}

func TestAliasSendsRetriesToTheNewTopic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := scheduler(t, w, retry.Config{Alias: map[string]string{"orders": "orders-2"}})
	put(t, w.store, row(1, 0))
	step(t, s, 1)
	if n := len(w.broker.Messages("orders-2.retry.payments")); n != 1 {
		t.Errorf("%d in the new topic", n)
	}
	if n := len(w.broker.Messages(target)); n != 0 {
		t.Errorf("%d in the old topic", n)
	}
}

func TestSchedulerMeasures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	g := new(gauge)
	put(t, w.store, row(1, 0), row(2, time.Hour))
	w.Add(3 * time.Second)
	s := scheduler(t, w, retry.Config{Observer: g, StoreName: "memory"})
	step(t, s, 1)
	want := map[observe.Metric]float64{
		observe.RetriesPending: 2, observe.RetriesParked: 0, observe.RetryOldestDue: 3, observe.RetriesPublished: 1,
	}
	if !reflect.DeepEqual(g.values, want) {
		t.Errorf("%v, want %v", g.values, want)
	}
	if g.labels[observe.RetriesPending].Store != "memory" || g.labels[observe.RetriesPublished].Topic != target {
		t.Errorf("labels %v", g.labels)
	}
}

// Lanes are swept at the start, and then as often as Sweep says.
func TestSchedulerSweeps(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := &fakeRetries{}
	s, err := retry.NewScheduler(r, failing{}, retry.Config{Sweep: time.Minute, Now: c.Now, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	for range 121 {
		step(t, s, 0)
		c.Add(time.Second)
	}
	if r.swept != 3 {
		t.Errorf("swept %d times in two minutes, want 3", r.swept)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, c := range []struct {
		config retry.Config
		word   string
	}{
		{retry.Config{Lease: 10 * time.Second, Timeout: 5 * time.Second}, "Lease at least 20s"},
		{retry.Config{Poll: -1}, "Poll"},
		{retry.Config{Batch: -1}, "Batch"},
		{retry.Config{Alias: map[string]string{"a": "a"}}, "circle"},
	} {
		if _, err := retry.NewScheduler(w.store, w.broker, c.config); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.word)
		}
	}
	if _, err := retry.NewScheduler(nil, w.broker, retry.Config{}); err == nil {
		t.Error("no store is accepted")
	}
	if _, err := retry.NewScheduler(w.store, nil, retry.Config{}); err == nil {
		t.Error("no publisher is accepted")
	}
}

// What is published after the lease is over is published beside the scheduler that has claimed it then.
func TestARoundIsOverBeforeItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		s, err := retry.NewScheduler(m, &stalling{times: 1000}, retry.Config{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 50 {
			put(t, m, row(n, 0))
		}
		begin := time.Now()
		step(t, s, 0)
		if took := time.Since(begin); took < 30*time.Second || took >= time.Minute {
			t.Errorf("the round took %v, want half of the lease of a minute", took)
		}
	})
}

func TestStepSaysWhatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := scheduler(t, w, retry.Config{})
	w.store.Close()
	_, err := s.Step(t.Context())
	if err == nil || strings.Count(err.Error(), "claim") != 1 || !errors.Is(err, memory.ErrClosed) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Step(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
