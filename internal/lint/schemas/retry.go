package schemas

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// The field numbers of RetryOptions.
const (
	maxRetryNumber = 1 + iota
	maxHoldNumber
	baseNumber
	jitterNumber
	capNumber
	scheduleNumber
)

// How long a lease is, and which errors a handler meets, a schema does not say.
var retries = []*rule{
	{lint.Rule{
		ID: "IDEM_RETRY_CAP_BELOW_BASE", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Error,
		Purpose: "Checks that the base of a backoff is not above its cap.",
		Spec:    []string{"RETRY-010"},
	}, retryCapBelowBase},
	{lint.Rule{
		ID: "IDEM_RETRY_CAP_UNSTATED", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that a backoff which grows to its cap states the cap.",
		Spec:    []string{"RETRY-010"},
	}, retryCapUnstated},
	{lint.Rule{
		ID: "IDEM_RETRY_SCHEDULE_DESCENDS", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that no delay of a schedule is shorter than the one before.",
		Spec:    []string{"RETRY-010"},
	}, retryScheduleDescends},
	{lint.Rule{
		ID: "IDEM_RETRY_SCHEDULE_UNREACHED", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that a schedule has no more delays than there are retries.",
		Spec:    []string{"RETRY-010", "RETRY-021"},
	}, retryScheduleUnreached},
	{lint.Rule{
		ID: "IDEM_RETRY_UNUSED", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that a message without retries states no delays.",
		Spec:    []string{"RETRY-020"},
	}, retryUnused},
	{lint.Rule{
		ID: "IDEM_RETRY_JITTER_ZERO", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that the retries of several consumers are spread by a jitter.",
		Spec:    []string{"RETRY-012"},
		Needs:   []string{"consumers"},
	}, retryJitterZero},
	{lint.Rule{
		ID: "IDEM_RETRY_OUTLIVES_DEDUP", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that all delays of a message together are shorter than its dedup record is kept.",
		Spec:    []string{"DEDUP-029"},
		Needs:   []string{"dedup_retention"},
	}, retryOutlivesDedup},
	{lint.Rule{
		ID: "IDEM_RETRY_OUTLIVES_TOPIC", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that all delays of a message together are shorter than its topic keeps it.",
		Spec:    []string{"DEDUP-029"},
		Needs:   []string{"topic_retention"},
	}, retryOutlivesTopic},
	{lint.Rule{
		ID: "IDEM_DEDUP_RETENTION_SHORT", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Error,
		Purpose: "Checks that dedup records are kept for longer than the topic keeps its messages.",
		Spec:    []string{"DEDUP-029"},
		Needs:   []string{"dedup_retention", "topic_retention"},
	}, dedupRetentionShort},
	{lint.Rule{
		ID: "IDEM_HOLD_NONE", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that a message which can come too early for its transition can be held.",
		Spec:    []string{"STATE-005", "RETRY-020"},
	}, holdNone},
}

func retryCapBelowBase(p *pass) {
	for m := range p.messages {
		r := m.Retry
		if r == nil || len(r.BackoffScheduleMs) > 0 || r.BackoffBaseSeconds <= r.BackoffMaxSeconds {
			continue
		}
		stated := ""
		if m.Options.GetRetry().BackoffMaxSeconds == nil {
			stated = ", the default"
		}
		p.reportf(m.Option(schema.RetryNumber, baseNumber), fmt.Sprintf("write backoff_max_seconds: %d or more", r.BackoffBaseSeconds),
			"every delay of %s is its cap of %d s%s, and never its base of %d s", m.Desc.FullName(), r.BackoffMaxSeconds, stated, r.BackoffBaseSeconds)
	}
}

func retryCapUnstated(p *pass) {
	for m := range p.messages {
		r := m.Retry
		if r == nil || len(r.BackoffScheduleMs) > 0 || m.Options.GetRetry().BackoffMaxSeconds != nil || r.BackoffBaseSeconds > r.BackoffMaxSeconds {
			continue
		}
		if m.Options.GetRetry().BackoffBaseSeconds == nil && m.Options.GetRetry().MaxRetry == nil {
			continue // all of it is the default
		}
		if n := r.MaxRetry - 1; n >= 0 && int64(r.BackoffBaseSeconds)<<min(n, 32) > int64(r.BackoffMaxSeconds) {
			p.reportf(m.Option(schema.RetryNumber), fmt.Sprintf("write backoff_max_seconds: %d, which is what it has now, or another cap", r.BackoffMaxSeconds),
				"the %d delays of %s grow to a cap that nobody wrote, the default of %d s", r.MaxRetry, m.Desc.FullName(), r.BackoffMaxSeconds)
		}
	}
}

func retryScheduleDescends(p *pass) {
	for m := range p.messages {
		if m.Retry == nil {
			continue
		}
		schedule := m.Retry.BackoffScheduleMs
		for i := 1; i < len(schedule); i++ {
			if schedule[i] < schedule[i-1] {
				at := m.Option(schema.RetryNumber, scheduleNumber)
				f := p.reportf(at, "sort it: what has failed twice needs more time, not less",
					"the delays of %s go down from %d ms to %d ms at entry %d", m.Desc.FullName(), schedule[i-1], schedule[i], i+1)
				p.edit(f, at, sorted(schedule))
				break
			}
		}
	}
}

// scheduleText is a schedule as the .proto has it, without comments.
var scheduleText = regexp.MustCompile(`\bbackoff_schedule_ms\s*:?\s*\[[\s\d,]*\]|^\[[\s\d,]*\]$`)

