package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// settle removes what was confirmed, and that alone; of the rest, the first row of each lane was tried.
func (r *Relay) settle(ctx context.Context, token string, rows []store.Outgoing, spans []confirm.Span, errs []error) (int, error) {
	var sent []int64
	failures := make(map[failure][]int64)
	for _, s := range spans {
		i := s.From
		for ; i < s.To && (errs == nil || errs[i] == nil); i++ {
			sent = append(sent, rows[i].ID)
		}
		if i < s.To {
			f := r.failureOf(ctx, &rows[i], errs[i])
			failures[f] = append(failures[f], rows[i].ID)
			i++
		}
		for ; i < s.To; i++ {
			failures[failure{}] = append(failures[failure{}], rows[i].ID)
		}
	}
	r.loop.Count(observe.OutboxSent, len(rows), func(i int) string { return rows[i].Topic }, errs)
	// Where one of these fails, the claims are over with the lease.
	err := r.remove(ctx, token, sent)
	for f, ids := range failures {
		err = errors.Join(err, r.notSent(ctx, token, ids, f))
	}
	return len(sent), err
}

// failure is what is recorded of rows that were not sent. The zero value gives back those that were not
// tried.
type failure struct {
	reason string
	due    time.Duration
	failed bool
}

// failureOf says when a row is tried again, if ever.
func (r *Relay) failureOf(ctx context.Context, row *store.Outgoing, cause error) failure {
	f := failure{reason: cmp.Or(cause.Error(), "the publisher did not say why"), failed: int(row.Attempts) >= len(r.delays)}
	attrs := []slog.Attr{
		slog.String("idempotency_key", keyOf(row.Headers)), slog.String("topic", row.Topic),
		slog.Int64("id", row.ID), slog.Int("attempt", int(row.Attempts)+1), slog.Any("error", cause),
	}
	if f.failed {
		r.loop.Tell.Error(ctx, "outbox relay: given up; it and later messages of its key wait for RetryFailed", attrs...)
		return f
	}
	f.due = r.delays[row.Attempts]
	r.loop.Tell.Warn(ctx, "outbox relay: not published, trying again", append(attrs, slog.Duration("due", f.due))...)
	return f
}

func (r *Relay) notSent(ctx context.Context, token string, ids []int64, f failure) error {
	ctx, cancel := wait.Detached(ctx, r.loop.Timeout)
	defer cancel()
	return r.store.NotSent(ctx, token, ids, f.reason, f.due, f.failed)
}

func (r *Relay) remove(ctx context.Context, token string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	if err := r.loop.Remove(ctx, func(ctx context.Context) error { return r.store.Sent(ctx, token, ids) }); err != nil {
		return fmt.Errorf("messages that were sent will be sent again: %w", err)
	}
	return nil
}
