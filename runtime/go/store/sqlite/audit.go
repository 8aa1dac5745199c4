package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Count adds to the present hour.
func (s *Store) Count(ctx context.Context, counts []store.Count) error {
	if len(counts) == 0 {
		return nil
	}
	return s.write(ctx, func() string { return fmt.Sprintf("write %d counts", len(counts)) }, func(w *writer) error {
		hour := store.Hour(w.now).UnixMilli()
		for i := range counts {
			n := &counts[i]
			if _, err := w.exec("audit_count", hour, n.Scope, n.EventType, n.Outcome, n.Action, n.Layer, n.N); err != nil {
				return err
			}
		}
		return nil
	})
}

// Counts reads what was counted.
func (s *Store) Counts(ctx context.Context, f store.CountFilter) ([]store.Count, error) {
	rows, err := s.reads["audit_read"].QueryContext(ctx, msOf(store.Hour(f.Since)), msOf(f.Until), f.Scope, f.By.Milliseconds(), f.ByScope, f.ByEventType)
	var counts []store.Count
	if err == nil {
		counts, err = scanAll(rows, scanCount)
	}
	return counts, named("read counts", err)
}

func scanCount(rows *sql.Rows) (n store.Count, err error) {
	var hour int64
	err = rows.Scan(&hour, &n.Scope, &n.EventType, &n.Outcome, &n.Action, &n.Layer, &n.N)
	if hour != 0 {
		n.Hour = time.UnixMilli(hour).UTC()
	}
	return n, err
}

// CleanCounts removes old hours.
func (s *Store) CleanCounts(ctx context.Context, limit int) (int, error) {
	n := int64(0)
	err := s.write(ctx, func() string { return "clean counts" }, func(w *writer) (err error) {
		n, err = w.exec("audit_clean", w.now.Add(-store.AuditRetention).UnixMilli(), limit)
		return err
	})
	return int(n), err
}
