package checklist

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/internal/history"
)

// notDoneYet is a message that has no end, and is not lost: something still holds it.
const notDoneYet history.Kind = "NOT DONE YET"

// onTheirWay says what holds messages, by key, and how to wait for them: what idem's tables know, and else what the group has
// not committed.
func (b *bench) onTheirWay(ctx context.Context, keys []string) (map[string]string, error) {
	waits, err := b.inTables(ctx, keys)
	if err != nil {
		return nil, err
	}
	err = b.unread(ctx, func(key, at string) {
		if waits[key] == "" {
			waits[key] = fmt.Sprintf("it is at %s: it comes again. Raise patience (%s)", at, length(b.adapter.Patience.Duration))
		}
	})
	return waits, err
}

func (b *bench) inTables(ctx context.Context, keys []string) (map[string]string, error) {
	waits := map[string]string{}
	for _, from := range []struct {
		table, sql string
		say        func(n int, status string, until time.Duration) string
	}{
		{
			"idem_record", `SELECT key, attempts, '', lease_until - clock_timestamp() FROM %s
				WHERE key = ANY($1) AND state = 1 AND lease_until > clock_timestamp()`, b.sayClaimed,
		},
		{
			"msg_retry", `SELECT idempotency_key, retry_count, status, next_retry_time - clock_timestamp() FROM %s
				WHERE idempotency_key = ANY($1)`, b.sayRetry,
		},
	} {
		table, err := b.table(ctx, from.table)
		if err != nil {
			return nil, err
		}
		if table == "" {
			continue
		}
		rows, err := b.db.pool.Query(ctx, fmt.Sprintf(from.sql, table), keys)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var key, status string
			var n int
			var until time.Duration
			if err := rows.Scan(&key, &n, &status, &until); err != nil {
				rows.Close()
				return nil, err
			}
			waits[key] = from.say(n, status, until.Round(time.Second))
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return waits, nil
}

func (b *bench) sayClaimed(attempt int, _ string, until time.Duration) string {
	return fmt.Sprintf("its record is PROCESSING, attempt %d, under a lease for %s more: the handler has not ended. Raise patience (%s), or lease (%s) to that of the service, or give the handler less time",
		attempt, length(until), length(b.adapter.Patience.Duration), length(b.adapter.Lease.Duration))
}

func (b *bench) sayRetry(n int, status string, until time.Duration) string {
	text := fmt.Sprintf("its row in msg_retry is %s, after %s", status, plural(n, "retry", "retries"))
	switch {
	case status != "PENDING":
		return text + ": the head of its lane has not ended"
	case until > 0:
		return fmt.Sprintf("%s, and due in %s. Raise patience (%s), or shorten the policy by headers", text, length(until), length(b.adapter.Patience.Duration))
	}
	return fmt.Sprintf("%s, and was due %s ago: no scheduler has taken it. Is there one, in the service or beside? Or raise patience (%s)", text, length(-until), length(b.adapter.Patience.Duration))
}
