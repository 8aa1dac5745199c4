package main

import (
	"math"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func opPolicy(in *object, out *output) error {
	header := decodePartial(in, "header", true)
	schema := decodePartial(in, "schema", true)
	limit := decodePartial(in, "limit", false)
	if !in.ok() {
		return errInput
	}
	p, err := idem.ResolvePolicy(header, schema.Over(idem.DefaultPolicy()), limit)
	if err != nil {
		return err
	}
	out.integer("max_retry", int64(p.MaxRetry))
	out.integer("max_hold", int64(p.MaxHold))
	out.integer("backoff_base", int64(p.BackoffBase))
	out.integer("backoff_jitter", int64(p.BackoffJitter))
	out.integer("backoff_max", int64(p.BackoffMax))
	if len(p.BackoffSchedule) > 0 {
		out.integers("backoff_schedule", p.BackoffSchedule)
	}
	return nil
}

func decodePartial(in *object, name string, hasSchedule bool) idem.PartialPolicy {
	o := in.child(name)
	p := idem.PartialPolicy{
		MaxRetry:      decodeStated(&o, "max_retry"),
		MaxHold:       decodeStated(&o, "max_hold"),
		BackoffBase:   decodeStated(&o, "backoff_base"),
		BackoffJitter: decodeStated(&o, "backoff_jitter"),
		BackoffMax:    decodeStated(&o, "backoff_max"),
	}
	if hasSchedule {
		p.BackoffSchedule = decodeSchedule(&o)
	}
	in.done(&o)
	return p
}

func decodeStated(o *object, name string) *int32 {
	n, stated := o.optionalInteger(name)
	if !stated {
		return nil
	}
	v := n.nearest32()
	return &v
}

func decodeSchedule(o *object) []int32 {
	if !o.has("backoff_schedule") {
		return nil
	}
	var schedule []int32
	for _, v := range o.list("backoff_schedule") {
		n, ok := parseInteger(v.text)
		o.bad = o.bad || !ok || v.kind != kindString
		schedule = append(schedule, n.nearest32())
	}
	return schedule
}

// decodeBackoff is the policy of backoff and decide, which states everything but the limits of counts.
func decodeBackoff(in *object) idem.Policy {
	p := idem.DefaultPolicy()
	o := in.child("policy")
	p.BackoffBase = o.integer("backoff_base").nearest32()
	p.BackoffMax = o.integer("backoff_max").nearest32()
	p.BackoffJitter = o.integer("backoff_jitter").nearest32()
	p.BackoffSchedule = decodeSchedule(&o)
	in.done(&o)
	return p
}

// decodeCount is a count, and -1 where it is out of range, which the core refuses.
func decodeCount(in *object, name string) int32 {
	n, fits := in.integer(name).int32()
	if !fits {
		return -1
	}
	return n
}

// decodeWait is an optional span of milliseconds, which is never negative.
func decodeWait(in *object, name string) (ms int64, stated bool) {
	n, stated := in.optionalInteger(name)
	if n.negative {
		in.bad = true
	}
	ms, fits := n.int64()
	if !fits {
		ms = math.MaxInt64
	}
	return ms, stated
}

func opBackoff(in *object, out *output) error {
	key, n := in.text("key"), decodeCount(in, "retry_count")
	policy := decodeBackoff(in)
	after, _ := decodeWait(in, "retry_after_ms")
	if !in.ok() {
		return errInput
	}
	d, err := idem.Backoff(key, n, &policy, after)
	if err != nil {
		return err
	}
	out.integer("delay_ms", d.Ms())
	out.integer("base_ms", d.BaseMs)
	out.integer("jitter_ms", d.JitterMs)
	return nil
}

func opDecide(in *object, out *output) error {
	outcome, known := idem.ParseOutcome(in.text("outcome"))
	in.bad = in.bad || !known
	key := in.text("key")
	counts := idem.Counts{Retry: decodeCount(in, "retry_count"), Hold: decodeCount(in, "hold_count")}
	maxRetry, maxHold := in.integer("max_retry"), in.integer("max_hold")
	policy := decodeBackoff(in)
	policy.MaxRetry, policy.MaxHold = maxRetry.nearest32(), maxHold.nearest32()
	reason, _ := in.optionalText("reason")
	retryAfter, _ := decodeWait(in, "retry_after_ms")
	wait, hasWait := decodeWait(in, "wait_ms")

	result := idem.Result{Outcome: outcome, AfterMs: retryAfter, Reason: reason}
	if outcome == idem.OutcomeInProgress || outcome == idem.OutcomeFenced {
		result.AfterMs = wait
		in.bad = in.bad || !hasWait
	}
	if !in.ok() {
		return errInput
	}
	a, err := idem.Decide(result, key, counts, &policy)
	if err != nil {
		return err
	}
	writeAction(out, &a)
	return nil
}

func writeAction(out *output, a *idem.Decision) {
	out.text("action", a.Action.String())
	switch a.Action {
	case idem.ActionRetry, idem.ActionHold, idem.ActionDefer:
		out.integer("delay_ms", a.Delay.Ms())
	case idem.ActionAck:
		return
	}
	out.integer("retry_count", int64(a.Counts.Retry))
	out.integer("hold_count", int64(a.Counts.Hold))
	if a.Action != idem.ActionDefer {
		out.text("reject_reason", a.Reason)
	}
}
