package replay

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// heartbeat renews the lease at a third of it until ctx ends, and cancels the call where it is lost, or where nobody
// can say and it is over by all accounts. The channel is closed once nothing more is renewed. (DEDUP-028)
func (e *Engine) heartbeat(ctx context.Context, cancel context.CancelFunc, lease *store.Lease) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		third := max(e.Lease/3, time.Millisecond)
		ticker := time.NewTicker(third)
		defer ticker.Stop()
		until := time.Now().Add(e.Lease)
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			sent := time.Now()
			asking, done := context.WithTimeout(ctx, third)
			held, err := e.Store.Renew(asking, []store.Renewal{{Lease: *lease, For: e.Lease}})
			done()
			if err == nil && held[0] {
				until = sent.Add(e.Lease)
			}
			if (err == nil && !held[0] || err != nil && !time.Now().Before(until)) && ctx.Err() == nil {
				e.Observer.Measure(observe.LeaseLost, observe.Labels{Scope: e.Service}, 1)
				e.Log.LogAttrs(ctx, slog.LevelWarn, "call cancelled: "+errLeaseLost.Error(), slog.String("idempotency_key", lease.Key))
				cancel()
				return
			}
		}
	}()
	return done
}

// complete records the result. A reply that was lost is read back by its fence.
func (e *Engine) complete(ctx context.Context, lease *store.Lease, result []byte) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	var err error
	for i, wait := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond} {
		if i > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
		var done []bool
		if done, err = e.Store.Complete(ctx, []store.Completion{{Lease: *lease, Result: result}}); err != nil {
			continue
		}
		if done[0] || i > 0 && e.completed(ctx, lease) {
			return nil
		}
		return store.ErrFenced
	}
	return fmt.Errorf("record the result: %w", err)
}

// completed says that a try before, whose reply was lost, has recorded it.
func (e *Engine) completed(ctx context.Context, lease *store.Lease) bool {
	records, err := e.Store.Records(ctx, lease.Scope, []string{lease.Key})
	return err == nil && records[0] != nil && records[0].State == idem.StateSuccess && records[0].Fence == lease.Fence
}

// release makes the key free for the next call. Where that fails, the lease's end does.
func (e *Engine) release(ctx context.Context, lease *store.Lease) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if _, err := e.Store.Settle(ctx, []store.Settlement{{Lease: *lease, State: idem.StateFailed, GiveBack: true}}); err != nil {
		e.Log.LogAttrs(ctx, slog.LevelWarn, "claim not released: the key is free when its lease ends",
			slog.String("idempotency_key", lease.Key), slog.String("error", err.Error()))
	}
}

// eventType makes a name of a method and a route, for metrics and logs: "POST.orders.id".
func eventType(c *Call) string {
	name := make([]byte, 0, len(c.Method)+1+len(c.Route))
	for _, part := range []string{c.Method, ".", c.Route} {
		for i := 0; i < len(part) && len(name) < 200; i++ {
			b := part[i]
			switch {
			case b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '-':
				name = append(name, b)
			case len(name) > 0 && name[len(name)-1] != '.' && b != '{' && b != '}':
				name = append(name, '.')
			}
		}
	}
	return string(name)
}
