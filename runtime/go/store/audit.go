package store

import (
	"cmp"
	"context"
	"time"
)

// AuditRetention is how long hours are kept in idem_audit. (CONS-042)
const AuditRetention = 90 * 24 * time.Hour

// Superseded is the outcome of a Count whose transition another key had made. (CONS-041)
const Superseded = "SUPERSEDED"

// Audit is the table idem_audit: what became of deliveries, counted. (CONS-040)
type Audit interface {
	// Count adds to the present hour of the store's clock, whatever the hour of the counts says.
	Count(ctx context.Context, counts []Count) error
	// Counts reads what was counted, in the order of Count.Compare.
	Counts(ctx context.Context, f CountFilter) ([]Count, error)
	// CleanCounts removes at most limit rows of hours that are older than AuditRetention, and says how many; fewer
	// than limit means that there is nothing more to do for now.
	CleanCounts(ctx context.Context, limit int) (int, error)
}

// Count is how many deliveries of one kind there were in an hour.
type Count struct {
	Hour      time.Time // its begin, or that of a longer span, in UTC
	Scope     string
	EventType string
	Outcome   string // of chapter 7, or Superseded
	Action    string // what followed
	Layer     string // what kept the message from another effect; empty where nothing had to
	N         int64
}

// Compare orders counts by hour, scope, event type, outcome, action and layer.
func (c *Count) Compare(other *Count) int {
	if n := c.Hour.Compare(other.Hour); n != 0 { // as most of thousands do
		return n
	}
	return cmp.Or(cmp.Compare(c.Scope, other.Scope), cmp.Compare(c.EventType, other.EventType),
		cmp.Compare(c.Outcome, other.Outcome), cmp.Compare(c.Action, other.Action), cmp.Compare(c.Layer, other.Layer))
}

// CountFilter selects counts, and says what to tell apart beside outcome, action and layer. What is not told apart is
// added up, and left empty.
type CountFilter struct {
	Since time.Time // from the hour of it on
	Until time.Time // hours that begin before; zero: all
	Scope string    // empty: all

	// By is the length of a span of time, whole hours, counted from Since's; 0: all together.
	By                   time.Duration
	ByScope, ByEventType bool
}

// Of is a count as it is told apart.
func (f *CountFilter) Of(c Count) Count {
	if f.By <= 0 {
		c.Hour = time.Time{}
	} else {
		since := Hour(f.Since)
		c.Hour = since.Add(c.Hour.Sub(since) / f.By * f.By)
	}
	if !f.ByScope {
		c.Scope = ""
	}
	if !f.ByEventType {
		c.EventType = ""
	}
	return c
}

// Hour is the begin of the hour of a time, in UTC.
func Hour(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }
