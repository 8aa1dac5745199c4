package consumer

import (
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// seen is what a shadow remembers of keys, to count the duplicates that it would have suppressed: the last
// ones, in two halves of which the older is forgotten as a whole. It is under the engine's lock.
type seen struct {
	young, old map[string]string // the fingerprint of each key
}

const seenHalf = 50_000

// add says what the record of a key would have.
func (s *seen) add(key, fingerprint string) idem.Outcome {
	before, there := s.young[key]
	if !there {
		before, there = s.old[key]
	}
	switch {
	case there && idem.FingerprintsDiffer(before, fingerprint):
		return idem.OutcomeKeyReused
	case there:
		return idem.OutcomeDuplicate
	}
	if s.young == nil || len(s.young) >= seenHalf {
		s.young, s.old = make(map[string]string), s.young
	}
	s.young[key] = fingerprint
	return idem.OutcomeOK
}

// shadow computes what would have become of a message, tells it, and skips the message. Nothing is claimed, and
// no handler runs.
func (e *engine) shadow(t *task) {
	r, d := t.route, &t.d
	if d.Status == guard.Opened {
		result := e.shadowResult(r, d)
		d.End(result, nil)
	}
	decision, err := idem.Decide(d.Result, orPlace(d), d.Counts, &d.Policy)
	if err != nil {
		decision.Action = idem.ActionDeadLetter
	}
	v, m := &d.Envelope, d.Message
	told := observe.Delivery{
		Scope: e.config.Scope, EventType: v.EventType, Key: d.Key, BizKey: d.BizKey, EventID: v.EventID,
		Topic: m.Topic, Partition: m.Partition, Offset: m.Offset,
		Outcome: d.Result.Outcome, Action: decision.Action, Reason: d.Result.Reason, Counts: decision.Counts,
		RedriveCount: v.RedriveCount, Shadow: true, Traceparent: v.Traceparent, Tracestate: v.Tracestate,
	}
	if !m.Time.IsZero() {
		told.Age = max(time.Since(m.Time), 0)
	}
	e.tell(&told)
	t.shadow = true
}

// shadowResult decodes the payload, compares the key that came with the schema's, and looks for a duplicate.
func (e *engine) shadowResult(r *route, d *guard.Delivery) (result idem.Result) {
	malformed := func(cause any) idem.Result {
		return idem.Result{Outcome: idem.OutcomeMalformed, Reason: fmt.Sprintf("%s: %v", idem.CodePayloadInvalid, cause)}
	}
	defer func() {
		if p := recover(); p != nil {
			result = malformed(p)
		}
	}()
	m := r.fresh()
	if err := payload.Decode(r.Format, d.Message.Value, m); err != nil {
		return malformed(err)
	}
	reason := ""
	if k, ok := m.(keyed); ok && d.Envelope.Present.Has(idem.IdempotencyKey) {
		if key, err := k.IdemKey(); err != nil {
			reason = "the schema gives no key: " + err.Error()
		} else if key != d.Key {
			reason = "the schema's key is " + key
		}
	}
	if d.Key == "" {
		return idem.Result{Outcome: idem.OutcomeOK, Reason: reason}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.seen == nil {
		r.seen = new(seen)
	}
	return idem.Result{Outcome: r.seen.add(d.Key, d.Envelope.Fingerprint), Reason: reason}
}

// orPlace is the key, or for a message without one its place. (RETRY-032)
func orPlace(d *guard.Delivery) string {
	if d.Key != "" {
		return d.Key
	}
	return fmt.Sprintf("%s/%d/%d", d.Message.Topic, d.Message.Partition, d.Message.Offset)
}
