package retry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/rounds"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Scheduler publishes the rows of msg_retry when they are due. Run and Step are for one goroutine: run
// several schedulers rather than one in several goroutines. (CONS-020, CONS-021)
type Scheduler struct {
	retries store.Retries
	loop    *rounds.Loop
	// fruitless says that the last round confirmed nothing of what it claimed: the next one tries fewer.
	fruitless bool
}

const (
	// minPause keeps Run from asking without a pause for rows that others hold.
	minPause = 20 * time.Millisecond
	// probe is how many rows are claimed after a round without any success.
	probe = 16
	// missing is how long a topic is not looked for that was missing.
	missing = 15 * time.Second
	// sweepLimit is how many lanes one sweep moves.
	sweepLimit = 500
)

// Run works until ctx is done, and returns nil then. A round that has begun is finished first, within
// Timeout for each of its steps. What fails is logged and tried again.
func (s *Scheduler) Run(ctx context.Context) error {
	return s.loop.Run(ctx, func(ctx context.Context) (time.Duration, error) {
		r := s.round(ctx)
		pause, err := s.pause(ctx, &r)
		return pause, errors.Join(r.err, err)
	})
}

// Wake has Run look at once, rather than when the next row that it knows of is due or Poll is over. It may
// be called from any goroutine, such as one that has just written a row which is due before.
func (s *Scheduler) Wake() { s.loop.Wake() }

// Step is one round: it sweeps and counts where it is time to, claims rows that are due, publishes them,
// and says how many of them the broker confirmed. It does not wait for rows to fall due.
func (s *Scheduler) Step(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	upkeep := s.loop.Upkeep(ctx)
	r := s.round(ctx)
	return r.published, errors.Join(upkeep, r.err)
}

// pause is how long to wait before the next round.
func (s *Scheduler) pause(ctx context.Context, r *round) (time.Duration, error) {
	if r.err != nil || r.claimed > 0 && r.published == 0 {
		return s.loop.Poll, nil
	}
	if r.claimed == r.limit {
		return 0, nil // there is more
	}
	ctx, cancel := context.WithTimeout(ctx, s.loop.Timeout)
	defer cancel()
	next, any, err := s.retries.NextDue(ctx)
	switch {
	case err != nil:
		return s.loop.Poll, err
	case !any:
		return s.loop.Poll, nil
	}
	return min(max(next, minPause), s.loop.Poll), nil
}

// round is what one round did.
type round struct {
	limit, claimed, published int
	err                       error // what the store did not do that the rows need
}

func (s *Scheduler) round(ctx context.Context) (r round) {
	r.limit = s.loop.Batch
	if s.fruitless {
		r.limit = min(r.limit, probe)
	}
	rows, err := s.claim(ctx, r.limit)
	if r.err = err; len(rows) == 0 {
		return r
	}
	r.claimed = len(rows)
	r.published, r.err = s.settle(ctx, rows, s.publish(ctx, rows))
	s.fruitless = r.published == 0
	return r
}

func (s *Scheduler) claim(ctx context.Context, limit int) ([]store.Retry, error) {
	ctx, cancel := context.WithTimeout(ctx, s.loop.Timeout)
	defer cancel()
	return s.retries.ClaimDue(ctx, s.loop.Token(), limit, s.loop.Lease)
}

func (s *Scheduler) publish(ctx context.Context, rows []store.Retry) []error {
	messages := make([]broker.Message, len(rows))
	for i := range rows {
		row := &rows[i]
		messages[i] = broker.Message{
			Topic: s.loop.Topics.OfRetry(row.Topic, row.Scope), Key: row.MessageKey, Value: row.Payload, Headers: row.Headers,
		}
	}
	errs := s.loop.Publish(ctx, messages, nil)
	s.loop.Count(observe.RetriesPublished, len(messages), func(i int) string { return messages[i].Topic }, errs)
	return errs
}

// settle marks what was confirmed, and that alone, and postpones the rest.
func (s *Scheduler) settle(ctx context.Context, rows []store.Retry, errs []error) (confirmed int, err error) {
	done := make([]store.Mark, 0, len(rows))
	var later map[time.Duration][]store.Mark
	for i := range rows {
		row := &rows[i]
		if errs == nil || errs[i] == nil {
			done = append(done, store.MarkOf(row))
			continue
		}
		due := wait.Doubled(time.Second, s.loop.MaxDelay, int(row.Publications)-1)
		if later == nil {
			later = make(map[time.Duration][]store.Mark)
		}
		later[due] = append(later[due], store.MarkOf(row))
		s.loop.Tell.Warn(ctx, "retry scheduler: not published, trying again later",
			slog.String("idempotency_key", row.Key), slog.String("scope", row.Scope), slog.String("topic", row.Topic),
			slog.Int("publications", int(row.Publications)), slog.Duration("due", due), slog.Any("error", errs[i]))
	}
	if e := s.mark(ctx, done); e != nil {
		err = errors.Join(err, e)
	}
	for due, marks := range later {
		// Where this fails too, the claims are over with the lease.
		if e := s.postpone(ctx, marks, due); e != nil {
			err = errors.Join(err, e)
		}
	}
	return len(done), err
}

func (s *Scheduler) postpone(ctx context.Context, rows []store.Mark, due time.Duration) error {
	ctx, cancel := wait.Detached(ctx, s.loop.Timeout)
	defer cancel()
	return s.retries.Postpone(ctx, rows, due)
}

// mark removes rows. One that has changed since, by a second write of its delivery or because the lease
// was over, stays, which is right.
func (s *Scheduler) mark(ctx context.Context, rows []store.Mark) error {
	if len(rows) == 0 {
		return nil
	}
	err := s.loop.Remove(ctx, func(ctx context.Context) error {
		_, err := s.retries.MarkPublished(ctx, rows)
		return err
	})
	if err != nil {
		return fmt.Errorf("retries that were published will be published again: %w", err)
	}
	return nil
}
