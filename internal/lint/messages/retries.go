package messages

import (
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var retryRules = []*rule{
	{lint.Rule{
		ID: "IDEM_HEADER_RETRY_COUNT_OVER_MAX", Kind: lint.Message, Category: lint.Retry, Severity: lint.Error,
		Purpose: "Checks that a message was not retried more often than its policy allows.",
		Spec:    []string{"RETRY-001", "RETRY-021"},
	}, headerRetryCountOverMax, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_HOLD_COUNT_OVER_MAX", Kind: lint.Message, Category: lint.Retry, Severity: lint.Error,
		Purpose: "Checks that a message was not held more often than its policy allows.",
		Spec:    []string{"RETRY-001", "RETRY-022"},
	}, headerHoldCountOverMax, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_RETRY_INTERVAL_DIFFERS", Kind: lint.Message, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that the delay of a retry or a hold follows from the key, the count and the policy.",
		Spec:    []string{"RETRY-010", "RETRY-012", "RETRY-013", "RETRY-021", "RETRY-022"},
	}, headerRetryIntervalDiffers, headers},
}

// policyOf is the policy of a schema, or the default.
func policyOf(m *schema.Message) idem.Policy {
	if m.Retry == nil {
		return idem.DefaultPolicy()
	}
	return idem.Policy{
		MaxRetry: m.Retry.MaxRetry, MaxHold: m.Retry.MaxHold, BackoffBase: m.Retry.BackoffBaseSeconds,
		BackoffJitter: m.Retry.BackoffJitterMs, BackoffMax: m.Retry.BackoffMaxSeconds, BackoffSchedule: m.Retry.BackoffScheduleMs,
	}
}

// policy is the policy in force; false where a header of it is wrong.
func (p *pass) policy() (idem.Policy, bool) {
	for _, id := range [...]idem.HeaderID{
		idem.RetryCount, idem.HoldCount, idem.MaxRetry, idem.MaxHold, idem.BackoffBase, idem.BackoffJitter, idem.BackoffMax, idem.BackoffSchedule,
	} {
		if p.faulty(id) {
			return idem.Policy{}, false
		}
	}
	of := idem.DefaultPolicy()
	if p.event != nil {
		of = p.event.policy
	}
	policy, err := idem.ResolvePolicy(p.envelope.Policy(), of, idem.PartialPolicy{})
	return policy, err == nil
}

func headerRetryCountOverMax(p *pass) {
	if p.envelope.RetryCount == 0 {
		return
	}
	if policy, ok := p.policy(); ok && p.envelope.RetryCount > policy.MaxRetry {
		p.overMax("retry_count", p.envelope.RetryCount, "max_retry", policy.MaxRetry)
	}
}

func headerHoldCountOverMax(p *pass) {
	if p.envelope.HoldCount == 0 {
		return
	}
	if policy, ok := p.policy(); ok && p.envelope.HoldCount > policy.MaxHold {
		p.overMax("hold_count", p.envelope.HoldCount, "max_hold", policy.MaxHold)
	}
}

func (p *pass) overMax(count string, n int32, most string, limit int32) {
	p.reportf("let the retries be decided by the spec's table, which dead-letters what has used them up",
		"%s is %d, and %s is %d", count, n, most, limit)
}

// headerRetryIntervalDiffers judges deliveries that a reason is given for, which retries and holds have. A
// deferral has none of its own, and any wait.
func headerRetryIntervalDiffers(p *pass) {
	e := &p.envelope
	counts := e.RetryCount + e.HoldCount
	if !e.Present.Has(idem.RetryInterval) || !e.Present.Has(idem.RejectReason) || e.IdempotencyKey == "" || counts == 0 || p.faulty(idem.RejectReason) {
		return
	}
	policy, ok := p.policy()
	if !ok {
		return
	}
	got := int64(e.RetryInterval)
	var wants []string
	for _, n := range [...]int32{e.RetryCount, e.HoldCount} {
		if n == 0 {
			continue
		}
		delay, err := idem.Backoff(e.IdempotencyKey, n-1, &policy, 0)
		if err != nil || delay.Ms() == got || n == e.RetryCount && got > delay.Ms() && p.throttled() {
			return
		}
		wants = append(wants, string(idem.AppendInt(nil, delay.Ms())))
	}
	p.reportf("compute the delay as the spec does: the jitter is a hash of the key and the count, and no random number",
		"retry_interval is %d, and retry_count %d, hold_count %d and the policy give %s", got, e.RetryCount, e.HoldCount, strings.Join(wants, " or "))
}

// throttled says that a Retry-After may have made the delay longer: where the reason is that outcome, or an
// error that the schema gives it.
func (p *pass) throttled() bool {
	code, _, _ := strings.Cut(p.envelope.RejectReason, ": ")
	return code == "THROTTLED" || p.throttles[code]
}
