package outbox

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

// Relay publishes what is stored, in the order of each (topic, biz key), and removes it once the broker has
// confirmed it. A message that fails is tried again after Config.Delays, and then is Failed: it holds back
// its own key alone, until RetryFailed. Run and Step are for one goroutine; any number of relays may run.
// (CONS-023)
type Relay struct {
	store     store.Outbox
	publisher broker.Publisher
	config    RelayConfig
	alias     topics.Alias
	tell      tell.Teller
	bell      wait.Bell

	gaugesAt, reviveAt time.Time
}

const (
	// reviveLimit is how many failed rows one RetryFailed brings back.
	reviveLimit = 1000
	// removals is how often rows that are confirmed are removed: else they are published again.
	removals = 3
)

// Run works until ctx is done, and returns nil then. A round that has begun is finished first. What fails
// is logged and tried again.
func (r *Relay) Run(ctx context.Context) error {
	for {
		n := r.round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if n.err != nil {
			r.tell.Error(ctx, "outbox relay: round failed, going on", slog.Any("error", n.err))
		}
		pause := r.config.Poll
		if !n.broken && n.sent > 0 {
			pause = 0 // there may be more, behind them too
		}
		if !r.bell.For(ctx, pause) {
			return nil
		}
	}
}

// Wake has Run look at once, rather than when Poll is over. It may be called from any goroutine, such as one
// whose transaction with PublishTx has just committed.
func (r *Relay) Wake() { r.bell.Ring() }

// Step is one round: it claims rows, publishes them, and says how many of them the broker confirmed.
func (r *Relay) Step(ctx context.Context) (int, error) {
	n := r.round(ctx)
	return n.sent, n.err
}

// RetryFailed makes failed rows due again, at most limit, and says how many there were. The rows behind
// them in their keys follow.
func (r *Relay) RetryFailed(ctx context.Context, limit int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	n, err := r.store.RetryFailed(ctx, limit)
	if err != nil {
		return 0, fmt.Errorf("retry failed messages of the outbox: %w", err)
	}
	return n, nil
}

// round is what one round did.
type round struct {
	sent   int
	err    error
	broken bool // the store did not do what the rows need
}

func (r *Relay) round(ctx context.Context) (n round) {
	if n.err = ctx.Err(); n.err != nil {
		return n
	}
	n.err = errors.Join(r.revive(ctx), r.gauges(ctx))
	token := r.config.Token()
	rows, err := r.claim(ctx, token)
	if err != nil {
		n.err, n.broken = errors.Join(n.err, err), true
		return n
	}
	if len(rows) == 0 {
		return n
	}
	rows, spans := byLane(rows)
	errs := r.publish(ctx, rows, spans)
	sent, err := r.settle(ctx, token, rows, spans, errs)
	n.sent, n.broken = sent, err != nil
	n.err = errors.Join(n.err, err)
	return n
}

func (r *Relay) claim(ctx context.Context, token string) ([]store.Outgoing, error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	rows, err := r.store.ClaimOutgoing(ctx, token, r.config.Batch, r.config.Lease)
	if err != nil {
		return nil, fmt.Errorf("claim %d messages of the outbox: %w", r.config.Batch, err)
	}
	return rows, nil
}

// byLane puts the rows of each lane together, in their order. A row without a key is in a lane of its own.
func byLane(rows []store.Outgoing) ([]store.Outgoing, []confirm.Span) {
	next := make([]int, len(rows)) // the next row of the lane
	at := make(map[lane]int)       // which of firsts and lasts
	var firsts, lasts []int
	for i := range rows {
		next[i] = -1
		if rows[i].MessageKey == nil {
			firsts, lasts = append(firsts, i), append(lasts, i)
			continue
		}
		if n, ok := at[lane{rows[i].Topic, string(rows[i].MessageKey)}]; ok {
			next[lasts[n]] = i
			lasts[n] = i
			continue
		}
		at[lane{rows[i].Topic, string(rows[i].MessageKey)}] = len(firsts)
		firsts, lasts = append(firsts, i), append(lasts, i)
	}
	sorted := make([]store.Outgoing, 0, len(rows))
	spans := make([]confirm.Span, len(firsts))
	for n, i := range firsts {
		spans[n].From = len(sorted)
		for ; i >= 0; i = next[i] {
			sorted = append(sorted, rows[i])
		}
		spans[n].To = len(sorted)
	}
	return sorted, spans
}

// publish leaves, of the lease, the time for the claim's reply and the removal. It goes on for Timeout
// when ctx is done: a publication that is given up may be there all the same, and would be doubled.
func (r *Relay) publish(ctx context.Context, rows []store.Outgoing, spans []confirm.Span) []error {
	messages := make([]broker.Message, len(rows))
	for i := range rows {
		row := &rows[i]
		messages[i] = broker.Message{Topic: r.alias.Of(row.Topic), Key: row.MessageKey, Value: row.Payload, Headers: row.Headers}
	}
	ctx, cancel := wait.Outlasting(ctx, r.config.Lease-3*r.config.Timeout, r.config.Timeout)
	defer cancel()
	return confirm.Publish(ctx, r.publisher, messages, spans, r.config.Timeout)
}

// revive brings failed rows back, once in a while.
func (r *Relay) revive(ctx context.Context) error {
	now := r.config.Now()
	if r.config.Revive < 0 || now.Before(r.reviveAt) {
		return nil
	}
	first := r.reviveAt.IsZero()
	r.reviveAt = now.Add(r.config.Revive)
	if first {
		return nil
	}
	n, err := r.RetryFailed(ctx, reviveLimit)
	if n > 0 {
		r.tell.Warn(ctx, "outbox relay: failed messages are tried again", slog.Int("messages", n))
	}
	return err
}

// gauges counts the rows for the metrics.
func (r *Relay) gauges(ctx context.Context) error {
	now := r.config.Now()
	if r.config.Observer == nil || r.config.Gauges < 0 || now.Before(r.gaugesAt) {
		return nil
	}
	r.gaugesAt = now.Add(r.config.Gauges)
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	stats, err := r.store.OutboxStats(ctx)
	if err != nil {
		return fmt.Errorf("count the outbox: %w", err)
	}
	age := time.Duration(0)
	if !stats.Oldest.IsZero() {
		age = max(0, now.Sub(stats.Oldest))
	}
	labels := observe.Labels{Store: r.config.StoreName}
	r.tell.Measure(observe.OutboxPending, labels, float64(stats.Pending))
	r.tell.Measure(observe.OutboxFailed, labels, float64(stats.Failed))
	r.tell.Measure(observe.OutboxOldest, labels, age.Seconds())
	return nil
}
