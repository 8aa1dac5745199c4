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
	const rounds = 5
	if reason := canHold(t.adapter, nil); reason != "" {
		t.seen("no kill between an effect and its record: %s", reason)
	} else {
		for _, part := range []func(context.Context) error{t.uncommittedInHandler, t.betweenEffectAndRecord} {
			if err := part(ctx); err != nil {
				return err
			}
			if len(t.result.Violations) > 0 {
				return nil
			}
		}
	}
	for round := 1; round <= rounds; round++ {
		i, err := t.one(ctx)
		if err != nil {
			return err
		}
		all, how, err := t.untilAnEffect(ctx, round == 1 && t.db != nil && canHold(t.adapter, nil) == "")
		if err != nil {
			return err
		}
		i.kill()
		at := time.Now()
		witness, err := t.uncommitted(ctx, all)
		if err != nil {
			return err
		}
		if _, err := t.one(ctx); err != nil {
			return err
		}
		if len(witness) > 0 {
			t.injected("kill -9 at %s%s, when %s done and not committed", clock(at), how, plural(len(witness), "message was", "messages were"))
			t.proof("%s", witness[0])
			return t.settle(ctx)
		}
		if err := t.settle(ctx); err != nil {
			return err
		}
	}
	t.violate("NOT INJECTED", "in %d rounds the offsets were committed before the effects could be seen", rounds)
	return nil
}

// untilAnEffect sends messages and waits for an effect. Where it can it withholds from the handler that its
// transaction is committed, so that the offset cannot be; else it is as quick as it can.
func (t *trial) untilAnEffect(ctx context.Context, withhold bool) (all []*made, how string, err error) {
	if withhold {
		var g gate
		if all, g, err = t.inHandler(ctx, 4, 4, false); err != nil {
			return nil, "", err
		}
		defer g.open()
		// The process that is waiting for the answer is killed before it comes.
		release := t.db.proxy.withhold()
		time.AfterFunc(10*time.Second, release)
		g.open()
		how = ", with the database's answer to COMMIT on its way"
	} else {
		if all, err = t.fresh(ctx, 40); err != nil {
			return nil, "", err
		}
		if err := t.send(ctx, all...); err != nil {
			return nil, "", err
		}
	}
	err = t.until(ctx, func() (string, error) {
		effects, err := t.effects(ctx, all)
		for _, count := range effects {
			if count > 0 {
				return "", err
			}
		}
		return "no effect of " + plural(len(all), "message", "messages"), err
	})
	return all, how, err
}

// uncommittedInHandler sees to it that the offset of a message is not committed while its handler is in the middle.
func (t *trial) uncommittedInHandler(ctx context.Context) error {
	all, g, err := t.inHandler(ctx, 1, 1, false)
	if err != nil {
		return err
	}
	defer g.open()
	pause(ctx, quiet)
	at, err := t.find(ctx, all[0])
	if err != nil {
		return err
	}
	committed, err := t.committed(ctx, at.TopicPartition)
	if err != nil {
		return err
	}
	t.proof("with %s in mid-handler, at offset %d of %s/%d, the group had committed up to %d", all[0].id, at.offset, at.Topic, at.Partition, committed)
	if committed > at.offset {
		t.violate("COMMITTED EARLY", "%s: its offset %d is committed, and its handler has not ended", all[0].key, at.offset)
	}
	g.open()
	return t.settle(ctx)
}

// uncommitted describes the messages that have effects and whose offsets are not committed. A process that is dead
// commits nothing, so that both numbers stand.
func (t *trial) uncommitted(ctx context.Context, all []*made) ([]string, error) {
	effects, err := t.effects(ctx, all)
	if err != nil {
		return nil, err
	}
	var found []string
	err = t.unread(ctx, func(key, at string) {
		if effects[key] > 0 {
			found = append(found, fmt.Sprintf("%s is at %s, and had %s", key, at, plural(effects[key], "effect", "effects")))
		}
	})
	return found, err
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
