package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"math"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

var _ store.Lookup = (*Store)(nil)

// BeginOperation writes what an operator is about to do.
func (s *Store) BeginOperation(ctx context.Context, o store.Operation) (id int64, err error) {
	err = s.write(ctx, func() string { return "log the operation" }, func(w *writer) error {
		return w.row("operation_begin", o.Operator, o.Command, o.Reason, o.Target, w.now.UnixMilli()).Scan(&id)
	})
	return id, err
}

// EndOperation says how much it changed.
func (s *Store) EndOperation(ctx context.Context, id, changed int64) error {
	return s.write(ctx, func() string { return "log the operation's end" }, func(w *writer) error {
		_, err := w.exec("operation_end", id, changed, w.now.UnixMilli())
		return err
	})
}

// Scopes are those of the tables.
func (s *Store) Scopes(ctx context.Context) ([]string, error) {
	rows, err := s.reads["scopes"].QueryContext(ctx)
	var scopes []string
	if err == nil {
		scopes, err = scanAll(rows, func(rows *sql.Rows) (scope string, err error) { return scope, rows.Scan(&scope) })
	}
	return scopes, named("list scopes", err)
}

// ListRetries gives deliveries to come in the order of IDs.
func (s *Store) ListRetries(ctx context.Context, f store.RetryFilter, after int64, limit int) ([]store.Retry, error) {
	rows, err := s.reads["retry_list"].QueryContext(ctx, f.Scope, f.Key, f.EventType, f.Action, string(f.Status), f.ReasonPrefix,
		after, max(limit, 0), s.now().UnixMilli())
	var list []store.Retry
	if err == nil {
		list, err = scanAll(rows, scanRetry)
	}
	return list, named("list retries", err)
}

// DeadLetterValues are those of the newest dead letters that wait.
func (s *Store) DeadLetterValues(ctx context.Context, limit int) (store.Values, error) {
	v, err := s.values(ctx, "dead_values", limit)
	return v, named("look what dead letters there are", err)
}

// RetryValues are those of the newest deliveries to come.
func (s *Store) RetryValues(ctx context.Context, limit int) (store.Values, error) {
	v, err := s.values(ctx, "retry_values", limit)
	return v, named("look what retries there are", err)
}

func (s *Store) values(ctx context.Context, statement string, limit int) (v store.Values, err error) {
	rows, err := s.reads[statement].QueryContext(ctx, limit)
	if err == nil {
		_, err = scanAll(rows, func(rows *sql.Rows) (none struct{}, err error) {
			var kind, value string
			if err = rows.Scan(&kind, &value); err == nil {
				v.Add(kind, value)
			}
			return none, err
		})
	}
	return v, err
}

// FindOutgoing gives the messages in the outbox that have a key.
func (s *Store) FindOutgoing(ctx context.Context, key string, newest int) ([]store.Outgoing, error) {
	rows, err := s.reads["outbox_find"].QueryContext(ctx, store.HeaderText(idem.IdempotencyKey.String(), key), max(newest, 0))
	var found []store.Outgoing
	if err == nil {
		found, err = scanAll(rows, scanOutgoing)
	}
	return found, named("look for a key in the outbox", err)
}

// Operations gives changes by hand, the newest first.
func (s *Store) Operations(ctx context.Context, before int64, limit int) ([]store.LoggedOperation, error) {
	rows, err := s.reads["operation_list"].QueryContext(ctx, cmp.Or(before, math.MaxInt64), max(limit, 0))
	var list []store.LoggedOperation
	if err == nil {
		list, err = scanAll(rows, scanOperation)
	}
	return list, named("list operations", err)
}

func scanOperation(rows *sql.Rows) (o store.LoggedOperation, err error) {
	var begun, ended int64
	err = rows.Scan(&o.ID, &begun, &ended, &o.Changed, &o.Operator, &o.Command, &o.Reason, &o.Target)
	o.BegunAt, o.EndedAt = timeOf(begun), timeOf(ended)
	return o, err
}

// RecentDeadLetters gives dead letters without their payloads, newest first.
func (s *Store) RecentDeadLetters(ctx context.Context, f store.DeadLetterFilter, after store.Cursor, limit int) ([]store.DeadLetter, error) {
	var letters []store.DeadLetter
	rows, err := s.reads["dead_letter_recent"].QueryContext(ctx, append(filterArgs(&f), msOf(after.CreatedAt), after.ID, max(limit, 0))...)
	if err == nil {
		letters, err = scanAll(rows, func(rows *sql.Rows) (store.DeadLetter, error) {
			d, err := scanDeadLetter(rows)
			if f.Digests { // SQLite has none
				sum := sha256.Sum256(d.Payload)
				d.PayloadSHA256 = sum[:]
			}
			d.Payload, d.PayloadBytes = nil, len(d.Payload)
			return d, err
		})
	}
	return letters, named("list dead letters", err)
}
