package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"

	"github.com/idem-spec/idem/internal/schema"
)

// Timing is what is known of how long things take and are kept, and from where.
type Timing struct {
	// Retries is the longest that the retries and holds of one message take together, and RetriesOf whose they are.
	Retries   time.Duration
	RetriesOf string
	// Retention is how long dedup records are kept.
	Retention     time.Duration
	RetentionFrom string
	// P99 is how long the handler takes at the 99th percentile; 0 where nobody knows.
	P99     time.Duration
	P99From string
	// Lease is that of the consumer.
	Lease     time.Duration
	LeaseFrom string
}

// NewTiming is what flags say, 0 where they do not, and the defaults. What a store has, it knows better by Learn.
func NewTiming(p99, lease, retention time.Duration) *Timing {
	policy := schema.Message{EventType: "any"}
	longest, _ := policy.LongestDelays() // the default policy is in its bounds
	t := &Timing{
		Retries: longest, RetriesOf: fmt.Sprintf("the %d retries of the default policy (say --schema for those of the messages)", idem.DefaultMaxRetry),
		Retention: store.DefaultRetention, RetentionFrom: "the default",
		Lease: guard.DefaultLease, LeaseFrom: "the default",
	}
	if p99 > 0 {
		t.P99, t.P99From = p99, "--p99"
	}
	if lease > 0 {
		t.Lease, t.LeaseFrom = lease, "--lease"
	}
	if retention > 0 {
		t.Retention, t.RetentionFrom = retention, "--retention"
	}
	return t
}

// Schema takes the longest retries of a schema's messages.
func (t *Timing) Schema(set *schema.Set) {
	t.Retries = -1
	for _, f := range set.Files {
		for _, m := range f.Messages {
			if d, err := m.LongestDelays(); err == nil && d > t.Retries {
				t.Retries, t.RetriesOf = d, "the retries and holds of "+m.EventType
			}
		}
	}
}

// timingChecks compare them.
var timingChecks = []*check[*Timing]{
	{Check{
		ID: "TIMING_RETENTION", Severity: Error,
		Purpose: "Checks that dedup records are kept for at least five times the handler's 99th percentile, and longer than the longest retries.",
		Why:     "A record that is gone while its message is still being handled or tried again does not stop the second effect.",
		Spec:    []string{"DEDUP-029"},
	}, timingRetention},
	{Check{
		ID: "TIMING_LEASE", Severity: Warning,
		Purpose: "Checks that a lease is longer than the handler's 99th percentile.",
		Why:     "A handler that runs past its lease lives on heartbeats alone: one pause of its process, and another one begins the same message. Its effects outside of the database are then done twice.",
		Spec:    []string{"DEDUP-028"},
	}, timingLease},
}

// errNoP99 says that nobody knows how long the handler takes.
var errNoP99 = &unseen{"nobody knows how long the handler takes: no store has 100 records of first attempts that succeeded", "say --p99, from the metric idem_handler_seconds: histogram_quantile(0.99, sum by (le) (rate(idem_handler_seconds_bucket[1d])))"}

func timingRetention(_ context.Context, t *Timing, r *report) error {
	mend := "set Retention of the store and of the consumer to a few days more than the topic keeps messages; 14 days is the default"
	if t.Retention <= t.Retries {
		r.find(mend, "records are kept for %s (%s), and %s take up to %s", span(t.Retention), t.RetentionFrom, t.RetriesOf, span(t.Retries))
	}
	switch {
	case t.P99 == 0:
		return errNoP99
	case t.Retention < 5*t.P99:
		r.find(mend, "records are kept for %s (%s), and the handler's P99 is %s (%s)", span(t.Retention), t.RetentionFrom, span(t.P99), t.P99From)
	default:
		r.ok("records are kept for %s (%s), and the handler's P99 is %s (%s)", span(t.Retention), t.RetentionFrom, span(t.P99), t.P99From)
	}
	return nil
}

func timingLease(_ context.Context, t *Timing, r *report) error {
	switch {
	case t.P99 == 0:
		return errNoP99
	case t.Lease <= t.P99:
		r.find(fmt.Sprintf("set the consumer's Lease to %s or more, or make the handler faster", span(2*t.P99)), "the lease is %s (%s), and the handler's P99 %s (%s)", span(t.Lease), t.LeaseFrom, span(t.P99), t.P99From)
	default:
		r.ok("the lease is %s (%s), and the handler's P99 %s (%s)", span(t.Lease), t.LeaseFrom, span(t.P99), t.P99From)
	}
	return nil
}

// LookAtTiming compares what is known.
func LookAtTiming(ctx context.Context, t *Timing) []Result {
	return examine(ctx, "timing", t, timingChecks)
}
