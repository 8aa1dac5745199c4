package store

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// MaxResult is the most bytes of a result that a record keeps. (DEDUP-010)
const MaxResult = 65536

// DefaultRetention is how long a record is kept after its last change. It has to exceed the retention of
// the topics. (DEDUP-029)
const DefaultRetention = 14 * 24 * time.Hour

// Record is the dedup record of one (scope, key). (DEDUP-010)
type Record struct {
	Scope, Key string
	idem.Record
	// RetryCount and HoldCount are those of the delivery that is still to come.
	RetryCount, HoldCount int32
	CreatedAt, UpdatedAt  time.Time
	// ExpiresAt is for the cleaner: a record that is still there counts. (DEDUP-005)
	ExpiresAt time.Time
}

// Tombstone is what remains of a record that was forgotten, or cleaned while it was PROCESSING: it admits
// everything, under the next fence, so that a worker that still holds the claim writes nothing. The store
// adds when it expires, a retention from its present. (DEDUP-025)
func (r *Record) Tombstone() Record {
	t := Record{Scope: r.Scope, Key: r.Key, CreatedAt: r.CreatedAt}
	t.State, t.Fence = idem.StateFailed, nextFence(r.Fence)
	return t
}
