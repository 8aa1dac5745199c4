package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
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
	scopes, err := list(ctx, c, "", "scopes", pgx.RowTo[string])
	return scopes, named("list scopes", err)
}

// ListRetries gives deliveries to come in the order of IDs. Those of a key are looked up in each scope: the index of
// keys begins with the scope.
func (c *core) ListRetries(ctx context.Context, f store.RetryFilter, after int64, limit int) ([]store.Retry, error) {
	limit = max(limit, 0)
	code, _, detailed := strings.Cut(f.ReasonPrefix, ":")
	switch {
	case f.Key != "":
		scopes := []string{f.Scope}
		if f.Scope == "" {
			var err error
			if scopes, err = c.Scopes(ctx); err != nil {
				return nil, err
			}
		}
		return c.listRetries(ctx, "retry_find", f, f.ReasonPrefix, after, limit, f.Key, scopes)
	case !detailed:
		return c.listRetries(ctx, "retry_list", f, code, after, limit, f.Scope)
	}
	// No index knows details: where few rows have the code, they are looked through, else all rows are.
	few, err := c.listRetries(ctx, "retry_list", f, code, after, fewRetries, f.Scope)
	if err != nil {
		return nil, err
	}
	if len(few) == fewRetries {
		return c.listRetries(ctx, "retry_walk", f, f.ReasonPrefix, after, limit, f.Scope)
	}
	few = slices.DeleteFunc(few, func(r store.Retry) bool { return !strings.HasPrefix(r.Reason, f.ReasonPrefix) })
	return few[:min(len(few), limit)], nil
}

// fewRetries are read faster than a large table is.
const fewRetries = 2000

func (c *core) listRetries(ctx context.Context, statement string, f store.RetryFilter, reason string, after int64, limit int, of ...any) ([]store.Retry, error) {
	retries, err := list(ctx, c, "", statement, func(row pgx.CollectableRow) (store.Retry, error) {
		var r store.Retry
		return scanRetry(row, &r, &r.Status, &r.Token)
	}, append(of, f.EventType, f.Action, string(f.Status), reason, after, limit)...)
	return retries, named("list retries", err)
}

// DeadLetterValues are those of dead letters that wait.
func (c *core) DeadLetterValues(ctx context.Context, limit int) (store.Values, error) {
	v, err := c.values(ctx, "dead_values", limit)
	return v, named("look what dead letters there are", err)
}

// RetryValues are those of deliveries to come.
func (c *core) RetryValues(ctx context.Context, limit int) (store.Values, error) {
	v, err := c.values(ctx, "retry_values", limit)
	return v, named("look what retries there are", err)
}

func (c *core) values(ctx context.Context, statement string, limit int) (v store.Values, err error) {
	type row struct{ Kind, Value string }
	rows, err := list(ctx, c, "", statement, pgx.RowToStructByPos[row], limit)
	for _, r := range rows {
		v.Add(r.Kind, r.Value)
	}
	return v, err
}

// FindOutgoing gives the messages in the outbox that have a key.
func (c *core) FindOutgoing(ctx context.Context, key string, newest int) ([]store.Outgoing, error) {
	found, err := list(ctx, c, "", "outbox_find", scanOutgoing(""), store.HeaderText(idem.IdempotencyKey.String(), key), max(newest, 0))
	return found, named("look for a key in the outbox", err)
}

// Operations gives changes by hand, the newest first.
func (c *core) Operations(ctx context.Context, before int64, limit int) ([]store.LoggedOperation, error) {
	operations, err := list(ctx, c, "", "operation_list", func(row pgx.CollectableRow) (o store.LoggedOperation, err error) {
		var ended *time.Time
		err = row.Scan(&o.ID, &o.BegunAt, &ended, &o.Changed, &o.Operator, &o.Command, &o.Reason, &o.Target)
		if ended != nil {
			o.EndedAt = *ended
		}
		return o, err
	}, cmp.Or(before, math.MaxInt64), max(limit, 0))
	return operations, named("list operations", err)
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
