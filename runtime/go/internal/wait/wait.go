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
