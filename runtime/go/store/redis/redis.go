package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Config is a store's. The zero value is ready to use.
type Config struct {
	// Prefix begins each key; "" is "idem:". Stores of one Redis that share a prefix share their records.
	Prefix string
	// Retention is how long a record is kept after its last change; 0 or less is store.DefaultRetention. It has
	// to exceed the retention of the topics and the longest delay of a retry. (DEDUP-029)
	Retention time.Duration
	// AllowEviction has Check accept a server that evicts keys when its memory is full. The effect of a key
	// whose record was evicted can happen a second time.
	AllowEviction bool
}

// Store keeps records. Its methods may be called from several goroutines.
type Store struct {
	runner
	config Config
	// sharded says that two keys can be on two nodes.
	sharded bool
}

var _ store.Store = (*Store)(nil)

// New makes a store over a client, which stays the caller's to configure: its retries are safe here, since a
// script that is sent again gives the same answer. Close closes it.
func New(client redis.UniversalClient, config Config) *Store {
	if config.Prefix == "" {
		config.Prefix = "idem:"
	}
	if config.Retention <= 0 {
		config.Retention = store.DefaultRetention
	}
	sharded := false
	switch client.(type) {
	case *redis.ClusterClient, *redis.Ring:
		sharded = true
	}
	return &Store{runner: runner{client}, config: config, sharded: sharded}
}

// key has one hash tag: all that belongs to a record is on one slot.
func (s *Store) key(scope, key string) string {
	return s.config.Prefix + "{" + scope + ":" + key + "}"
}

// keys are those of a claim or lease.
func (s *Store) keys(scope, key, previous string) ([]string, error) {
	if previous == "" {
		return []string{s.key(scope, key)}, nil
	}
	if s.sharded {
		return nil, ErrTwoSlots
	}
	return []string{s.key(scope, key), s.key(scope, previous)}, nil
}

// FollowUps is false. (DEDUP-021)
func (s *Store) FollowUps() bool { return false }

// Clean does nothing: records expire by themselves.
func (s *Store) Clean(context.Context, int) (int, error) { return 0, nil }

// Close closes the client.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return err
	}
	return nil
}

// milliseconds of a time that is 0 or more.
func milliseconds(d time.Duration) int64 { return max(d.Milliseconds(), 0) }
