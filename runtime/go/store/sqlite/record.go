package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Records reads records, beside the writer.
func (s *Store) Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	records := make([]*store.Record, len(keys))
	for i, key := range keys {
		r, err := scanRecord(scope, key, s.reads["record_read"].QueryRowContext(ctx, scope, key))
		if err != nil {
			return nil, named(fmt.Sprintf("read %d records", len(keys)), err)
		}
		records[i] = r
	}
	return records, nil
}

// Forget leaves a tombstone of each record. (DEDUP-025)
func (s *Store) Forget(ctx context.Context, scope string, keys []string) (int, error) {
	n := 0
	err := s.write(ctx, func() string { return fmt.Sprintf("forget %d keys", len(keys)) }, func(w *writer) error {
		n = 0
		for _, key := range keys {
			changed, err := w.exec("record_forget", scope, key, w.now.UnixMilli(), w.expiry())
			if err != nil {
				return err
			}
			n += int(changed)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Clean removes expired records, and makes tombstones of claims that ended without a word. (DEDUP-025)
func (s *Store) Clean(ctx context.Context, limit int) (int, error) {
	n := int64(0)
	err := s.write(ctx, func() string { return "clean expired records" }, func(w *writer) error {
		now := w.now.UnixMilli()
		claimed, err := w.exec("record_clean_claimed", now, limit, w.expiry())
		if err != nil {
			return err
		}
		n = claimed
		if n < int64(limit) {
			cleaned, err := w.exec("record_clean", now, int64(limit)-n)
			n += cleaned
			return err
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

func (w *writer) record(scope, key string) (*store.Record, error) {
	return scanRecord(scope, key, w.row("record_read", scope, key))
}

// scanRecord is nil where there is no row.
func scanRecord(scope, key string, row *sql.Row) (*store.Record, error) {
	r := store.Record{Scope: scope, Key: key}
	var created, updated, expires int64
	err := row.Scan(&r.State, &r.Fence, &r.Attempts, &r.Owner, &r.RedriveCount, &r.Position, &r.RetryCount, &r.HoldCount,
		&r.LeaseUntilMs, &r.Fingerprint, &r.Result, &created, &updated, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("record_read: %w", err)
	}
	r.CreatedAt, r.UpdatedAt, r.ExpiresAt = timeOf(created), timeOf(updated), timeOf(expires)
	return &r, nil
}

func (w *writer) writeRecord(r *store.Record) error {
	_, err := w.exec("record_write", r.Scope, r.Key, int64(r.State), r.Fence, r.Attempts, r.Owner, r.RedriveCount, r.Position,
		r.RetryCount, r.HoldCount, r.LeaseUntilMs, r.Fingerprint, r.Result,
		r.CreatedAt.UnixMilli(), r.UpdatedAt.UnixMilli(), r.ExpiresAt.UnixMilli())
	return err
}

// timeOf reads a time of the tables, in which 0 is none.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// msOf is the inverse of timeOf.
func msOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
