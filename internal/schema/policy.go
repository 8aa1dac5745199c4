package schema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// scheduleNumber is the field number of backoff_schedule_ms; the others are in the table of policy.
const scheduleNumber = 6

// policy reads retry and fills in the defaults. (OPT-030)
func (b *builder) policy(p Place, d protoreflect.MessageDescriptor, o *idempb.RetryOptions) *Policy {
	if o == nil {
		return nil
	}
	policy := &Policy{BackoffScheduleMs: o.GetBackoffScheduleMs()}
	for _, v := range []struct {
		name       string
		number     int32
		value      *int32
		otherwise  int32
		least, max int32
		into       *int32
	}{
		{"max_retry", 1, o.MaxRetry, idem.DefaultMaxRetry, 0, 100, &policy.MaxRetry},
		{"max_hold", 2, o.MaxHold, idem.DefaultMaxHold, 0, 100, &policy.MaxHold},
		{"backoff_base_seconds", 3, o.BackoffBaseSeconds, idem.DefaultBackoffBase, 1, 86400, &policy.BackoffBaseSeconds},
		{"backoff_jitter_ms", 4, o.BackoffJitterMs, idem.DefaultBackoffJitter, 0, 3600000, &policy.BackoffJitterMs},
		{"backoff_max_seconds", 5, o.BackoffMaxSeconds, idem.DefaultBackoffMax, 1, 604800, &policy.BackoffMaxSeconds},
	} {
		*v.into = v.otherwise
		if v.value == nil {
			continue
		}
		*v.into = *v.value
		if *v.value < v.least || *v.value > v.max {
			b.problem(p.Below(v.number), "OPT-030", fmt.Sprintf("%s of %s is %d", v.name, short(d.FullName()), *v.value),
				fmt.Sprintf("use %d to %d", v.least, v.max))
		}
	}
	b.schedule(p, d, o)
	return policy
}

// schedule checks the explicit delays.
func (b *builder) schedule(p Place, d protoreflect.MessageDescriptor, o *idempb.RetryOptions) {
	schedule := o.GetBackoffScheduleMs()
	if len(schedule) == 0 {
		return
	}
	if len(schedule) > 32 {
		b.problem(p.Below(scheduleNumber), "OPT-030",
			fmt.Sprintf("backoff_schedule_ms of %s has %d entries", short(d.FullName()), len(schedule)), "use at most 32: the last one repeats")
	}
	for i, ms := range schedule[:min(len(schedule), 32)] {
		if ms < 0 || ms > 604800000 {
			b.problem(p.Below(scheduleNumber, int32(i)), "OPT-030",
				fmt.Sprintf("entry %d of backoff_schedule_ms of %s is %d", i+1, short(d.FullName()), ms), "use 0 to 604800000, seven days")
		}
	}
	if o.BackoffBaseSeconds != nil || o.BackoffMaxSeconds != nil {
		b.problem(p, "OPT-030",
			fmt.Sprintf("retry of %s has backoff_schedule_ms beside backoff_base_seconds or backoff_max_seconds", short(d.FullName())),
			"leave the schedule or the others: the schedule is in place of both")
	}
}
