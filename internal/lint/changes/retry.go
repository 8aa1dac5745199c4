package changes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var retries = []*rule{
	{lint.Rule{
		ID: "IDEM_RETRY_DELAYS_CHANGED", Kind: lint.Change, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that the delays of a message's retries stay as they are.",
		Spec:    []string{"RETRY-010", "RETRY-012"},
	}, delaysChanged},
	{lint.Rule{
		ID: "IDEM_RETRY_LIMIT_CHANGED", Kind: lint.Change, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that a message has as many retries and holds as it had.",
		Spec:    []string{"RETRY-001", "RETRY-020"},
	}, limitChanged},
	{lint.Rule{
		ID: "IDEM_RETRY_HEADERS_CHANGED", Kind: lint.Change, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that producers write the policy's headers that they wrote.",
		Spec:    []string{"HDR-020", "RETRY-002"},
	}, policyHeadersChanged},
}

// policies are what a message's retries follow before and after.
type policies struct {
	*pair
	before, after idem.Policy
}

// policies are the policies of all messages; one that is out of bounds is refused elsewhere.
func (p *pass) policies(yield func(policies) bool) {
	for _, m := range p.messages {
		both := policies{m, policy(m.before.Retry), policy(m.after.Retry)}
		if both.before.Check() == nil && both.after.Check() == nil && !yield(both) {
			return
		}
	}
}

// policy is a policy of the core, with the defaults where there is none.
func policy(p *schema.Policy) idem.Policy {
	if p == nil {
		return idem.DefaultPolicy()
	}
	return idem.Policy{
		MaxRetry: p.MaxRetry, MaxHold: p.MaxHold, BackoffBase: p.BackoffBaseSeconds, BackoffJitter: p.BackoffJitterMs,
		BackoffMax: p.BackoffMaxSeconds, BackoffSchedule: p.BackoffScheduleMs,
	}
}

// sameDelays says whether each retry and each hold that either policy allows has the same delay.
func (p policies) sameDelays() bool {
	if p.before.BackoffJitter != p.after.BackoffJitter {
		return false
	}
	for n := range max(p.before.MaxRetry, p.before.MaxHold, p.after.MaxRetry, p.after.MaxHold) {
		before, _ := idem.Backoff("-", n, &p.before, 0)
		after, _ := idem.Backoff("-", n, &p.after, 0)
		if before != after {
			return false
		}
	}
	return true
}

func (p policies) sameLimits() bool {
	return p.before.MaxRetry == p.after.MaxRetry && p.before.MaxHold == p.after.MaxHold
}

// example is the delays of one key. Before and after have the same key, so that they have the same jitter
// where the policy is the same.
func (p policies) example() change {
	key := key(p.pair.before)
	return change{delays(key, p.before), delays(key, p.after)}
}

// maxShownDelays is the most delays that an example lists.
const maxShownDelays = 12

func delays(key string, p idem.Policy) string {
	var all []string
	for n := range min(max(p.MaxRetry, 1), maxShownDelays) {
		d, err := idem.Backoff(key, n, &p, 0)
		if err != nil {
			return "refused: " + string(idem.CodeOf(err))
		}
		all = append(all, strconv.FormatInt(d.Ms(), 10))
	}
	if p.MaxRetry > maxShownDelays {
		all = append(all, "…")
	}
	list := strings.Join(all, ", ") + " ms"
	if p.MaxRetry == 0 {
		list = "none (a hold's first is " + list + ")"
	}
	return fmt.Sprintf("%s: max_retry %d, max_hold %d, delays %s, up to %d ms of them jitter", key, p.MaxRetry, p.MaxHold, list, p.BackoffJitter)
}

// values names the values of two policies that differ: "backoff_base_seconds is 2, before 1".
func (p policies) values(names ...string) string {
	var all []string
	add := func(name, before, after string) {
		if before != after && slices.Contains(names, name) {
			all = append(all, name+" is "+after+", before "+before)
		}
	}
	n := func(v int32) string { return strconv.Itoa(int(v)) }
	add("max_retry", n(p.before.MaxRetry), n(p.after.MaxRetry))
	add("max_hold", n(p.before.MaxHold), n(p.after.MaxHold))
	scheduled := func(schedule []int32, v int32) string {
		if len(schedule) > 0 {
			return "not used"
		}
		return n(v)
	}
	add("backoff_base_seconds", scheduled(p.before.BackoffSchedule, p.before.BackoffBase), scheduled(p.after.BackoffSchedule, p.after.BackoffBase))
	add("backoff_jitter_ms", n(p.before.BackoffJitter), n(p.after.BackoffJitter))
	add("backoff_max_seconds", scheduled(p.before.BackoffSchedule, p.before.BackoffMax), scheduled(p.after.BackoffSchedule, p.after.BackoffMax))
	add("backoff_schedule_ms", list(p.before.BackoffSchedule), list(p.after.BackoffSchedule))
	return strings.Join(all, "; ")
}

func list(schedule []int32) string {
	if len(schedule) == 0 {
		return "none"
	}
	return strings.ReplaceAll(fmt.Sprint(schedule), " ", ", ")
}

// place is the option, or the message where there is none.
func (p policies) place() schema.Place { return p.pair.after.Option(schema.RetryNumber) }

const retryMend = "write the values as they were; or ignore this with the reason, and where delays get longer, see that the dedup and the topic's retention still exceed their sum"

func delaysChanged(p *pass) {
	for m := range p.policies {
		if !m.sameDelays() {
			p.report(m.place(), m.example(), retryMend, "the retries of %s have other delays: %s", m.pair.after.Desc.FullName(),
				m.values("backoff_base_seconds", "backoff_jitter_ms", "backoff_max_seconds", "backoff_schedule_ms"))
		}
	}
}

func limitChanged(p *pass) {
	for m := range p.policies {
		if !m.sameLimits() {
			p.report(m.place(), m.example(), retryMend, "the retries of %s have another limit: %s",
				m.pair.after.Desc.FullName(), m.values("max_retry", "max_hold"))
		}
	}
}

// policyHeadersChanged is about what is left: the same delays and limits, written otherwise or by one
// side alone.
func policyHeadersChanged(p *pass) {
	for m := range p.policies {
		if !m.sameDelays() || !m.sameLimits() {
			continue
		}
		before, after := policyHeaders(m.pair.before.Retry), policyHeaders(m.pair.after.Retry)
		if before != after {
			p.report(m.place(), change{before, after},
				"write retry as it was; or ignore this with the reason: headers go before what consumers have as their own policy",
				"the headers of the policy of %s change, and its delays do not", m.pair.after.Desc.FullName())
		}
	}
}

// policyHeaders are the headers of a policy as they are written. (HDR-020)
func policyHeaders(s *schema.Policy) string {
	if s == nil {
		return "none"
	}
	text := fmt.Sprintf("max_retry=%d max_hold=%d backoff_jitter=%d ", s.MaxRetry, s.MaxHold, s.BackoffJitterMs)
	if len(s.BackoffScheduleMs) > 0 {
		return text + "backoff_schedule=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.BackoffScheduleMs), " ", ","), "[]")
	}
	return text + fmt.Sprintf("backoff_base=%d backoff_max=%d", s.BackoffBaseSeconds, s.BackoffMaxSeconds)
}
