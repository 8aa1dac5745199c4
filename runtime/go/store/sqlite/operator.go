package sqlite

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/store"
)

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

// RecentDeadLetters gives dead letters, newest first.
func (s *Store) RecentDeadLetters(ctx context.Context, f store.DeadLetterFilter, after store.Cursor, limit int) ([]store.DeadLetter, error) {
	var letters []store.DeadLetter
	rows, err := s.reads["dead_letter_recent"].QueryContext(ctx, append(filterArgs(&f), msOf(after.CreatedAt), after.ID, max(limit, 0))...)
	if err == nil {
		letters, err = scanAll(rows, scanDeadLetter)
	}
	return letters, named("list dead letters", err)
}
