// Package memory keeps what the runtime keeps in the memory of one process: for tests, for a first look,
// and as the fastest thing a benchmark can be measured against. What it knows is lost with the process, so
// a message that is delivered again after a restart runs again.
//
// It keeps every rule of a database store, transactions of handlers too, behind one mutex. What it is
// given (payloads, headers, results) it keeps without a copy: callers do not change it afterwards.
package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Config is how a Store is made. The zero value is ready to use.
type Config struct {
	// Now is the store's clock, for leases and due times. Nil: time.Now. It is called under the store's lock.
	Now func() time.Time
	// Retention is how long a record is kept after its last change. 0 or less: store.DefaultRetention.
	Retention time.Duration
}

// Store is a store.Full. Make one with New.
type Store struct {
	now       func() time.Time
	retention time.Duration

	closed  atomic.Bool // set under the lock
	mu      sync.Mutex
	batch   uint64 // counts calls of Claim
	records records

	retries   map[retryID]*retryRow
	retryByID map[int64]*retryRow
	due       dueRows
	lanes     map[laneID]*lane
	lastRetry int64

	dead     map[deadID]*store.DeadLetter
	deadByID map[int64]*store.DeadLetter
	lastDead int64

	outbox   []*outgoingRow // in the order of IDs
	lastSent int64

	counts map[store.Count]int64 // by what is counted, with N 0
}

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("the store is closed")

var _ store.Full[*Tx] = (*Store)(nil)

// New makes an empty store.
func New(c Config) *Store {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Retention <= 0 {
		c.Retention = store.DefaultRetention
	}
	return &Store{
		now: c.Now, retention: c.Retention,
		records: newRecords(),
		retries: make(map[retryID]*retryRow), retryByID: make(map[int64]*retryRow), lanes: make(map[laneID]*lane),
		dead: make(map[deadID]*store.DeadLetter), deadByID: make(map[int64]*store.DeadLetter),
		counts: make(map[store.Count]int64),
	}
}

// begin locks the store for one step, or says why it cannot be done: what is the word for it, such as
// "claim", of n things.
func (s *Store) begin(ctx context.Context, what string, n int, things string) error {
	err := ctx.Err()
	if err == nil {
		s.mu.Lock()
		if !s.closed.Load() {
			return nil
		}
		s.mu.Unlock()
		err = ErrClosed
	}
	if things == "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s %d %s: %w", what, n, things, err)
}

// FollowUps is true.
func (s *Store) FollowUps() bool { return true }

// Check says whether the store was closed.
func (s *Store) Check(ctx context.Context) error {
	err := ctx.Err()
	if err == nil && s.closed.Load() {
		err = ErrClosed
	}
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

// Close ends the store. Closing twice is no error.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	return nil
}
