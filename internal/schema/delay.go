package schema

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// PolicyInForce is the policy of a message, or the default where it has none. (RETRY-001)
func (m *Message) PolicyInForce() *idem.Policy {
	policy := idem.DefaultPolicy()
	if r := m.Retry; r != nil {
		policy = idem.Policy{
			MaxRetry: r.MaxRetry, MaxHold: r.MaxHold, BackoffBase: r.BackoffBaseSeconds,
			BackoffJitter: r.BackoffJitterMs, BackoffMax: r.BackoffMaxSeconds, BackoffSchedule: r.BackoffScheduleMs,
		}
	}
	return &policy
}

// Holds says whether a message can be held: by its transition, or because its author thought of it.
func (m *Message) Holds() bool {
	return m.Transition != nil || m.Options.GetRetry().GetMaxHold() > 0
}

// LongestDelays is all delays of one life of a message together, each with the most jitter: every retry fails,
// and every hold comes too early.
func (m *Message) LongestDelays() (time.Duration, error) {
	policy := m.PolicyInForce()
	if err := policy.Check(); err != nil {
		return 0, err
	}
	counts := []int32{policy.MaxRetry}
	if m.Holds() {
		counts = append(counts, policy.MaxHold)
	}
	var ms int64
	for _, count := range counts {
		for n := range count {
			// The base part does not depend on the key.
			delay, err := idem.Backoff(m.EventType, n, policy, 0)
			if err != nil {
				return 0, err
			}
			ms += delay.BaseMs + int64(policy.BackoffJitter)
		}
	}
	return time.Duration(ms) * time.Millisecond, nil
}
