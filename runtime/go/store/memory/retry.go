package memory

import (
	"container/heap"
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

type retryID struct {
	scope, key, topic string
	partition         int32
	offset            int64
}

type retryRow struct {
	store.Retry
	at   time.Time // when it can be claimed: due, and no longer claimed
	heap int       // its place among the due rows; -1 where it is parked
}

// putRetry writes a row, or raises the one that the same delivery has caused before, and says whether it
// did. A row that is further on already stays as it is. (DEDUP-027)
func (s *Store) putRetry(r *store.Retry, now time.Time) bool {
	id := retryID{r.Scope, r.Key, r.SourceTopic, r.SourcePartition, r.SourceOffset}
	row := s.retries[id]
	if row == nil {
		s.lastRetry++
		row = &retryRow{Retry: *r, heap: -1}
		row.ID, row.CreatedAt, row.Publications = s.lastRetry, now, 0
		s.retries[id], s.retryByID[row.ID] = row, row
	} else {
		if r.RedriveCount < row.RedriveCount || r.RedriveCount == row.RedriveCount && r.Position() < row.Position() {
			return false
		}
		s.unschedule(row)
		old := row.Retry
		row.Retry = *r
		row.ID, row.CreatedAt, row.Publications = old.ID, old.CreatedAt, old.Publications
	}
	row.Park, row.Token = false, ""
	row.NextRetryTime = now.Add(r.Due)
	s.schedule(row)
	return true
}

// schedule puts a row where its status says.
func (s *Store) schedule(row *retryRow) {
	if row.Status == store.RetryParked {
		if l := s.lanes[laneOf(row.Scope, row.Lane)]; l != nil {
			l.park(row)
		}
		return
	}
	row.at = row.NextRetryTime
	heap.Push(&s.due, row)
}

func (s *Store) unschedule(row *retryRow) {
	if row.heap >= 0 {
		heap.Remove(&s.due, row.heap)
		return
	}
	if l := s.lanes[laneOf(row.Scope, row.Lane)]; l != nil {
		l.unpark(row)
	}
}

// ClaimDue claims rows that are due.
func (s *Store) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	if err := s.begin(ctx, "claim", limit, "due rows"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	var rows []store.Retry
	for len(rows) < limit && len(s.due) > 0 && !s.due[0].at.After(now) {
		row := s.due[0]
		row.Token, row.at = token, now.Add(max(lease, 1)) // or it would be claimed again at once
		row.Publications++
		heap.Fix(&s.due, 0)
		rows = append(rows, row.Retry)
	}
	return rows, nil
}

// marked is the row that a mark means, nil where it has changed since.
func (s *Store) marked(m *store.Mark) *retryRow {
	row := s.retryByID[m.ID]
	if row == nil || m.Token == "" || row.Token != m.Token || row.RedriveCount != m.RedriveCount || row.Position() != m.Position {
		return nil
	}
	return row
}

// MarkPublished removes rows.
func (s *Store) MarkPublished(ctx context.Context, marks []store.Mark) ([]bool, error) {
	if err := s.begin(ctx, "mark", len(marks), "rows"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	removed := make([]bool, len(marks))
	for i := range marks {
		row := s.marked(&marks[i])
		if row == nil {
			continue
		}
		removed[i] = true
		s.unschedule(row)
		delete(s.retryByID, row.ID)
		delete(s.retries, retryID{row.Scope, row.Key, row.SourceTopic, row.SourcePartition, row.SourceOffset})
	}
	return removed, nil
}

// Postpone gives claims back.
func (s *Store) Postpone(ctx context.Context, marks []store.Mark, due time.Duration) error {
	if err := s.begin(ctx, "postpone", len(marks), "rows"); err != nil {
		return err
	}
	defer s.mu.Unlock()
	now := s.now()
	for i := range marks {
		if row := s.marked(&marks[i]); row != nil {
			row.Token, row.NextRetryTime = "", now.Add(due)
			row.at = row.NextRetryTime
			heap.Fix(&s.due, row.heap)
		}
	}
	return nil
}

// NextDue is how long until a row can be claimed.
func (s *Store) NextDue(ctx context.Context) (time.Duration, bool, error) {
	if err := s.begin(ctx, "look for due rows", 0, ""); err != nil {
		return 0, false, err
	}
	defer s.mu.Unlock()
	if len(s.due) == 0 {
		return 0, false, nil
	}
	return max(s.due[0].at.Sub(s.now()), 0), true, nil
}

// Wake makes held rows due now, and says how many were not.
func (s *Store) Wake(ctx context.Context, scope, bizKey string) (int, error) {
	if err := s.begin(ctx, "wake", 0, ""); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	now := s.now()
	n := 0
	for _, row := range s.retries {
		if row.Scope != scope || row.BizKey != bizKey || row.Action != idem.ActionHold || row.heap < 0 || !row.NextRetryTime.After(now) {
			continue
		}
		row.NextRetryTime, row.at = now, now
		heap.Fix(&s.due, row.heap)
		n++
	}
	return n, nil
}

// CountRetries counts rows.
func (s *Store) CountRetries(ctx context.Context) (store.RetryCounts, error) {
	if err := s.begin(ctx, "count retries", 0, ""); err != nil {
		return store.RetryCounts{}, err
	}
	defer s.mu.Unlock()
	now := s.now()
	var c store.RetryCounts
	for _, row := range s.retries {
		if row.heap < 0 {
			c.Parked++
			continue
		}
		c.Pending++
		c.OldestDue = max(c.OldestDue, now.Sub(row.NextRetryTime))
	}
	return c, nil
}

// dueRows are the pending rows, a heap by when they can be claimed.
type dueRows []*retryRow

func (d dueRows) Len() int { return len(d) }

func (d dueRows) Less(i, j int) bool {
	if !d[i].at.Equal(d[j].at) {
		return d[i].at.Before(d[j].at)
	}
	return d[i].ID < d[j].ID
}

func (d dueRows) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].heap, d[j].heap = i, j
}

func (d *dueRows) Push(x any) {
	row := x.(*retryRow)
	row.heap = len(*d)
	*d = append(*d, row)
}

func (d *dueRows) Pop() any {
	last := len(*d) - 1
	row := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	row.heap = -1
	return row
}
