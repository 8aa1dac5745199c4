package idem

import (
	"slices"
	"time"
)

// Context is what a producer knows of a message beside its payload. What is empty or zero is left out.
type Context struct {
	// EventID is a UUIDv7, made once, when the message is made or stored in the outbox.
	EventID string
	// Topic is the origin of the message.
	Topic string
	// ProducedAt is written in UTC with milliseconds.
	ProducedAt time.Time
	// Traceparent and Tracestate are the W3C trace context.
	Traceparent, Tracestate string
}

// Outgoing is what generated code says of one message. What is nil or empty is left out.
type Outgoing struct {
	EventType              string
	IdempotencyKey         []byte
	IdempotencyKeyPrevious []byte
	BizKey                 []byte
	Fingerprint            []byte
	// OccurredAt is a canonical timestamp.
	OccurredAt []byte
	// From is the state before the message's transition, "" too, where HasTransition.
	From          string
	HasTransition bool
	// Retry is the schema's policy with defaults filled in; nil where the schema has none.
	Retry *Policy
}

// producerHeaders is the most headers that AppendHeaders appends.
const producerHeaders = 18

// AppendHeaders appends the headers that a producer writes, in the order of the spec's table, under the
// names of Kafka and AMQP; Headers.For turns them into those of another transport. The values share
// memory with m. The error is CodeTimestampRange, for ProducedAt outside the years 0001 to 9999.
// (HDR-020 to HDR-022)
func AppendHeaders(dst Headers, m *Outgoing, c Context) (Headers, error) {
	start := len(dst)
	w := headerWriter{headers: slices.Grow(dst, producerHeaders), buf: make([]byte, 0, 256+len(c.EventID)+len(c.Topic)+len(c.Traceparent)+len(c.Tracestate))}
	w.bytes(IdempotencyKey, m.IdempotencyKey)
	w.text(EventID, c.EventID)
	w.text(EventType, m.EventType)
	w.bytes(BizKey, m.BizKey)
	w.text(Topic, c.Topic)
	if !c.ProducedAt.IsZero() {
		if err := w.time(ProducedAt, c.ProducedAt.Unix(), int32(c.ProducedAt.Nanosecond())); err != nil {
			return dst[:start], err
		}
	}
	w.bytes(OccurredAt, m.OccurredAt)
	w.text(Traceparent, c.Traceparent)
	w.text(Tracestate, c.Tracestate)
	if m.HasTransition {
		w.add(ExpectedCurrentState, append(w.mark(), m.From...))
	}
	w.bytes(IdempotencyKeyPrevious, m.IdempotencyKeyPrevious)
	w.bytes(Fingerprint, m.Fingerprint)
	w.integer(IdemSpec, SpecMajor)
	if m.Retry != nil {
		w.policy(m.Retry)
	}
	return w.headers, nil
}

// For returns the headers, which are under the names of Kafka and AMQP, under the names and in the form of
// a transport. Unknown headers stay as they are.
func (h Headers) For(t Transport) Headers {
	if t != HTTP && t != CloudEvents {
		return h
	}
	bound := make(Headers, len(h))
	for i, header := range h {
		if id, known := lookupPlain(header.Name); known {
			header = boundHeader(t, id, header.Value)
		}
		bound[i] = header
	}
	return bound
}

// boundHeader writes a value as a transport has it. (HDR-043, HDR-044)
func boundHeader(t Transport, id HeaderID, value []byte) Header {
	if t == HTTP && value != nil {
		switch {
		case id == IdempotencyKey && len(value) > 0 && printable(value):
			value = appendSFString(make([]byte, 0, len(value)+2), value)
		case id == RejectReason:
			value = appendPrintable(make([]byte, 0, len(value)), value)
		}
	}
	return Header{Name: t.NameOf(id), Value: value}
}

// headerWriter appends headers whose values are in one buffer. Where that grows, the values before stay
// in the memory they are in.
type headerWriter struct {
	headers Headers
	buf     []byte
}

// mark is the buffer's free end, where a value is appended.
func (w *headerWriter) mark() []byte { return w.buf[len(w.buf):] }

// add adds a header whose value was appended to mark.
func (w *headerWriter) add(id HeaderID, value []byte) {
	value = value[:len(value):len(value)]
	if free := cap(w.buf) - len(w.buf); len(value) <= free {
		w.buf = w.buf[:len(w.buf)+len(value)]
	}
	w.headers = append(w.headers, Header{Name: headerNames[id], Value: value})
}

// bytes adds a header of a value that needs no copy, and none for no bytes.
func (w *headerWriter) bytes(id HeaderID, value []byte) {
	if len(value) > 0 {
		w.headers = append(w.headers, Header{Name: headerNames[id], Value: value})
	}
}

func (w *headerWriter) text(id HeaderID, s string) {
	if s != "" {
		w.add(id, append(w.mark(), s...))
	}
}

func (w *headerWriter) integer(id HeaderID, v int64) { w.add(id, AppendInt(w.mark(), v)) }

func (w *headerWriter) time(id HeaderID, seconds int64, nanos int32) error {
	text, err := AppendTimestamp(w.mark(), seconds, nanos, 3)
	if err != nil {
		return InField(err, headerNames[id])
	}
	w.add(id, text)
	return nil
}

// policy writes base and cap, or the schedule in their place.
func (w *headerWriter) policy(p *Policy) {
	w.integer(MaxRetry, int64(p.MaxRetry))
	w.integer(MaxHold, int64(p.MaxHold))
	if len(p.BackoffSchedule) == 0 {
		w.integer(BackoffBase, int64(p.BackoffBase))
	}
	w.integer(BackoffJitter, int64(p.BackoffJitter))
	if len(p.BackoffSchedule) == 0 {
		w.integer(BackoffMax, int64(p.BackoffMax))
	} else {
		w.add(BackoffSchedule, appendSchedule(w.mark(), p.BackoffSchedule))
	}
}
