package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// BeginOperation writes what an operator is about to do.
func (c *core) BeginOperation(ctx context.Context, o store.Operation) (int64, error) {
	id, err := ask[int64](ctx, c, "operation_begin", text(o.Operator), text(o.Command), text(o.Reason), text(o.Target))
	return id, named("log the operation", err)
}

// EndOperation says how much it changed.
func (c *core) EndOperation(ctx context.Context, id, changed int64) error {
	_, err := c.change(ctx, "operation_end", id, changed)
	return named("log the operation's end", err)
}

// Scopes are those of the tables.
func (c *core) Scopes(ctx context.Context) ([]string, error) {
	var scopes []string
	err := c.transact(ctx, work{}, func(w *work) error {
		scopes = nil
		w.queue("scopes").Query(func(rows pgx.Rows) (err error) {
			scopes, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		return nil
	})
	return scopes, named("list scopes", err)
}

// ListRetries gives deliveries to come in the order of IDs. Those of a key are looked up in each scope: the index of
// keys begins with the scope.
func (c *core) ListRetries(ctx context.Context, f store.RetryFilter, after int64, limit int) ([]store.Retry, error) {
	if f.Key == "" || f.Scope != "" {
		return c.listRetries(ctx, f, after, limit)
	}
	scopes, err := c.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	var all []store.Retry
	for _, f.Scope = range scopes {
		list, err := c.listRetries(ctx, f, after, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b store.Retry) int { return cmp.Compare(a.ID, b.ID) })
	return all[:min(len(all), max(limit, 0))], nil
}

func (c *core) listRetries(ctx context.Context, f store.RetryFilter, after int64, limit int) ([]store.Retry, error) {
	var list []store.Retry
	err := c.transact(ctx, work{plans: customPlan}, func(w *work) error {
		list = nil
		w.queue("retry_list", f.Scope, f.Key, f.EventType, f.Action, string(f.Status), f.ReasonPrefix, after, max(limit, 0)).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var r store.Retry
				if err := scanRetry(rows, &r, &r.Status, &r.Token); err != nil {
					return err
				}
				list = append(list, r)
			}
			return rows.Err()
		})
		return nil
	})
	if err != nil {
		return nil, named("list retries", err)
	}
	return list, nil
}

// FindOutgoing gives the messages in the outbox that have a key.
func (c *core) FindOutgoing(ctx context.Context, key string, newest int) ([]store.Outgoing, error) {
	var found []store.Outgoing
	err := c.transact(ctx, work{}, func(w *work) error {
		found = nil
		w.queue("outbox_find", store.HeaderText(idem.IdempotencyKey.String(), key), max(newest, 0)).Query(func(rows pgx.Rows) (err error) {
			found, err = scanOutgoing(rows, "")
			return err
		})
		return nil
	})
	if err != nil {
		return nil, named("look for a key in the outbox", err)
	}
	return found, nil
}

// Operations gives changes by hand, the newest first.
func (c *core) Operations(ctx context.Context, before int64, limit int) ([]store.LoggedOperation, error) {
	var list []store.LoggedOperation
	err := c.transact(ctx, work{}, func(w *work) error {
		list = nil
		w.queue("operation_list", cmp.Or(before, math.MaxInt64), max(limit, 0)).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var o store.LoggedOperation
				var ended *time.Time
				if err := rows.Scan(&o.ID, &o.BegunAt, &ended, &o.Changed, &o.Operator, &o.Command, &o.Reason, &o.Target); err != nil {
					return err
				}
				if ended != nil {
					o.EndedAt = *ended
				}
				list = append(list, o)
			}
			return rows.Err()
		})
		return nil
	})
	if err != nil {
		return nil, named("list operations", err)
	}
	return list, nil
}

// RecentDeadLetters gives dead letters, newest first.
func (c *core) RecentDeadLetters(ctx context.Context, f store.DeadLetterFilter, after store.Cursor, limit int) ([]store.DeadLetter, error) {
	var letters []store.DeadLetter
	var since *time.Time
	if !after.CreatedAt.IsZero() {
		since = &after.CreatedAt
	}
	err := c.transact(ctx, work{plans: customPlan}, func(w *work) error {
		letters = nil
		w.queue("dead_recent", append(columnsOfFilter(&f), since, after.ID, max(limit, 0))...).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var d store.DeadLetter
				if err := scanDead(rows, &d); err != nil {
					return err
				}
				letters = append(letters, d)
			}
			return rows.Err()
		})
		return nil
	})
	if err != nil {
		return nil, named("list dead letters", err)
	}
	return letters, nil
}

// RetryNow makes pending rows due.
func (c *core) RetryNow(ctx context.Context, ids []int64) (int, error) {
	n, err := c.change(ctx, "retry_now", ids)
	return n, named(fmt.Sprintf("make %d retries due", len(ids)), err)
}

// CancelRetries makes dead letters of rows.
func (c *core) CancelRetries(ctx context.Context, ids []int64, reason string) (int, error) {
	n, err := c.change(ctx, "retry_cancel", ids, text(reason), c.config.Retention.Milliseconds())
	return n, named(fmt.Sprintf("cancel %d retries", len(ids)), err)
}

// Release ends leases.
func (c *core) Release(ctx context.Context, scope string, keys []string) (int, error) {
	n, err := c.change(ctx, "release", scope, keys)
	return n, named(fmt.Sprintf("release %d keys", len(keys)), err)
}
