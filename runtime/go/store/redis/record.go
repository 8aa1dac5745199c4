package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Records reads records.
func (s *Store) Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	replies := make([]*redis.MapStringStringCmd, len(keys))
	pipe := s.client.Pipeline()
	for i, key := range keys {
		replies[i] = pipe.HGetAll(ctx, s.key(scope, key))
	}
	action := fmt.Sprintf("read %d records", len(keys))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, named(action, err)
	}
	records := make([]*store.Record, len(keys))
	for i, key := range keys {
		var err error
		if records[i], err = recordOf(scope, key, replies[i].Val()); err != nil {
			return nil, named(action, err)
		}
	}
	return records, nil
}

// recordOf reads a hash, nil where there is none. What is 0 or empty is left out of it.
func recordOf(scope, key string, fields map[string]string) (*store.Record, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	n := numbers{}
	number := func(name string) int64 {
		if text := fields[name]; text != "" {
			return n.read(text)
		}
		return 0
	}
	moment := func(name string) time.Time {
		ms := number(name)
		if ms == 0 {
			return time.Time{}
		}
		return time.UnixMilli(ms).UTC()
	}
	r := store.Record{
		Scope: scope, Key: key,
		RetryCount: int32(number("rc")), HoldCount: int32(number("hc")),
		CreatedAt: moment("cr"), UpdatedAt: moment("up"), ExpiresAt: moment("ex"),
	}
	r.State, r.Fence, r.Attempts, r.Owner = idem.State(number("st")), number("fe"), number("at"), fields["ow"]
	r.RedriveCount, r.Position, r.LeaseUntilMs, r.Fingerprint = number("rd"), number("po"), number("lu"), fields["fp"]
	if result := fields["re"]; result != "" {
		r.Result = []byte(result)
	}
	if n.err != nil {
		return nil, fmt.Errorf("the record of %s: %w", key, n.err)
	}
	return &r, nil
}

// Forget leaves a tombstone of each record. (DEDUP-025)
func (s *Store) Forget(ctx context.Context, scope string, keys []string) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	b := s.steps(len(keys))
	for i, key := range keys {
		b.which = append(b.which, i)
		b.calls = append(b.calls, call{[]string{s.key(scope, key)}, []any{b.token(i), milliseconds(s.config.Retention)}})
	}
	forgotten, err := b.run(ctx, &forgetScript)
	if err != nil {
		return 0, named(fmt.Sprintf("forget %d keys", len(keys)), err)
	}
	n := 0
	for _, was := range forgotten {
		if was {
			n++
		}
	}
	return n, nil
}
