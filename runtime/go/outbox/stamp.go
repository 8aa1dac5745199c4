package outbox

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// prepare checks messages, and gives those of idem what a producer's context gives. The caller's stay as
// they are.
func (b *Outbox) prepare(messages []broker.Message) ([]broker.Message, error) {
	stamped := make([]broker.Message, len(messages))
	for i := range messages {
		m := &messages[i]
		if err := broker.CheckTopic(m.Topic); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		if b.config.MaxBytes > 0 && len(m.Value) > b.config.MaxBytes {
			return nil, fmt.Errorf("message %d to %s: payload of %d bytes, more than MaxBytes %d: keep the content elsewhere and send where it is",
				i, m.Topic, len(m.Value), b.config.MaxBytes)
		}
		stamped[i] = *m
		headers, err := b.stamp(m)
		if err != nil {
			return nil, fmt.Errorf("message %d to %s: %w", i, m.Topic, err)
		}
		stamped[i].Headers = headers
	}
	return stamped, nil
}

// stamp adds the event_id, the topic and the produced_at that a message lacks: they are made once, before
// it is published or stored for the first time. They are in the order of the spec's table. (HDR-020)
func (b *Outbox) stamp(m *broker.Message) (idem.Headers, error) {
	var there idem.HeaderSet
	for i := range m.Headers {
		if id, ok := idem.Kafka.Lookup(m.Headers[i].Name); ok && m.Headers[i].Value != nil {
			there |= 1 << id
		}
	}
	if !there.Has(idem.IdempotencyKey) || there.Has(idem.EventID) && there.Has(idem.Topic) && there.Has(idem.ProducedAt) {
		return m.Headers, nil
	}
	headers := make(idem.Headers, 0, len(m.Headers)+3)
	next := idem.EventID
	flush := func(until idem.HeaderID) error {
		for ; next < until; next++ {
			if there.Has(next) {
				continue
			}
			value, err := b.stampOf(next, m)
			if err != nil {
				return err
			}
			if value != nil {
				headers = append(headers, idem.Header{Name: next.String(), Value: value})
			}
		}
		return nil
	}
	for i := range m.Headers {
		id, ok := idem.Kafka.Lookup(m.Headers[i].Name)
		if !ok {
			id = idem.ProducedAt + 1 // unknown ones are behind
		}
		if err := flush(min(id, idem.ProducedAt+1)); err != nil {
			return nil, err
		}
		headers = append(headers, m.Headers[i])
	}
	return headers, flush(idem.ProducedAt + 1)
}

// stampOf is the value of a header that is added, nil for one that is not.
func (b *Outbox) stampOf(id idem.HeaderID, m *broker.Message) ([]byte, error) {
	switch id {
	case idem.EventID:
		event, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make an event_id: %w", err)
		}
		return []byte(event.String()), nil
	case idem.Topic:
		return []byte(m.Topic), nil
	case idem.ProducedAt:
		return idem.AppendTimestampEpoch(nil, b.config.Now().UnixMilli(), idem.UnitMilliseconds, 3)
	}
	return nil, nil
}

func keyOf(headers idem.Headers) string {
	for i := range headers {
		if headers[i].Name == idem.IdempotencyKey.String() {
			return string(headers[i].Value)
		}
	}
	return ""
}
