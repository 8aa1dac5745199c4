package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

type retryID struct {
	scope, key, topic string
	partition         int32
	offset            int64
}

func (r retryID) compare(o retryID) int {
	return cmp.Or(cmp.Compare(r.scope, o.scope), cmp.Compare(r.key, o.key), cmp.Compare(r.topic, o.topic),
		cmp.Compare(r.partition, o.partition), cmp.Compare(r.offset, o.offset))
}

type retryRow struct {
	*store.Retry
	id     retryID
	lane   store.Lane
	status store.RetryStatus
}

// retryRows are the rows of msg_retry that a transaction writes, each once.
type retryRows struct {
	rows  []retryRow
	at    map[retryID]int
	known map[retryID]progress // of those that were asked for; -1 where there is no row
}

// progress is how far on a delivery is.
type progress struct {
	redrive  int32
	position int64
}

func progressOf(r *store.Retry) progress { return progress{r.RedriveCount, r.Position()} }

// behind says that there is less of it than of another: a row is not taken back.
func (p progress) behind(o progress) bool {
	return p.redrive < o.redrive || p.redrive == o.redrive && p.position < o.position
}

// lock reads how far on the rows of some deliveries are.
func (b *retryRows) lock(w *work, deliveries []*store.Retry) {
	if len(deliveries) == 0 {
		return
	}
	var ids []retryID
	b.known = make(map[retryID]progress)
	for _, r := range deliveries {
		id := idOfRetry(r)
		if _, twice := b.known[id]; !twice {
			ids = append(ids, id)
			b.known[id] = progress{-1, -1}
		}
	}
	slices.SortFunc(ids, retryID.compare)
	n := len(ids)
	scopes, keys, topics, partitions, offsets := make([]string, n), make([]string, n), make([]string, n), make([]int32, n), make([]int64, n)
	for i, id := range ids {
		scopes[i], keys[i], topics[i], partitions[i], offsets[i] = id.scope, id.key, id.topic, id.partition, id.offset
	}
	w.queue("retry_lock", scopes, keys, topics, partitions, offsets).Query(func(rows pgx.Rows) error {
		var n int64
		var p progress
		_, err := pgx.ForEachRow(rows, []any{&n, &p.redrive, &p.position}, func() error {
			b.known[ids[n-1]] = p
			return nil
		})
		return err
	})
}

// add takes the one that is further on of two for the same delivery, as the table does, and says whether it took
// this one; of rows that were not asked for it believes so.
func (b *retryRows) add(r *store.Retry, lane store.Lane, status store.RetryStatus) bool {
	row := retryRow{Retry: r, lane: lane, status: status, id: idOfRetry(r)}
	if old, asked := b.known[row.id]; asked && progressOf(r).behind(old) {
		return false
	}
	i, twice := b.at[row.id]
	switch {
	case !twice:
		if b.at == nil {
			b.at = make(map[retryID]int)
		}
		b.at[row.id] = len(b.rows)
		b.rows = append(b.rows, row)
	case progressOf(r).behind(progressOf(b.rows[i].Retry)):
		return false
	default:
		b.rows[i] = row
	}
	return true
}

func idOfRetry(r *store.Retry) retryID {
	return retryID{text(r.Scope), text(r.Key), text(r.SourceTopic), r.SourcePartition, r.SourceOffset}
}

// write sends them in the order they were given, which is that of their ids: those of one lane are parked in it.
// Two batches that hold the same rows may block each other, and one is begun again.
func (b *retryRows) write(w *work) {
	n := len(b.rows)
	if n == 0 {
		return
	}
	var (
		scopes, keys, topics, actions, statuses = make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		laneTopics, laneKeys, ids, types        = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		bizKeys, reasons, targets, headers      = make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		partitions, redrives, retries, holds    = make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
		offsets, dues                           = make([]int64, n), make([]int64, n)
		messageKeys, payloads                   = make([][]byte, n), make([][]byte, n)
	)
	for i := range b.rows {
		r := &b.rows[i]
		scopes[i], keys[i], topics[i], partitions[i], offsets[i] = r.id.scope, r.id.key, r.id.topic, r.id.partition, r.id.offset
		redrives[i], retries[i], holds[i] = r.RedriveCount, r.RetryCount, r.HoldCount
		actions[i], statuses[i], dues[i] = r.Action.String(), string(r.status), r.Due.Milliseconds()
		laneTopics[i], laneKeys[i] = r.lane.Topic, text(r.lane.BizKey)
		ids[i], types[i], bizKeys[i], reasons[i] = text(r.EventID), text(r.EventType), text(r.BizKey), text(r.Reason)
		targets[i], headers[i], messageKeys[i], payloads[i] = text(r.Topic), store.EncodeHeaders(r.Headers), r.MessageKey, r.Payload
	}
	w.queue("retry_put", scopes, keys, topics, partitions, offsets, redrives, retries, holds, actions, statuses, dues, laneTopics, laneKeys,
		ids, types, bizKeys, reasons, targets, headers, messageKeys, payloads)
}

