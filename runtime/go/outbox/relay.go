package outbox

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/rounds"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Relay publishes what is stored, in the order of each (topic, biz key), and removes it once the broker has
// confirmed it. A message that fails is tried again after Config.Delays, and then is Failed: it holds back
// its own key alone, until RetryFailed. Run and Step are for one goroutine; any number of relays may run.
// (CONS-023)
type Relay struct {
	store  store.Outbox
	delays []time.Duration
	loop   *rounds.Loop
}

// reviveLimit is how many failed rows one RetryFailed brings back.
const reviveLimit = 1000

// Run works until ctx is done, and returns nil then. A round that has begun is finished first. What fails
// is logged and tried again.
func (r *Relay) Run(ctx context.Context) error {
	return r.loop.Run(ctx, func(ctx context.Context) (time.Duration, error) {
		sent, err := r.round(ctx)
		if err == nil && sent > 0 {
			return 0, nil // there may be more, behind them too
		}
		return r.loop.Poll, err
	})
}

// Wake has Run look at once, rather than when Poll is over. It may be called from any goroutine, such as one
// whose transaction with PublishTx has just committed.
func (r *Relay) Wake() { r.loop.Wake() }

// Step is one round: it claims rows, publishes them, and says how many of them the broker confirmed.
func (r *Relay) Step(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	upkeep := r.loop.Upkeep(ctx)
	sent, err := r.round(ctx)
	return sent, errors.Join(upkeep, err)
}

// RetryFailed makes failed rows due again, at most limit, and says how many there were. The rows behind
// them in their keys follow.
func (r *Relay) RetryFailed(ctx context.Context, limit int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, r.loop.Timeout)
	defer cancel()
	return r.store.RetryFailed(ctx, limit)
}

// round says how many rows were sent; the error is what the store did not do that the rows need.
func (r *Relay) round(ctx context.Context) (int, error) {
	token := r.loop.Token()
	rows, err := r.claim(ctx, token)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	rows, spans := byLane(rows)
	return r.settle(ctx, token, rows, spans, r.publish(ctx, rows, spans))
}

func (r *Relay) claim(ctx context.Context, token string) ([]store.Outgoing, error) {
	ctx, cancel := context.WithTimeout(ctx, r.loop.Timeout)
	defer cancel()
	return r.store.ClaimOutgoing(ctx, token, r.loop.Batch, r.loop.Lease)
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

func (r *Relay) publish(ctx context.Context, rows []store.Outgoing, spans []confirm.Span) []error {
	messages := make([]broker.Message, len(rows))
	for i := range rows {
		row := &rows[i]
		messages[i] = broker.Message{Topic: r.loop.Topics.Of(row.Topic), Key: row.MessageKey, Value: row.Payload, Headers: row.Headers}
	}
	return r.loop.Publish(ctx, messages, spans)
}

// revive brings failed rows back.
func (r *Relay) revive(ctx context.Context) (bool, error) {
	n, err := r.RetryFailed(ctx, reviveLimit)
	if n > 0 {
		r.loop.Tell.Warn(ctx, "outbox relay: failed messages are tried again", slog.Int("messages", n))
	}
	return false, err
}

// gauges counts the rows for the metrics.
func (r *Relay) gauges(ctx context.Context) error {
	stats, err := r.store.OutboxStats(ctx)
	if err != nil {
		return err
	}
	age := time.Duration(0)
	if !stats.Oldest.IsZero() {
		age = max(0, r.loop.Now().Sub(stats.Oldest))
	}
	labels := observe.Labels{Store: r.loop.StoreName}
	r.loop.Tell.Measure(observe.OutboxPending, labels, float64(stats.Pending))
	r.loop.Tell.Measure(observe.OutboxFailed, labels, float64(stats.Failed))
	r.loop.Tell.Measure(observe.OutboxOldest, labels, age.Seconds())
	return nil
}
