package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Count adds to the present hour.
func (c *core) Count(ctx context.Context, counts []store.Count) error {
	if len(counts) == 0 {
		return nil
	}
	columns := make([][]string, 5)
	numbers := make([]int64, len(counts))
	for i := range counts {
		n := &counts[i]
		for j, s := range []string{n.Scope, n.EventType, n.Outcome, n.Action, n.Layer} {
			columns[j] = append(columns[j], text(s))
		}
		numbers[i] = n.N
	}
	_, err := c.change(ctx, "audit_count", columns[0], columns[1], columns[2], columns[3], columns[4], numbers)
	return named(fmt.Sprintf("write %d counts", len(counts)), err)
}

// Counts reads what was counted.
func (c *core) Counts(ctx context.Context, f store.CountFilter) ([]store.Count, error) {
	var list []store.Count
	var until *time.Time
	if !f.Until.IsZero() {
		until = &f.Until
	}
	err := c.transact(ctx, work{plans: customPlan}, func(w *work) error {
		list = nil
		w.queue("audit_read", store.Hour(f.Since), until, f.Scope, int64(f.By/time.Hour), f.ByScope, f.ByEventType).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var n store.Count
				var hour *time.Time
				if err := rows.Scan(&hour, &n.Scope, &n.EventType, &n.Outcome, &n.Action, &n.Layer, &n.N); err != nil {
					return err
				}
				if hour != nil {
					n.Hour = hour.UTC()
				}
				list = append(list, n)
			}
			return rows.Err()
		})
		return nil
	})
	if err != nil {
		return nil, named("read counts", err)
	}
	slices.SortFunc(list, func(a, b store.Count) int { return a.Compare(&b) })
	return list, nil
}

// CleanCounts removes old hours.
func (c *core) CleanCounts(ctx context.Context, limit int) (int, error) {
	n, err := c.change(ctx, "audit_clean", store.AuditRetention.Milliseconds(), limit)
	return n, named(fmt.Sprintf("clean %d counts", limit), err)
}