// sorted writes the delays of a schedule in their order, each where another one was.
func sorted(schedule []int32) func(old string) (string, bool) {
	return func(old string) (string, bool) {
		lists := scheduleText.FindAllStringIndex(old, -1)
		if len(lists) != 1 {
			return "", false
		}
		next := slices.Sorted(slices.Values(schedule))
		start, end := lists[0][0], lists[0][1]
		if len(digits.FindAllString(old[start:end], -1)) != len(next) {
			return "", false // of another schedule
		}
		list := digits.ReplaceAllStringFunc(old[start:end], func(string) string {
			ms := next[0]
			next = next[1:]
			return strconv.Itoa(int(ms))
		})
		return old[:start] + list + old[end:], true
	}
}

// digits is a number of a schedule.
var digits = regexp.MustCompile(`\b\d+\b`)

func retryScheduleUnreached(p *pass) {
	for m := range p.messages {
		r := m.Retry
		if r == nil || r.MaxRetry == 0 {
			continue
		}
		reached := int(r.MaxRetry)
		if m.Holds() {
			reached = max(reached, int(r.MaxHold))
		}
		if n := len(r.BackoffScheduleMs); n > reached {
			p.reportf(m.Option(schema.RetryNumber, scheduleNumber), fmt.Sprintf("write max_retry: %d, or leave the delays behind number %d out", n, reached),
				"%s has %d delays in its schedule, and is given up after %d", m.Desc.FullName(), n, reached)
		}
	}
}

func retryUnused(p *pass) {
	for m := range p.messages {
		o := m.Options.GetRetry()
		if m.Retry == nil || m.Retry.MaxRetry > 0 || m.Holds() && m.Retry.MaxHold > 0 {
			continue
		}
		if o.GetBackoffBaseSeconds() > 1 || o.GetBackoffJitterMs() > 0 || o.GetBackoffMaxSeconds() > 1 || len(o.GetBackoffScheduleMs()) > 0 {
			p.reportf(m.Option(schema.RetryNumber), "write a max_retry of 1 or more, or leave the delays out",
				"%s has delays and max_retry: 0, so that the first failure is its last", m.Desc.FullName())
		}
	}
}

func retryJitterZero(p *pass) {
	for m := range p.messages {
		r, consumers := m.Retry, p.facts.Of(m.EventType).Consumers
		if r == nil || consumers == nil || *consumers < 2 || r.BackoffJitterMs > 0 || r.MaxRetry == 0 {
			continue
		}
		p.reportf(m.Option(schema.RetryNumber, jitterNumber), "write a backoff_jitter_ms of the size of the first delay",
			"the retries of %s have no jitter: what fails in one moment comes back to its %d consumers in one moment, again and again", m.Desc.FullName(), *consumers)
	}
}

func retryOutlivesDedup(p *pass) {
	for m := range p.messages {
		p.outlives(m, p.facts.Of(m.EventType).DedupRetention, "its dedup record is kept for",
			"keep records for longer, or have fewer retries or shorter delays: what comes back without a record is taken for new")
	}
}

func retryOutlivesTopic(p *pass) {
	for m := range p.messages {
		p.outlives(m, p.facts.Of(m.EventType).TopicRetention, "its topic keeps it for",
			"let the topic keep it for longer, or have fewer retries or shorter delays: what is tried again in place is lost behind the topic's end")
	}
}

// outlives reports a message whose delays are together as long as something is kept, or longer.
func (p *pass) outlives(m *schema.Message, kept *time.Duration, what, mend string) {
	if kept == nil {
		return
	}
	policy := m.PolicyInForce()
	delays, err := m.LongestDelays()
	if err != nil || delays < *kept {
		return // out of bounds is another rule's
	}
	counted := fmt.Sprintf("%d retries", policy.MaxRetry)
	if m.Holds() {
		counted += fmt.Sprintf(" and %d holds", policy.MaxHold)
	}
	p.reportf(m.Option(schema.RetryNumber), mend,
		"the delays of %s are up to %s together (%s), and %s %s", m.Desc.FullName(), span(delays), counted, what, span(*kept))
}

// span prints a duration as idem.yaml has it: 14d, 36h, 1h3m51s.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

func dedupRetentionShort(p *pass) {
	const mend = "keep records for longer than the topic keeps messages, and write that into the facts"
	said := false
	for m := range p.messages {
		fact := p.facts.Of(m.EventType)
		if fact.DedupRetention == nil || fact.TopicRetention == nil || *fact.DedupRetention > *fact.TopicRetention {
			continue
		}
		dedup, topic := span(*fact.DedupRetention), span(*fact.TopicRetention)
		if own := p.facts.Events[m.EventType]; own.DedupRetention != nil || own.TopicRetention != nil {
			p.reportf(m.Key.Place, mend,
				"the facts say that dedup records of %s are kept for %s and its topic keeps messages for %s: one that is read again behind its record is handled twice",
				m.EventType, dedup, topic)
			continue
		}
		if said {
			continue // the default is one thing to mend, however many messages it is about
		}
		said = true
		p.reportf(m.Key.Place, mend,
			"the default facts, which hold for %s and all events without their own, say that dedup records are kept for %s and topics keep messages for %s: one that is read again behind its record is handled twice",
			m.EventType, dedup, topic)
	}
}

func holdNone(p *pass) {
	for m := range p.messages {
		if m.Transition == nil || m.Retry == nil || m.Retry.MaxHold > 0 {
			continue
		}
		if early := m.Transition.Verdicts().Early; len(early) > 0 {
			p.reportf(m.Option(schema.RetryNumber, maxHoldNumber), fmt.Sprintf("leave max_hold out, which is %d, or write one of 1 or more", idem.DefaultMaxHold),
				"%s has max_hold: 0, so that one which comes before its predecessor, in state %q, is dead-lettered at once", m.Desc.FullName(), early[len(early)-1])
		}
	}
}
