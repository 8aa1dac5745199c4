package deadletter

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/member"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/store"
)

// work redrives one partition up to the end that it has at the start.
func (r *topicRun) work(ctx context.Context, p *member.Partition) {
	end, empty := int64(-1), 0
	for {
		var batch broker.Batch
		select {
		case <-ctx.Done():
			return
		case batch = <-p.Batches:
		}
		if end < 0 {
			end = batch.End
		}
		if len(batch.Messages) == 0 {
			// Behind the last message there may be offsets without one, such as transaction markers.
			if empty++; empty > 1 || p.Offset >= end {
				return
			}
			continue
		}
		empty = 0
		for len(batch.Messages) > 0 {
			n := min(len(batch.Messages), r.config.Batch)
			pause, ok := r.chunk(ctx, p, batch.Messages[:n])
			if !ok {
				return
			}
			last := batch.Messages[n-1].Offset + 1
			batch.Messages = batch.Messages[n:]
			if !r.dryRun {
				p.Done(last)
			}
			if !wait.For(ctx, pause) {
				return
			}
			if last >= end {
				return
			}
		}
	}
}

// chunk does what is to be done of some messages, and says how long to wait for the rate; false where ctx
// was done before.
func (r *topicRun) chunk(ctx context.Context, p *member.Partition, messages []broker.Message) (time.Duration, bool) {
	var letters []store.DeadLetter
	for i := range messages {
		if d := Letter(&messages[i], r.scope, r.origin); Selects(&r.filter, &d) && (r.selected == nil || r.selected(&d)) {
			letters = append(letters, d)
		}
	}
	if len(letters) == 0 {
		return 0, true
	}
	records, ok := r.recordsAgain(ctx, letters)
	if !ok {
		return 0, false
	}
	var part Report
	var next []broker.Message
	for i := range letters {
		d := &letters[i]
		if Done(records[i], d) {
			part.Skipped++
			continue
		}
		part.Matched++
		if r.dryRun {
			continue
		}
		row, v := r.next(ctx, d, records[i], TooOld(d.Reason), &part)
		if v != redrive {
			continue
		}
		next = append(next, broker.Message{Topic: r.retryTopic, Key: row.MessageKey, Value: row.Payload, Headers: row.Headers})
	}
	if !r.publish(ctx, p, next) {
		return 0, false
	}
	part.Redriven = int64(len(next))
	return r.add(&part, letters, records), true
}

// Done says that a dead letter of a topic had another life since, or its key has succeeded, by the key's record, which is
// nil where there is none.
func Done(record *store.Record, d *store.DeadLetter) bool {
	return record != nil && (record.RedriveCount > int64(d.RedriveCount) || record.State == idem.StateSuccess)
}

// TooOld says so of a dead letter of a topic by its reason, since a topic does not keep the outcome.
func TooOld(reason string) bool {
	code, _, _ := strings.Cut(reason, ":")
	return code == idem.OutcomeTooOld.String()
}

// add adds to the report, and says how long to wait for the rate.
func (r *topicRun) add(part *Report, letters []store.DeadLetter, records []*store.Record) time.Duration {
	t := r.report
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Matched += part.Matched
	t.report.Redriven += part.Redriven
	t.report.Skipped += part.Skipped
	t.report.Refused += part.Refused
	t.report.Failed += part.Failed
	if t.report.FirstError == nil {
		t.report.FirstError = part.FirstError
	}
	if r.dryRun && r.sample != nil {
		for i := range letters {
			if !Done(records[i], &letters[i]) {
				r.sample(&letters[i])
			}
		}
	}
	if r.config.Progress != nil && !r.dryRun {
		r.config.Progress(t.report)
	}
	return t.pace.after(int(part.Redriven), time.Now())
}

// publish publishes until all is confirmed: nothing is committed past a message that is not.
func (r *topicRun) publish(ctx context.Context, p *member.Partition, messages []broker.Message) bool {
	for try := 0; len(messages) > 0; try++ {
		errs := confirm.Publish(ctx, r.publisher, messages, nil, r.config.Timeout)
		if errs == nil {
			return true
		}
		left := messages[:0:0]
		for i := range messages {
			if errs[i] == nil {
				continue
			}
			left = append(left, messages[i])
			r.tell.Error(ctx, "redrive: not published, trying again; nothing is committed past it",
				slog.String("idempotency_key", valueOf(messages[i].Headers, idem.IdempotencyKey)), slog.String("topic", r.retryTopic),
				slog.Int("partition", int(p.Partition)), slog.Any("error", errs[i]))
		}
		messages = left
		if !wait.For(ctx, wait.Doubled(100*time.Millisecond, 10*time.Second, try)) {
			return false
		}
	}
	return true
}

func (r *topicRun) recordsAgain(ctx context.Context, letters []store.DeadLetter) ([]*store.Record, bool) {
	for try := 0; ; try++ {
		records, err := r.recordsOf(ctx, letters)
		if err == nil {
			return records, true
		}
		r.tell.Error(ctx, "redrive: records not read, trying again", slog.String("idempotency_key", letters[0].Key), slog.Any("error", err))
		if !wait.For(ctx, wait.Doubled(100*time.Millisecond, 10*time.Second, try)) {
			return nil, false
		}
	}
}

// Selects says that a filter selects a dead letter of a topic, where Scope and Outcome say nothing.
func Selects(f *store.DeadLetterFilter, d *store.DeadLetter) bool {
	return (f.Key == "" || f.Key == d.Key) &&
		(f.EventType == "" || f.EventType == d.EventType) &&
		strings.HasPrefix(d.Reason, f.ReasonPrefix) &&
		(f.Since.IsZero() || !d.CreatedAt.Before(f.Since)) &&
		(f.Until.IsZero() || d.CreatedAt.Before(f.Until))
}

// countOf is a count in a header, 0 where there is none that can be read.
func countOf(headers idem.Headers, id idem.HeaderID) int32 {
	n, err := strconv.ParseInt(valueOf(headers, id), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}
