package deadletter_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

type gauge struct {
	metric observe.Metric
	event  string
}

type gauges struct {
	observe.None
	values map[gauge]float64
}

func (g *gauges) Measure(m observe.Metric, labels observe.Labels, v float64) {
	if labels.Scope != scope {
		panic("scope " + labels.Scope)
	}
	g.values[gauge{m, labels.EventType}] = v
}

func TestWatchMeasuresAndGoesBackToZero(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Config{})
		bury(t, s, letter(1))
		time.Sleep(10 * time.Second)
		refund := letter(3)
		refund.EventType = "refunded"
		bury(t, s, letter(2), refund)
		g := &gauges{values: map[gauge]float64{}}
		w, err := deadletter.NewWatch(s, deadletter.WatchConfig{Observer: g, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		synctest.Wait()
		want := map[gauge]float64{
			{observe.DeadLetters, "paid"}: 2, {observe.DeadLetterOldest, "paid"}: 10,
			{observe.DeadLetters, "refunded"}: 1, {observe.DeadLetterOldest, "refunded"}: 0,
		}
		if !maps.Equal(g.values, want) {
			t.Errorf("%v, want %v", g.values, want)
		}
		run(t, redriver(t, s, deadletter.Config{}), store.DeadLetterFilter{EventType: "paid"}, deadletter.Report{Matched: 2, Redriven: 2, Last: 2})
		time.Sleep(15 * time.Second)
		synctest.Wait()
		want = map[gauge]float64{
			{observe.DeadLetters, "paid"}: 0, {observe.DeadLetterOldest, "paid"}: 0,
			{observe.DeadLetters, "refunded"}: 1, {observe.DeadLetterOldest, "refunded"}: 15,
		}
		if !maps.Equal(g.values, want) {
			t.Errorf("%v, want %v", g.values, want)
		}
		s.Close() // it goes on where the store fails
		time.Sleep(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Event types come from messages, and each is a series for good.
func TestWatchBoundsItsSeries(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	const n = 300
	for i := range n {
		d := letter(i + 1)
		if d.EventType = fmt.Sprint("type-", i); i%3 == 0 {
			d.EventType = fmt.Sprint("no name\n", i)
		}
		bury(t, s, d)
	}
	g := &gauges{values: map[gauge]float64{}}
	w, err := deadletter.NewWatch(s, deadletter.WatchConfig{Observer: g, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sum := 0.0
	for of, v := range g.values {
		if of.metric == observe.DeadLetters {
			sum += v
		}
	}
	if other := g.values[gauge{observe.DeadLetters, "other"}]; sum != n || other != n/3 || len(g.values) != 2*(2*n/3+1) {
		t.Errorf("%d series, %v dead letters, %v of them other", len(g.values), sum, other)
	}
	bury(t, s, letter(n+1)) // a type more than there may be
	if err := w.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if other := g.values[gauge{observe.DeadLetters, "other"}]; other != n/3+1 {
		t.Errorf("%v are other", other)
	}
}
