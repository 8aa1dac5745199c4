package memory

import (
	"context"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

type laneID struct{ scope, topic, bizKey string }

// lane is a row of idem_lane with the rows that wait in it.
type lane struct {
	head   string
	since  time.Time
	parked []*retryRow // in the order of IDs
}

func laneOf(scope string, l store.Lane) laneID { return laneID{scope, l.Topic, l.BizKey} }

// leave lets the next message of a lane go, where key is its head.
func (s *Store) leave(at laneID, key string, now time.Time) {
	if l := s.lanes[at]; l != nil && l.head == key {
		s.promote(at, l, now)
	}
}

// promote makes the first row that waits the head, due now, with all other rows of its key: a copy that is
// stale would else be the head while the delivery that is not waits behind its own key. A lane in which
// none waits is over.
func (s *Store) promote(at laneID, l *lane, now time.Time) {
	if len(l.parked) == 0 {
		delete(s.lanes, at)
		return
	}
	l.head, l.since = l.parked[0].Key, now
	l.parked = slices.DeleteFunc(l.parked, func(row *retryRow) bool {
		if row.Key != l.head {
			return false
		}
		row.Status, row.NextRetryTime = store.RetryPending, now
		s.schedule(row)
		return true
	})
}

func (l *lane) park(row *retryRow) {
	i, _ := slices.BinarySearchFunc(l.parked, row.ID, byID)
	l.parked = slices.Insert(l.parked, i, row)
}

func (l *lane) unpark(row *retryRow) {
	if i, found := slices.BinarySearchFunc(l.parked, row.ID, byID); found {
		l.parked = slices.Delete(l.parked, i, i+1)
	}
}

func byID(row *retryRow, id int64) int { return int(row.ID - id) }

// SweepLanes lets go the next message of each lane whose head is done: its record is SUCCESS or DEAD, or
// it has no row and nothing of it has changed for the retention.
func (s *Store) SweepLanes(ctx context.Context, limit int) (int, error) {
	if err := s.begin(ctx, "sweep", limit, "lanes"); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	now := s.now()
	n := 0
	for at, l := range s.lanes {
		if n >= limit {
			break
		}
		if s.headIsDone(at, l, now) {
			s.promote(at, l, now)
			n++
		}
	}
	return n, nil
}

func (s *Store) headIsDone(at laneID, l *lane, now time.Time) bool {
	changed := l.since
	if e := s.records.get(at.scope, l.head); e != nil {
		if e.State == idem.StateSuccess || e.State == idem.StateDead {
			return true
		}
		changed = later(changed, e.UpdatedAt)
	}
	if changed.Add(s.retention).After(now) {
		return false
	}
	for _, row := range s.retries {
		if row.Scope == at.scope && row.Key == l.head {
			return false
		}
	}
	return true
}
