// Package again waits between the tries of a client, for idemhttp, idemgrpc and idemconnect.
package again

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// DefaultMaxWait is the longest that a client waits between two tries.
const DefaultMaxWait = 60 * time.Second

// DefaultPolicy is 4 retries after 1, 2, 4 and 8 seconds, and up to half a second of jitter: what somebody who
// waits for an answer may bear.
func DefaultPolicy() idem.Policy {
	p := idem.DefaultPolicy()
	p.MaxRetry, p.BackoffJitter, p.BackoffMax = 4, 500, 30
	return p
}

// Retrier says whether to try again, and waits.
type Retrier struct {
	Policy  idem.Policy
	MaxWait time.Duration
	// Sleep waits, or ends with ctx. Nil: on the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// New makes a Retrier; policy may be nil and maxWait 0. name is the package in the error.
func New(name string, policy *idem.Policy, maxWait time.Duration) (Retrier, error) {
	r := Retrier{Policy: DefaultPolicy(), MaxWait: maxWait}
	if policy != nil {
		r.Policy = *policy
	}
	if err := r.Policy.Check(); err != nil {
		return r, fmt.Errorf("%s: Policy: %w (start from idem.DefaultPolicy())", name, err)
	}
	if maxWait < 0 {
		return r, fmt.Errorf("%s: MaxWait is %v: give a time above 0, or 0 for %v", name, maxWait, DefaultMaxWait)
	}
	if maxWait == 0 {
		r.MaxWait = DefaultMaxWait
	}
	return r, nil
}

// Again waits before the n-th retry of a key, from n = 0, by the policy and no earlier than after. It answers
// false without waiting where the retries are used up, where the wait is longer than MaxWait, or where ctx ends
// before it; and false where ctx ends meanwhile. (RETRY-010, RETRY-011)
func (r *Retrier) Again(ctx context.Context, key string, n int32, after time.Duration) bool {
	if n >= r.Policy.MaxRetry || ctx.Err() != nil {
		return false
	}
	delay, err := idem.Backoff(key, n, &r.Policy, after.Milliseconds())
	if err != nil {
		return false
	}
	wait := time.Duration(delay.Ms()) * time.Millisecond
	if wait > r.MaxWait {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return false
	}
	if r.Sleep != nil {
		return r.Sleep(ctx, wait) == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
