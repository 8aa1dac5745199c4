package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/store"
)

// head is the key at the head of a lane, and false where the lane is not parked.
func (w *writer) head(scope string, lane store.Lane) (string, bool, error) {
	var head string
	err := w.row("lane_read", scope, lane.Topic, lane.BizKey).Scan(&head)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("lane_read: %w", err)
	}
	return head, true, nil
}

func (w *writer) setHead(scope string, lane store.Lane, key string) error {
	_, err := w.exec("lane_write", scope, lane.Topic, lane.BizKey, key, w.now.UnixMilli())
	return err
}

// leaveLane lets the next message of a lane go, where key is its head.
func (w *writer) leaveLane(scope string, lane store.Lane, key string) error {
	head, parked, err := w.head(scope, lane)
	if err != nil || !parked || head != key {
		return err
	}
	return w.letGo(scope, lane)
}

// letGo makes the key of the first parked message the head, and all its rows due, or the lane free. (CONS-014)
func (w *writer) letGo(scope string, lane store.Lane) error {
	var next string
	err := w.row("lane_next", scope, lane.Topic, lane.BizKey).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		_, err := w.exec("lane_delete", scope, lane.Topic, lane.BizKey)
		return err
	}
	if err != nil {
		return fmt.Errorf("lane_next: %w", err)
	}
	if _, err := w.exec("lane_release", scope, lane.Topic, lane.BizKey, next, w.now.UnixMilli()); err != nil {
		return err
	}
	return w.setHead(scope, lane, next)
}

// settleRetry writes the delivery to come, and finds its place in its lane. (CONS-013, CONS-014)
func (w *writer) settleRetry(s *store.Settlement, scope, key, head string, parked bool) error {
	r := *s.Retry
	r.Lane, r.Status = s.Lane, store.RetryPending
	ordered := s.Lane.Set() && key != "" && !s.Leave
	if ordered && parked && head != key {
		r.Status = store.RetryParked
	}
	written, err := w.writeRetry(&r)
	if err != nil || !written || !ordered || parked {
		return err
	}
	return w.setHead(scope, s.Lane, key)
}

// SweepLanes lets go the next message of each lane whose head is done, or has no row and has not changed for
// as long as records are kept. A younger head without a row is in the retry topic. (CONS-015)
func (s *Store) SweepLanes(ctx context.Context, limit int) (int, error) {
	type swept struct {
		scope string
		lane  store.Lane
	}
	n := 0
	err := s.write(ctx, func() string { return "sweep parked lanes" }, func(w *writer) error {
		rows, err := w.query("lane_done", limit, w.now.Add(-w.retention).UnixMilli())
		if err != nil {
			return err
		}
		done, err := scanAll(rows, func(rows *sql.Rows) (l swept, err error) {
			err = rows.Scan(&l.scope, &l.lane.Topic, &l.lane.BizKey)
			return l, err
		})
		if err != nil {
			return fmt.Errorf("lane_done: %w", err)
		}
		for _, l := range done {
			if err := w.letGo(l.scope, l.lane); err != nil {
				return err
			}
		}
		n = len(done)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
