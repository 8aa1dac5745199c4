package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// headersOf reads what EncodeHeaders has written. Somebody else's text hides no message: it is delivered
// without headers, and so is MALFORMED or keyless, which is a dead letter that says so.
func headersOf(text, row string) idem.Headers {
	headers, err := store.DecodeHeaders(text)
	if err != nil {
		slog.Error("the headers of a row cannot be read: it goes on without them", "row", row, "error", err)
	}
	return headers
}

// columnsOfOutgoing are the parameters of outbox_put.
func columnsOfOutgoing(messages []store.Outgoing) (topics []string, keys [][]byte, headers []string, payloads [][]byte) {
	for i := range messages {
		m := &messages[i]
		topics, keys = append(topics, text(m.Topic)), append(keys, m.MessageKey)
		headers, payloads = append(headers, store.EncodeHeaders(m.Headers)), append(payloads, m.Payload)
	}
	return topics, keys, headers, payloads
}

// Store puts messages into the outbox.
func (c *core) Store(ctx context.Context, messages []store.Outgoing) error {
	if len(messages) == 0 {
		return nil
	}
	topics, keys, headers, payloads := columnsOfOutgoing(messages)
	_, err := c.change(ctx, "outbox_put", topics, keys, headers, payloads)
	return named(fmt.Sprintf("store %d messages", len(messages)), err)
}

// Stored says which of the biz keys have rows.
func (c *core) Stored(ctx context.Context, topic string, bizKeys [][]byte) ([]bool, error) {
	if len(bizKeys) == 0 {
		return nil, nil
	}
	stored, err := c.places(ctx, len(bizKeys), "outbox_stored", topic, bizKeys)
	if err != nil {
		return nil, named(fmt.Sprintf("look up %d biz keys", len(bizKeys)), err)
	}
	return stored, nil
}

// ClaimOutgoing claims the first rows of each biz key. Rows without one are in no order.
func (c *core) ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Outgoing, error) {
	var messages []store.Outgoing
	err := c.transact(ctx, work{}, func(w *work) error {
		w.queue("outbox_lock")
		w.queue("outbox_claim", token, max(limit, 0), lease.Milliseconds()).Query(func(rows pgx.Rows) (err error) {
			messages, err = pgx.AppendRows(messages[:0], rows, scanOutgoing(token))
			return err
		})
		return nil
	})
	if err != nil {
		return nil, named(fmt.Sprintf("claim %d outgoing messages", limit), err)
	}
	slices.SortFunc(messages, func(a, b store.Outgoing) int { return cmp.Compare(a.ID, b.ID) })
	return messages, nil
}

// scanOutgoing reads a row that token has claimed, or nobody in particular.
func scanOutgoing(token string) pgx.RowToFunc[store.Outgoing] {
	return func(row pgx.CollectableRow) (store.Outgoing, error) {
		m := store.Outgoing{Token: token}
		var headers string
		err := row.Scan(&m.ID, &m.Topic, &m.MessageKey, &headers, &m.Payload, &m.CreatedAt, &m.Attempts, &m.Failed, &m.LastError, &m.NextAt)
		m.Headers = headersOf(headers, fmt.Sprintf("outbox %d", m.ID))
		return m, err
	}
}

// Sent removes rows.
func (c *core) Sent(ctx context.Context, token string, ids []int64) error {
	_, err := c.change(ctx, "outbox_sent", token, ids)
	return named(fmt.Sprintf("remove %d sent messages", len(ids)), err)
}

// NotSent records a try that failed, or with no reason gives the claim back.
func (c *core) NotSent(ctx context.Context, token string, ids []int64, reason string, due time.Duration, failed bool) error {
	err := c.transact(ctx, work{}, func(w *work) error {
		w.queue("outbox_lock")
		w.queue("outbox_unsent", token, ids, text(reason), due.Milliseconds(), failed)
		return nil
	})
	return named(fmt.Sprintf("postpone %d outgoing messages", len(ids)), err)
}

// RetryFailed makes the first failed rows due again.
func (c *core) RetryFailed(ctx context.Context, limit int) (int, error) {
	n, err := c.change(ctx, "outbox_retry", max(limit, 0))
	return n, named(fmt.Sprintf("retry %d failed messages", limit), err)
}

// OutboxStats counts rows.
func (c *core) OutboxStats(ctx context.Context) (store.OutboxStats, error) {
	var stats store.OutboxStats
	err := c.transact(ctx, work{}, func(w *work) error {
		w.queue("outbox_stats").QueryRow(func(row pgx.Row) error {
			var oldest *time.Time
			err := row.Scan(&stats.Pending, &stats.Failed, &oldest)
			if oldest != nil {
				stats.Oldest = *oldest
			}
			return err
		})
		return nil
	})
	return stats, named("count outgoing messages", err)
}
