package payload

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// Keyed is a message of generated code with a key template.
type Keyed interface {
	proto.Message
	IdemHeaders(c idem.Context) (idem.Headers, error)
}

// Options are of Message. The zero value is raw protobuf, produced now, with an event_id of its own.
type Options struct {
	Format Format
	// SchemaID is the schema's id in the registry, for Confluent.
	SchemaID int32
	// EventID is the event's, for a message that was made before; empty: a new UUIDv7.
	EventID string
	// ProducedAt is when it is made; zero: now.
	ProducedAt time.Time
	// Traceparent and Tracestate are the W3C trace context; empty: none.
	Traceparent, Tracestate string
}

// Message makes what a broker takes of a message for a topic: the payload, the headers of HDR-020, and the biz key as
// the key that chooses the partition, which is null where the message has none (HASH-020). The same message made twice
// has one idempotency key, and two event_ids: send the one that was made. The error names what of the message has no
// text, or what the topic's name has.
func Message(topic string, m Keyed, o Options) (broker.Message, error) {
	fail := func(err error) (broker.Message, error) {
		return broker.Message{}, fmt.Errorf("make a %s for topic %q: %w", m.ProtoReflect().Descriptor().FullName(), topic, err)
	}
	if err := broker.CheckTopic(topic); err != nil {
		return fail(err)
	}
	if o.ProducedAt.IsZero() {
		o.ProducedAt = time.Now()
	}
	if o.EventID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fail(fmt.Errorf("event_id: %w", err))
		}
		o.EventID = id.String()
	}
	headers, err := m.IdemHeaders(idem.Context{
		EventID: o.EventID, Topic: topic, ProducedAt: o.ProducedAt, Traceparent: o.Traceparent, Tracestate: o.Tracestate,
	})
	if err != nil {
		return fail(ofPart(m, err))
	}
	value, err := encode(o.Format, o.SchemaID, m)
	if err != nil {
		return fail(fmt.Errorf("payload: %w", err))
	}
	made := broker.Message{Topic: topic, Value: value, Headers: headers}
	for i := range headers {
		if headers[i].Name == idem.BizKey.String() {
			made.Key = headers[i].Value
		}
	}
	return made, nil
}

// ofPart says which part of the headers an error is of, where that is not the key: the same field may be in several.
func ofPart(m Keyed, err error) error {
	if k, ok := m.(interface{ IdemKey() (string, error) }); ok {
		if _, e := k.IdemKey(); e != nil {
			return err
		}
	}
	if k, ok := m.(interface{ IdemBizKey() (string, error) }); ok {
		if _, e := k.IdemBizKey(); e != nil {
			return fmt.Errorf("the biz key: %w", err)
		}
	}
	if k, ok := m.(interface{ IdemFingerprint() (string, error) }); ok {
		if _, e := k.IdemFingerprint(); e != nil {
			return fmt.Errorf("the fingerprint of the content: %w", err)
		}
	}
	return err
}
