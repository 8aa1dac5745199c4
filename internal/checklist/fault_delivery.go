package checklist

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/broker"
)

// duplicateDelivery sends each message three times at once, one of them to another partition, and again once it is
// done.
func duplicateDelivery(ctx context.Context, t *trial) error {
	const n = 20
	all, err := t.fresh(ctx, n)
	if err != nil {
		return err
	}
	var copies []broker.Message
	for _, m := range all {
		elsewhere := m.Message
		elsewhere.Key = []byte("elsewhere-" + m.id)
		copies = append(copies, m.Message, m.Message, elsewhere)
	}
	if err := t.publish(ctx, copies...); err != nil {
		return err
	}
	t.injected("%d messages, each 3 times at once, the third under another Kafka key; and each once more when it was done: %d deliveries", n, 4*n)
	if err := t.settle(ctx); err != nil {
		return err
	}
	if err := t.send(ctx, all...); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	if t.down != nil {
		calls := 0
		for _, m := range all {
			calls += len(t.down.of(m.id))
		}
		t.seen("%d calls of the downstream for %d messages", calls, n)
	}
	return nil
}

// crashBeforeOffsetCommit kills the process when effects are there, before their offsets are committed.
func crashBeforeOffsetCommit(ctx context.Context, t *trial) error {
	const rounds, n = 5, 40
	for round := 1; round <= rounds; round++ {
		i, err := t.one(ctx)
		if err != nil {
			return err
		}
		all, err := t.fresh(ctx, n)
		if err != nil {
			return err
		}
		if err := t.send(ctx, all...); err != nil {
			return err
		}
		err = t.until(ctx, func() (string, error) {
			effects, err := t.effects(ctx, all)
			for _, count := range effects {
				if count > 0 {
					return "", err
				}
			}
			return "no effect of " + plural(n, "message", "messages"), err
		})
		if err != nil {
			return err
		}
		i.kill()
		at := time.Now()
		witness, err := t.uncommitted(ctx, all)
		if err != nil {
			return err
		}
		if len(witness) > 0 {
			t.injected("kill -9 at %s, in round %d, of the process that had %s done whose offsets were not committed", clock(at), round, plural(len(witness), "message", "messages"))
			t.proof("%s", witness[0])
			if _, err := t.one(ctx); err != nil {
				return err
			}
			return t.settle(ctx)
		}
		if err := t.settle(ctx); err != nil {
			return err
		}
	}
	t.violate("NOT INJECTED", "in %d rounds the offsets were committed before the effects could be seen: is commit before effect?", rounds)
	return nil
}

// uncommitted describes the messages that have effects and whose offsets are not committed. A process that is dead
// commits nothing, so that both numbers stand.
func (t *trial) uncommitted(ctx context.Context, all []*made) ([]string, error) {
	lags, err := t.offsets.look(ctx)
	if err != nil {
		return nil, err
	}
	effects, err := t.effects(ctx, all)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, l := range lags {
		for offset := l.Committed; offset < l.End; {
			batch, next, err := t.kafka.Scan(ctx, l.TopicPartition, offset, 1<<20)
			if err != nil {
				return nil, err
			}
			for _, m := range batch.Messages {
				if key := headerOf(m.Headers, "idempotency_key"); effects[key] > 0 {
					found = append(found, fmt.Sprintf("%s is at offset %d of %s/%d, which the group had committed up to %d, and had %s",
						key, m.Offset, l.Topic, l.Partition, l.Committed, plural(effects[key], "effect", "effects")))
				}
			}
			offset = next
		}
	}
	return found, nil
}

// decimalDrift sends messages on as a gateway does that reads decimals into floats and writes them again.
func decimalDrift(ctx context.Context, t *trial) error {
	type drift struct{ text, drifted string }
	drifts := []drift{{text: "100.00"}, {text: "0.10"}, {text: "1234567.80"}}
	fields := 0
	var all []*made
	for i := range drifts {
		m, err := t.maker.make(t.adapter.Message)
		if err != nil {
			return err
		}
		value, err := strconv.ParseFloat(drifts[i].text, 64)
		if err != nil {
			return err
		}
		drifts[i].drifted = strconv.FormatFloat(value, 'g', -1, 64)
		fields = decimals(t.options.Schema, m.body, drifts[i].text)
		if fields == 0 {
			t.skip("the message has no field with (idem.v1.field).decimal")
			return nil
		}
		if err := t.maker.again(m); err != nil {
			return err
		}
		all = append(all, m)
	}
	if err := t.track(ctx, all...); err != nil {
		return err
	}
	if err := t.send(ctx, all...); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	for i, m := range all {
		same, passed := m.key, slices.Clone(m.Headers)
		original := m.Value
		decimals(t.options.Schema, m.body, drifts[i].drifted)
		if err := t.maker.again(m); err != nil {
			return err
		}
		if m.key != same {
			t.violate("KEY", "%s: with %s for %s the key is %s", same, drifts[i].drifted, drifts[i].text, m.key)
		}
		differs := "other"
		if bytes.Equal(original, m.Value) {
			differs = "the same"
		}
		through := m.Message
		through.Headers = passed
		if err := t.publish(ctx, through, m.Message); err != nil {
			return err
		}
		t.injected("%s became %s through a float, in %s: sent again with its headers as they were, and with new ones", drifts[i].text, drifts[i].drifted, plural(fields, "field", "fields"))
		t.seen("%s: %s payload bytes, the same key", m.id, differs)
		m.Value = original
	}
	return t.settle(ctx)
}

// decimals puts a text into each decimal field of a message, and says how many there are.
func decimals(set *schema.Set, m protoreflect.Message, text string) int {
	n := 0
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch o := set.FieldOptions(f); {
		case f.IsList() || f.IsMap():
		case f.Message() != nil && m.Has(f):
			n += decimals(set, m.Mutable(f).Message(), text)
		case f.Kind() == protoreflect.StringKind && o.GetDecimal() != nil:
			m.Set(f, protoreflect.ValueOfString(text))
			n++
		}
	}
	return n
}

func clock(at time.Time) string { return at.Format("15:04:05.000") }
