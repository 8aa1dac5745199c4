package idem

import (
	"bytes"
	"math"
)

// Next is what becomes of a delivery, as far as its headers are concerned.
type Next struct {
	// Action is any but ActionAck.
	Action Action
	// Scope is who the next delivery is for.
	Scope string
	// Topic is where this delivery came from, for messages that do not say where they began.
	Topic string
	// NowMs is the time in milliseconds since 1970, and DelayMs the delay, for ActionRetry, ActionHold and
	// ActionDefer.
	NowMs, DelayMs int64
	// RetryCount and HoldCount are those of the decision. ActionRedrive ignores them, and ActionDeadLetter
	// keeps the message's in place of a negative one.
	RetryCount, HoldCount int64
	// Reason is for ActionRetry, ActionHold and ActionDeadLetter.
	Reason string
	// RedriveCount is the record's, for ActionRedrive.
	RedriveCount int64
	// DropFingerprint says that ActionRedrive sends a payload that was repaired.
	DropFingerprint bool
}

// Next is the next delivery that an action leads to.
func (a *Decision) Next(scope, topic string, nowMs int64) Next {
	return Next{
		Action: a.Action, Scope: scope, Topic: topic, NowMs: nowMs, DelayMs: a.Delay.Ms(),
		RetryCount: int64(a.Counts.Retry), HoldCount: int64(a.Counts.Hold), Reason: a.Reason,
	}
}

// AppendNext appends the headers of the next delivery of a message: its known headers in the order of the
// spec's table, some replaced or removed, and then the unknown ones as they are. Nothing is added twice,
// so a message has the same size after many retries. Faulty headers are kept as they are: a dead letter
// has what the message had. Values share memory with headers. Errors: CodeTimestampRange where the
// delay ends after the year 9999, CodeInputInvalid for ActionAck. (HDR-030 to HDR-034)
func AppendNext(dst Headers, t Transport, headers Headers, n *Next) (Headers, error) {
	start := len(dst)
	w := nextWriter{
		headerWriter: headerWriter{headers: dst, buf: make([]byte, 0, 160+len(n.Scope)+len(n.Topic)+len(n.Reason))},
		transport:    t,
		old:          headers,
		ids:          make([]HeaderID, len(headers)),
	}
	for i := range headers {
		id, known := t.Lookup(headers[i].Name)
		if !known {
			id = headerCount
		} else if headers[i].Value != nil {
			w.there.add(id)
		}
		w.ids[i] = id
	}
	for id := HeaderID(0); id < headerCount; id++ {
		if err := w.header(id, n); err != nil {
			return dst[:start], err
		}
	}
	for i := range headers {
		if w.ids[i] == headerCount {
			w.headers = append(w.headers, headers[i])
		}
	}
	return w.headers, nil
}

type nextWriter struct {
	headerWriter
	transport Transport
	old       Headers
	ids       []HeaderID // of each old header; headerCount where it is unknown
	there     HeaderSet  // the known headers that are not null
}

// header writes what one header of the table becomes. It is the table of HDR-031.
func (w *nextWriter) header(id HeaderID, n *Next) error {
	again := n.Action == ActionRetry || n.Action == ActionHold || n.Action == ActionDefer
	redrive := n.Action == ActionRedrive
	if !again && !redrive && n.Action != ActionDeadLetter {
		return rule(CodeInputInvalid, "no next delivery follows")
	}
	switch id {
	case Topic:
		if !w.there.Has(Topic) {
			w.set(id, append(w.mark(), n.Topic...))
			return nil
		}
	case Fingerprint:
		if redrive && n.DropFingerprint {
			return nil
		}
	case RetryCount, HoldCount:
		if redrive {
			w.set(id, append(w.mark(), '0'))
			return nil
		}
		count := n.RetryCount
		if id == HoldCount {
			count = n.HoldCount
		}
		if count >= 0 {
			w.set(id, AppendInt(w.mark(), count))
			return nil
		}
	case RedriveCount:
		if redrive {
			w.set(id, AppendInt(w.mark(), w.nextLife(n.RedriveCount)))
			return nil
		}
	case TargetScope:
		w.set(id, append(w.mark(), n.Scope...))
		return nil
	case RetryInterval:
		if again {
			w.set(id, AppendInt(w.mark(), n.DelayMs))
		}
		return nil
	case NextRetryTime:
		if again {
			return w.due(n.NowMs, n.DelayMs)
		}
		return nil
	case RejectReason:
		if redrive {
			return nil
		}
		if n.Action != ActionDefer {
			w.set(id, AppendReason(w.mark(), n.Reason))
			return nil
		}
	}
	w.keep(id)
	return nil
}

