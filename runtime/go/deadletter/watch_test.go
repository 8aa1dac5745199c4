package deadletter_test

import (
	"context"
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
