package schema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// The field numbers of (idem.v1.message), for Message.Option.
const (
	KeyNumber = 1 + iota
	KeyPreviousNumber
	BizKeyNumber
	FingerprintNumber
	OccurredAtNumber
	RetryNumber
	TransitionNumber
)

// readMessage reads (idem.v1.message); nil where the key has a problem. The other parts are read all
// the same, so that one run shows all of them.
func (b *builder) readMessage(d protoreflect.MessageDescriptor, o *idempb.MessageOptions) *Message {
	place := at(d, extension)
	m := &Message{Desc: d, Options: o, Comment: place.exactly().LeadingComments}
	if o.GetIdempotencyKey() == "" {
		b.problem(place, "OPT-011", short(d.FullName())+" has no idempotency_key",
			`add idempotency_key: "event.type:v1:{field}", with a literal of your own as its first segment`)
	} else {
		m.Key = b.template(d, KeyNumber, "idempotency_key", o.IdempotencyKey)
	}
	m.KeyPrevious = b.template(d, KeyPreviousNumber, "idempotency_key_previous", o.IdempotencyKeyPrevious)
	m.BizKey = b.template(d, BizKeyNumber, "biz_key", o.BizKey)
	m.Fingerprint = b.template(d, FingerprintNumber, "fingerprint", o.Fingerprint)
	m.OccurredAt = b.occurredAt(d, o.OccurredAt)
	m.Retry = b.policy(place.Below(RetryNumber), d, o.GetRetry())
	m.Transition = b.transition(place.Below(TransitionNumber), d, o.GetTransition())
	keyed := b.eventType(d, KeyNumber, "idempotency_key", m.Key)
	if b.eventType(d, KeyPreviousNumber, "idempotency_key_previous", m.KeyPrevious) && keyed {
		b.previous(d, m)
	}
	if !keyed {
		return nil
	}
	m.EventType = m.Key.Segments[0].Literal
	return m
}

// template reads one template; nil where it is not there or has a problem.
func (b *builder) template(d protoreflect.MessageDescriptor, number int32, option string, text *string) *Template {
	if text == nil {
		return nil
	}
	place := at(d, extension, number)
	raw, err := parseTemplate(*text)
	if err != nil {
		what := fmt.Sprintf("%s of %s, %s, %s", option, short(d.FullName()), quote(*text), err.what)
		if err.offset >= 0 {
			what += fmt.Sprintf(" at byte %d", err.offset)
		}
		b.problem(place, "OPT-010", what, err.mend)
		return nil
	}
	t := &Template{Text: *text, Place: place}
	sound := true
	for _, segment := range raw {
		if segment.path == "" {
			t.Segments = append(t.Segments, Segment{Literal: segment.literal})
			continue
		}
		u := &use{b: b, message: d, option: option, path: segment.path, place: place}
		c := u.component()
		sound = sound && c != nil
		t.Segments = append(t.Segments, Segment{Component: c})
	}
	if !sound {
		return nil
	}
	return t
}

// eventType checks the first segment of a key; false where there is none to check. (OPT-011)
func (b *builder) eventType(d protoreflect.MessageDescriptor, number int32, option string, t *Template) bool {
	if t == nil {
		return false
	}
	first := t.Segments[0]
	if first.Component != nil {
		b.problem(at(d, extension, number), "OPT-011",
			fmt.Sprintf("%s of %s begins with {%s}", option, short(d.FullName()), short(first.Component.Name)),
			"begin with a literal, the event type: payments.payment_success:v1:{payment_id}")
		return false
	}
	if len(first.Literal) > maxName {
		b.problem(at(d, extension, number), "OPT-011",
			fmt.Sprintf("the event type of %s has %d bytes", short(d.FullName()), len(first.Literal)), "use at most 200")
		return false
	}
	return true
}

// previous checks the key before against the key. (OPT-011, OPT-032)
func (b *builder) previous(d protoreflect.MessageDescriptor, m *Message) {
	place := at(d, extension, KeyPreviousNumber)
	if was := m.KeyPrevious.Segments[0].Literal; was != m.Key.Segments[0].Literal {
		b.problem(place, "OPT-011",
			fmt.Sprintf("idempotency_key_previous of %s has the event type %s and idempotency_key has %s",
				short(d.FullName()), quote(was), quote(m.Key.Segments[0].Literal)),
			"leave the event type as it was: a message of another type is another message")
	}
	if m.KeyPrevious.Text == m.Key.Text {
		b.problem(place, "OPT-032", "idempotency_key_previous of "+short(d.FullName())+" is the idempotency_key itself",
			"leave it out, or state the template before the last change")
	}
}

// occurredAt reads the one placeholder of occurred_at. (OPT-014)
func (b *builder) occurredAt(d protoreflect.MessageDescriptor, text *string) *Component {
	t := b.template(d, OccurredAtNumber, "occurred_at", text)
	if t == nil {
		return nil
	}
	place := at(d, extension, OccurredAtNumber)
	name := "occurred_at of " + short(d.FullName())
	if len(t.Segments) != 1 {
		b.problem(place, "OPT-014", name+", "+quote(t.Text)+", is more than one placeholder", "name one field, {occurred_at}")
		return nil
	}
	c := t.Segments[0].Component
	switch {
	case c.Kind != Timestamp && c.Kind != TimestampText && c.Kind != TimestampEpoch:
		b.problem(place, "OPT-014", fmt.Sprintf("%s names %s, which is no timestamp but a %s", name, short(c.Name), c.Kind),
			"name a google.protobuf.Timestamp, or add [(idem.v1.field).timestamp = {}] to the field")
	case c.Digest:
		b.problem(place, "OPT-014", fmt.Sprintf("%s names %s, which has a digest, and the header carries a time", name, short(c.Name)),
			"name another field, or leave occurred_at out")
	default:
		return c
	}
	return nil
}