// set writes a value that was appended to mark.
func (w *nextWriter) set(id HeaderID, value []byte) {
	w.add(id, value)
	last := &w.headers[len(w.headers)-1]
	*last = boundHeader(w.transport, id, last.Value)
}

// due writes when the delay ends.
func (w *nextWriter) due(nowMs, delayMs int64) error {
	if delayMs > 0 && nowMs > math.MaxInt64-delayMs {
		return rule(CodeTimestampRange, timestampRule)
	}
	text, err := AppendTimestampEpoch(w.mark(), nowMs+delayMs, UnitMilliseconds, 3)
	if err != nil {
		return InField(err, headerNames[NextRetryTime])
	}
	w.set(NextRetryTime, text)
	return nil
}

// nextLife is one more than the larger of what the headers and the record say. (HDR-033)
func (w *nextWriter) nextLife(recorded int64) int64 {
	var found foundHeaders
	found.collect(w.transport, w.old)
	count := int32(0)
	f := &found[RedriveCount]
	if f.there && !f.conflict && readInteger(&count, RedriveCount, f.value) == nil && int64(count) > recorded {
		recorded = int64(count)
	}
	if recorded >= maxCount {
		return maxCount
	}
	return recorded + 1
}

// keep writes the values that a header has, each once; of a trace header the last one. (HDR-032)
func (w *nextWriter) keep(id HeaderID) {
	if !w.there.Has(id) {
		return
	}
	first := len(w.headers)
	var seen map[boundValue]bool
	for i := range w.old {
		if w.ids[i] != id || w.old[i].Value == nil {
			continue
		}
		raw := w.old[i].Value
		if w.transport == HTTP {
			raw = trimBlanks(raw)
		}
		if traceHeaders.Has(id) {
			w.headers = w.headers[:first]
		} else if w.repeats(first, id, raw, &seen) {
			continue
		}
		w.headers = append(w.headers, Header{Name: w.transport.NameOf(id), Value: raw})
	}
}

// fewValues is how many values of one header are compared one by one. A hostile message has thousands.
const fewValues = 8

// boundValue is what of a value is compared: a key that is no structured-field string is only equal to
// the same bytes.
type boundValue struct {
	value  string
	badKey bool
}

// repeats says whether a value that means the same was written since first.
func (w *nextWriter) repeats(first int, id HeaderID, raw []byte, seen *map[boundValue]bool) bool {
	value, badKey := bind(w.transport, id, raw)
	written := w.headers[first:]
	if *seen == nil && len(written) < fewValues {
		for i := range written {
			old, oldBad := bind(w.transport, id, written[i].Value)
			if badKey == oldBad && bytes.Equal(old, value) {
				return true
			}
		}
		return false
	}
	if *seen == nil {
		*seen = make(map[boundValue]bool)
		for i := range written {
			old, oldBad := bind(w.transport, id, written[i].Value)
			(*seen)[boundValue{string(old), oldBad}] = true
		}
	}
	if (*seen)[boundValue{string(value), badKey}] {
		return true
	}
	(*seen)[boundValue{string(value), badKey}] = true
	return false
}
