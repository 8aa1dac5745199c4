// Package wait waits, by timers alone, so that it works in a testing/synctest bubble.
package wait

import (
	"context"
	"time"
)

// For waits for d, and says false where ctx is done first, or before.
func For(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Bell wakes one waiter. Make it with NewBell.
type Bell chan struct{}

// NewBell makes a Bell.
func NewBell() Bell { return make(Bell, 1) }

// Ring ends the wait that is on, or the next one. It does not block.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// For is For that also ends, and says true, when the bell rings.
func (b Bell) For(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-b:
		return true
	case <-ctx.Done():
		return false
	}
}

// Doubled is base doubled n times, at most limit; it does not overflow. Negative n is 0.
func Doubled(base, limit time.Duration, n int) time.Duration {
	n = max(n, 0)
	if n >= 63 || base > limit>>n {
		return limit
	}
	return base << n
}

// Detached is ctx without its end, and with a time limit: for what has to be finished once it has begun.
func Detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// Outlasting is Detached that ends some time after ctx does, where that is before the limit.
func Outlasting(ctx context.Context, limit, grace time.Duration) (context.Context, context.CancelFunc) {
	c, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() {
		For(c, grace)
		cancel()
	})
	return c, func() {
		stop()
		cancel()
	}
}
