package deadletter

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// delivery is the next life of a dead letter: the same message, its counts zero, its redrive_count one more
// than the larger of the header's and the record's. (HDR-031, HDR-033)
func (r *runner) delivery(d *store.DeadLetter, record *store.Record) (store.Retry, error) {
	next := idem.Next{Action: idem.ActionRedrive, Scope: d.Scope, Topic: d.Topic}
	if record != nil {
		next.RedriveCount = record.RedriveCount
	}
	payload := d.Payload
	if r.config.Repair != nil {
		repaired, err := r.config.Repair(d)
		if err != nil {
			return store.Retry{}, fmt.Errorf("repair dead letter of key %q: %w", d.Key, err)
		}
		next.DropFingerprint = !bytes.Equal(payload, repaired) || (payload == nil) != (repaired == nil)
		payload = repaired
	}
	headers, err := idem.AppendNext(nil, idem.Kafka, d.Headers, &next)
	if err != nil {
		return store.Retry{}, fmt.Errorf("redrive dead letter of key %q: headers: %w", d.Key, err)
	}
	lives, err := strconv.ParseInt(valueOf(headers, idem.RedriveCount), 10, 32)
	if err != nil {
		return store.Retry{}, fmt.Errorf("redrive dead letter of key %q: redrive_count: %w", d.Key, err)
	}
	if record != nil && record.State != idem.StateSuccess && lives <= record.RedriveCount { // STALE, which is lost
		return store.Retry{}, fmt.Errorf("redrive dead letter of key %q: its redrive_count is %d, and there is no later life: forget the key, then redrive", d.Key, lives)
	}
	return store.Retry{
		Scope: d.Scope, Key: d.Key, EventType: d.EventType, BizKey: d.BizKey, EventID: d.EventID,
		SourceTopic: d.SourceTopic, SourcePartition: d.SourcePartition, SourceOffset: d.SourceOffset,
		RedriveCount: int32(lives), Action: idem.ActionRedrive,
		Topic: broker.RetryTopic(d.Topic, d.Scope), MessageKey: d.MessageKey, Headers: headers, Payload: payload,
		Status: store.RetryPending,
	}, nil
}

// valueOf is the last value of a header, which of a trace header is the one that counts, and "" where there
// is none.
func valueOf(headers idem.Headers, id idem.HeaderID) string {
	for i := len(headers) - 1; i >= 0; i-- {
		if headers[i].Name == id.String() && headers[i].Value != nil {
			return string(headers[i].Value)
		}
	}
	return ""
}

// recordsOf reads the records of dead letters: nil where there is none, or no key. Of a message with two keys
// it is both in one: SUCCESS where one is, and the larger redrive_count, since a redrive that is lower than
// either is STALE. (DEDUP-026)
func (r *runner) recordsOf(ctx context.Context, letters []store.DeadLetter) ([]*store.Record, error) {
	type asked struct {
		keys []string
		of   []int // the letter of each key
	}
	scopes := make(map[string]*asked)
	for i := range letters {
		d := &letters[i]
		if d.Key == "" {
			continue
		}
		a := scopes[d.Scope]
		if a == nil {
			a = &asked{}
			scopes[d.Scope] = a
		}
		a.keys, a.of = append(a.keys, d.Key), append(a.of, i)
		if previous := valueOf(d.Headers, idem.IdempotencyKeyPrevious); previous != "" && previous != d.Key {
			a.keys, a.of = append(a.keys, previous), append(a.of, i)
		}
	}
	found := make([]*store.Record, len(letters))
	for scope, a := range scopes {
		records, err := r.read(ctx, scope, a.keys)
		if err != nil {
			return nil, err
		}
		for i, at := range a.of {
			found[at] = both(found[at], records[i])
		}
	}
	return found, nil
}

// both is what two records of one message come to.
func both(a, b *store.Record) *store.Record {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	one := *a
	one.RedriveCount = max(a.RedriveCount, b.RedriveCount)
	if b.State == idem.StateSuccess {
		one.State = b.State
	}
	return &one
}

func (r *runner) read(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	records, err := r.records.Records(ctx, scope, keys)
	if err == nil && len(records) != len(keys) {
		err = fmt.Errorf("the store answered for %d", len(records))
	}
	if err != nil {
		return nil, fmt.Errorf("read %d records of scope %q: %w", len(keys), scope, err)
	}
	return records, nil
}

// pacer says how long to wait so that a rate is not exceeded.
type pacer struct {
	rate float64
	next time.Time
}

// after takes n, and says how long to wait before the next.
func (p *pacer) after(n int, now time.Time) time.Duration {
	if p.rate <= 0 || n == 0 {
		return 0
	}
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(min(float64(n)/p.rate, 1e9) * float64(time.Second))) // what is longer overflows
	return p.next.Sub(now)
}
