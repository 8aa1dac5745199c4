package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// No more is fetched ahead of quick handlers than keeps everybody at work, and what is slow or rests keeps nobody from
// fetching.
func TestEnoughIsFetchedAhead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waiting int
		handler time.Duration
		idle    bool // nothing of the partition is on its way
		with    func(r *route)
		want    bool
	}{
		"little waits":              {waiting: 999, handler: time.Microsecond},
		"enough waits":              {waiting: 1000, handler: time.Microsecond, want: true},
		"nothing is on its way":     {waiting: 1000, handler: time.Microsecond, idle: true},
		"the handlers take a while": {waiting: 1000, handler: time.Millisecond},
		"the route is paused":       {waiting: 1000, handler: time.Microsecond, with: func(r *route) { r.paused = true }},
		"the route rests":           {waiting: 1000, handler: time.Microsecond, with: func(r *route) { r.breaker.state = breakerOpen }},
	} {
		k, err := New(broker.NewMemory(broker.MemoryConfig{}), memory.New(memory.Config{}), Config{Group: "g", Topics: []string{"payments"}, Log: discard()},
			Idempotent(func(context.Context, *payment) error { return nil }))
		if err != nil {
			t.Fatal(err)
		}
		e, r := k.engine, k.routes[0]
		r.handler = c.handler
		if c.with != nil {
			c.with(r)
		}
		for range c.waiting {
			r.waiting.push(new(task))
		}
		p := &partition{mark: newWatermark(0), room: make(chan struct{}, 1)}
		if !c.idle {
			p.mark.add(0, new(task))
		}
		if got := e.ample(p); got != c.want {
			t.Errorf("%s: ample is %v, want %v", name, got, c.want)
		}
		e.patient = append(e.patient, p)
		e.resume()
		if told := len(p.room) == 1; told == c.want {
			t.Errorf("%s: told to go on is %v", name, told)
		}
	}
}
