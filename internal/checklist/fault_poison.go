package checklist

import (
	"context"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// poisons are payloads that are no message of any schema, and headers that no header may be.
var poisons = []struct {
	name    string
	payload []byte
	header  string
	value   string
}{
	{name: "a length beyond the end", payload: []byte{0x0a, 0xff, 0xff, 0x7f}},
	{name: "a group that does not end", payload: []byte{0x0b, 0x0b, 0x0b, 0x0b}},
	{name: "zeros", payload: make([]byte, 300)},
	{name: "a text that is no UTF-8", payload: []byte{0x0a, 0x02, 0xc3, 0x28}},
	{name: "retry_count -1", header: "retry_count", value: "-1"},
	{name: "retry_count with a zero byte", header: "retry_count", value: "1\x00"},
}

// poison makes a message that nobody can read.
func (t *trial) poison(ctx context.Context, n int) (*made, error) {
	all, err := t.fresh(ctx, 1)
	if err != nil {
		return nil, err
	}
	m, p := all[0], poisons[n]
	if p.payload != nil {
		m.Value = p.payload
	} else {
		m.Headers = set(m.Headers, p.header, p.value)
	}
	t.ends[m.key] = dead
	return m, nil
}

// poisonBytes sends what nobody can read between good messages.
func poisonBytes(ctx context.Context, t *trial) error {
	var all []*made
	good := 0
	for n := range poisons {
		before, err := t.fresh(ctx, 1)
		if err != nil {
			return err
		}
		bad, err := t.poison(ctx, n)
		if err != nil {
			return err
		}
		all = append(all, before[0], bad)
		good++
	}
	after, err := t.fresh(ctx, 1)
	if err != nil {
		return err
	}
	all = append(all, after[0])
	for _, p := range poisons {
		t.injected("%s", p.name)
	}
	if err := t.send(ctx, all...); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	t.seen("%d poisoned messages among %d good ones, in %s", len(poisons), good+1, t.letters)
	return nil
}

// deadLettersDown takes the place of dead letters away while a message needs it.
func deadLettersDown(ctx context.Context, t *trial) error {
	good, err := t.fresh(ctx, 4)
	if err != nil {
		return err
	}
	if err := t.letters.down(ctx); err != nil {
		return err
	}
	began := time.Now()
	back := false
	defer func() {
		if !back {
			_ = t.letters.up(context.WithoutCancel(ctx)) // it is the error before that is told
		}
	}()
	bad, err := t.poison(ctx, 0)
	if err != nil {
		return err
	}
	if err := t.send(ctx, append(slices.Clone(good), bad)...); err != nil {
		return err
	}
	at, err := t.find(ctx, bad)
	if err != nil {
		return err
	}
	if !pause(ctx, 4*time.Second) {
		return ctx.Err()
	}
	committed, err := t.committed(ctx, at.TopicPartition)
	if err != nil {
		return err
	}
	t.injected("the %s was away from %s on, for %v, while %s needed it", t.letters, clock(began), time.Since(began).Round(time.Millisecond), bad.id)
	t.proof("%s is at offset %d of %s/%d; while there was no place for it the group had committed up to %d", bad.id, at.offset, at.Topic, at.Partition, committed)
	if committed > at.offset {
		t.violate("COMMITTED AWAY", "%s: offset %d is committed, and it is nowhere", bad.key, at.offset)
	}
	if err := t.letters.up(ctx); err != nil {
		return err
	}
	back = true
	return t.settle(ctx)
}

// place is where a message is.
type place struct {
	broker.TopicPartition
	offset int64
}

// find looks for a message behind what is committed, and a little before.
func (t *trial) find(ctx context.Context, m *made) (place, error) {
	lags, err := t.offsets.look(ctx)
	if err != nil {
		return place{}, err
	}
	at := place{offset: -1}
	for _, l := range lags {
		if l.Topic != m.Topic {
			continue
		}
		for offset := max(l.End-20, 0); offset < l.End; {
			batch, next, err := t.kafka.Scan(ctx, l.TopicPartition, offset, 1<<20)
			if err != nil {
				return at, err
			}
			for _, found := range batch.Messages {
				if headerOf(found.Headers, "idempotency_key") == m.key {
					at = place{l.TopicPartition, found.Offset}
				}
			}
			offset = next
		}
	}
	return at, nil
}

// committed is what the group has committed of a partition.
func (t *trial) committed(ctx context.Context, at broker.TopicPartition) (int64, error) {
	lags, err := t.offsets.look(ctx)
	if err != nil {
		return 0, err
	}
	for _, l := range lags {
		if l.TopicPartition == at {
			return l.Committed, nil
		}
	}
	return 0, nil
}