// ClaimDue claims rows that are due.
func (c *core) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	due, err := list(ctx, c, "", "retry_claim", func(row pgx.CollectableRow) (store.Retry, error) {
		return scanRetry(row, &store.Retry{Token: token, Status: store.RetryPending})
	}, token, max(limit, 0), lease.Milliseconds())
	if err != nil {
		return nil, named(fmt.Sprintf("claim %d due rows", limit), err)
	}
	slices.SortFunc(due, func(a, b store.Retry) int {
		return cmp.Or(a.NextRetryTime.Compare(b.NextRetryTime), cmp.Compare(a.ID, b.ID))
	})
	return due, nil
}

// scanRetry reads a row's columns into r, and those behind them into more.
func scanRetry(row pgx.CollectableRow, r *store.Retry, more ...any) (store.Retry, error) {
	var action, headers string
	err := row.Scan(append([]any{&r.ID, &r.Scope, &r.Key, &r.EventType, &r.BizKey, &r.EventID, &r.SourceTopic, &r.SourcePartition, &r.SourceOffset,
		&r.RedriveCount, &r.RetryCount, &r.HoldCount, &action, &r.Reason, &r.Topic, &r.MessageKey, &headers, &r.Payload, &r.NextRetryTime,
		&r.Lane.Topic, &r.Lane.BizKey, &r.Publications, &r.CreatedAt}, more...)...)
	r.Action, _ = idem.ParseAction(action)
	r.Headers = headersOf(headers, fmt.Sprintf("msg_retry %d", r.ID))
	return *r, err
}

// columnsOfMarks are parameters of retry_mark and retry_postpone.
func columnsOfMarks(marks []store.Mark) (ids []int64, tokens []string, redrives []int32, positions []int64) {
	for i := range marks {
		m := &marks[i]
		ids, tokens, redrives, positions = append(ids, m.ID), append(tokens, m.Token), append(redrives, m.RedriveCount), append(positions, m.Position)
	}
	return ids, tokens, redrives, positions
}

// MarkPublished removes rows.
func (c *core) MarkPublished(ctx context.Context, marks []store.Mark) ([]bool, error) {
	if len(marks) == 0 {
		return nil, nil
	}
	ids, tokens, redrives, positions := columnsOfMarks(marks)
	removed, err := c.places(ctx, len(marks), "retry_mark", ids, tokens, redrives, positions)
	if err != nil {
		return nil, named(fmt.Sprintf("mark %d rows", len(marks)), err)
	}
	return removed, nil
}

// Postpone gives claims back.
func (c *core) Postpone(ctx context.Context, marks []store.Mark, due time.Duration) error {
	if len(marks) == 0 {
		return nil
	}
	ids, tokens, redrives, positions := columnsOfMarks(marks)
	_, err := c.change(ctx, "retry_postpone", ids, tokens, redrives, positions, due.Milliseconds())
	return named(fmt.Sprintf("postpone %d rows", len(marks)), err)
}

// NextDue is how long until a row can be claimed, in whole milliseconds, rounded up.
func (c *core) NextDue(ctx context.Context) (time.Duration, bool, error) {
	next, err := ask[*int64](ctx, c, "retry_next")
	if err != nil || next == nil {
		return 0, false, named("look for due rows", err)
	}
	return time.Duration(*next) * time.Millisecond, true, nil
}

// Wake makes held rows due now, and says how many were not.
func (c *core) Wake(ctx context.Context, scope, bizKey string) (int, error) {
	n, err := c.change(ctx, "retry_wake", scope, text(bizKey))
	return n, named("wake", err)
}

// CountRetries counts rows.
func (c *core) CountRetries(ctx context.Context) (store.RetryCounts, error) {
	var counts store.RetryCounts
	err := c.transact(ctx, work{}, func(w *work) error {
		w.queue("retry_count").QueryRow(func(row pgx.Row) error {
			var oldest int64
			err := row.Scan(&counts.Pending, &counts.Parked, &oldest)
			counts.OldestDue = time.Duration(oldest) * time.Millisecond
			return err
		})
		return nil
	})
	return counts, named("count retries", err)
}
