package retry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/topics"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Scheduler publishes the rows of msg_retry when they are due. Run and Step are for one goroutine: run
// several schedulers rather than one in several goroutines. (CONS-020, CONS-021)
type Scheduler struct {
	retries   store.Retries
	publisher broker.Publisher
	config    Config
	alias     topics.Alias
	tell      tell.Teller
	bell      wait.Bell

	sweepAt, gaugesAt   time.Time
	sweepErr, gaugesErr error // of the last time
	trouble             trouble
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
	// marks is how often a mark is tried: without it the row is published again.
	marks = 3
)

func newScheduler(r store.Retries, p broker.Publisher, c Config, alias topics.Alias) *Scheduler {
	return &Scheduler{
		retries: r, publisher: confirm.NewMissing(p, missing), config: c, alias: alias, bell: wait.NewBell(),
		tell: tell.Teller{Observer: c.Observer, Log: c.Log},
	}
}

// Run works until ctx is done, and returns nil then. A round that has begun is finished first, within
// Timeout for each of its steps. What fails is logged and tried again.
func (s *Scheduler) Run(ctx context.Context) error {
	for {
		r := s.round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		pause, err := s.pause(ctx, &r)
		if ctx.Err() != nil {
			return nil
		}
		s.tellTrouble(ctx, errors.Join(r.work, s.sweepErr, s.gaugesErr, err))
		if !s.bell.For(ctx, pause) {
			return nil
		}
	}
}

// Wake has Run look at once, rather than when the next row that it knows of is due or Poll is over. It may
// be called from any goroutine, such as one that has just written a row which is due before.
func (s *Scheduler) Wake() { s.bell.Ring() }

// Step is one round: it sweeps and counts where it is time to, claims rows that are due, publishes them,
// and says how many of them the broker confirmed. It does not wait for rows to fall due.
func (s *Scheduler) Step(ctx context.Context) (int, error) {
	r := s.round(ctx)
	return r.published, r.err
}

// pause is how long to wait before the next round.
func (s *Scheduler) pause(ctx context.Context, r *round) (time.Duration, error) {
	if r.broken || r.claimed > 0 && r.published == 0 {
		return s.config.Poll, nil
	}
	if r.claimed == r.limit {
		return 0, nil // there is more
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	next, any, err := s.retries.NextDue(ctx)
	switch {
	case err != nil:
		return s.config.Poll, fmt.Errorf("ask when the next retry is due: %w", err)
	case !any:
		return s.config.Poll, nil
	}
	return min(max(next, minPause), s.config.Poll), nil
}

// round is what one round did.
type round struct {
	limit, claimed, published int
	err                       error // all of it
	work                      error // of the rows alone
	broken                    bool  // the store did not do what the rows need
}

func (s *Scheduler) round(ctx context.Context) (r round) {
	if r.err = ctx.Err(); r.err != nil {
		return r
	}
	upkeep := errors.Join(s.sweep(ctx), s.gauges(ctx))
	defer func() { r.err = errors.Join(upkeep, r.work) }()
	r.limit = s.config.Batch
	if s.fruitless {
		r.limit = min(r.limit, probe)
	}
	rows, err := s.claim(ctx, r.limit)
	if err != nil {
		r.work, r.broken = err, true
		return r
	}
	r.claimed = len(rows)
	if r.claimed == 0 {
		return r
	}
	errs := s.publish(ctx, rows)
	confirmed, err := s.settle(ctx, rows, errs)
	r.published, r.broken = confirmed, err != nil
	r.work = err
	s.fruitless = confirmed == 0
	return r
}

func (s *Scheduler) claim(ctx context.Context, limit int) ([]store.Retry, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	rows, err := s.retries.ClaimDue(ctx, s.config.Token(), limit, s.config.Lease)
	if err != nil {
		return nil, fmt.Errorf("claim %d retries that are due: %w", limit, err)
	}
	return rows, nil
}

// publish leaves, of the lease, the time for the claim's reply and for the marks. It goes on for Timeout
// when ctx is done: a publication that is given up may be there all the same, and would be doubled.
func (s *Scheduler) publish(ctx context.Context, rows []store.Retry) []error {
	messages := make([]broker.Message, len(rows))
	for i := range rows {
		row := &rows[i]
		messages[i] = broker.Message{
			Topic: s.alias.OfRetry(row.Topic, row.Scope), Key: row.MessageKey, Value: row.Payload, Headers: row.Headers,
		}
	}
	ctx, cancel := wait.Outlasting(ctx, s.config.Lease-3*s.config.Timeout, s.config.Timeout)
	defer cancel()
	errs := confirm.Publish(ctx, s.publisher, messages, nil, s.config.Timeout)
	s.count(messages, errs)
	return errs
}

func (s *Scheduler) count(messages []broker.Message, errs []error) {
	if s.config.Observer == nil {
		return
	}
	byTopic := make(map[string]float64)
	for i := range messages {
		if errs == nil || errs[i] == nil {
			byTopic[messages[i].Topic]++
		}
	}
	for topic, n := range byTopic {
		s.tell.Measure(observe.RetriesPublished, observe.Labels{Topic: topic}, n)
	}
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
		due := wait.Doubled(time.Second, s.config.MaxDelay, int(row.Publications)-1)
		if later == nil {
			later = make(map[time.Duration][]store.Mark)
		}
		later[due] = append(later[due], store.MarkOf(row))
		s.tell.Warn(ctx, "retry scheduler: not published, trying again later",
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
	ctx, cancel := wait.Detached(ctx, s.config.Timeout)
	defer cancel()
	if err := s.retries.Postpone(ctx, rows, due); err != nil {
		return fmt.Errorf("postpone %d retries by %v: %w", len(rows), due, err)
	}
	return nil
}

// mark removes rows. One that has changed since, by a second write of its delivery or because the lease
// was over, stays, which is right.
func (s *Scheduler) mark(ctx context.Context, rows []store.Mark) (err error) {
	if len(rows) == 0 {
		return nil
	}
	ctx, cancel := wait.Detached(ctx, s.config.Timeout)
	defer cancel()
	for try := range marks {
		if !wait.For(ctx, time.Duration(try)*100*time.Millisecond) {
			break
		}
		if _, err = s.retries.MarkPublished(ctx, rows); err == nil {
			return nil
		}
	}
	return fmt.Errorf("mark %d retries published, which are now published again: %w", len(rows), err)
}
