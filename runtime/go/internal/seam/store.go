package seam

import (
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Store is a process's connection to s.
func Store[Tx any](s store.Full[Tx], h Hook) store.Full[Tx] { return &seamed[Tx]{s, h} }

// seamed names every method: one that a store gains has to be thought of here.
type seamed[Tx any] struct {
	of store.Full[Tx]
	h  Hook
}

func (s *seamed[Tx]) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	keys := keysOf(claims, func(c *store.Claim) string { return c.Key })
	return around(ctx, s.h, Claim, keys, func() ([]store.Grant, error) { return s.of.Claim(ctx, claims) })
}

func (s *seamed[Tx]) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	keys := keysOf(completions, func(c *store.Completion) string { return c.Lease.Key })
	return around(ctx, s.h, Complete, keys, func() ([]bool, error) { return s.of.Complete(ctx, completions) })
}

func (s *seamed[Tx]) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	keys := keysOf(settlements, func(x *store.Settlement) string { _, key := x.Names(); return key })
	return around(ctx, s.h, Settle, keys, func() ([]store.Settled, error) { return s.of.Settle(ctx, settlements) })
}

func (s *seamed[Tx]) Renew(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	keys := keysOf(renewals, func(r *store.Renewal) string { return r.Lease.Key })
	return around(ctx, s.h, Renew, keys, func() ([]bool, error) { return s.of.Renew(ctx, renewals) })
}

func (s *seamed[Tx]) Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	return around(ctx, s.h, Read, keys, func() ([]*store.Record, error) { return s.of.Records(ctx, scope, keys) })
}

func (s *seamed[Tx]) Forget(ctx context.Context, scope string, keys []string) (int, error) {
	return around(ctx, s.h, Clean, keys, func() (int, error) { return s.of.Forget(ctx, scope, keys) })
}

func (s *seamed[Tx]) Clean(ctx context.Context, limit int) (int, error) {
	return around(ctx, s.h, Clean, nil, func() (int, error) { return s.of.Clean(ctx, limit) })
}

func (s *seamed[Tx]) FollowUps() bool { return s.of.FollowUps() }

func (s *seamed[Tx]) Check(ctx context.Context) error {
	return alone(ctx, s.h, Check, nil, func() error { return s.of.Check(ctx) })
}

// Close leaves the store open: it is that of others too.
func (s *seamed[Tx]) Close() error { return nil }

// completing is where a transaction notes what it completes, for the steps of its commit.
type completing struct{}

func (s *seamed[Tx]) InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	if err := s.h(ctx, Step{Op: Begin}); err != nil {
		return err
	}
	var keys []string
	err := s.of.InTx(ctx, func(ctx context.Context, tx Tx) error {
		keys = nil
		if err := s.h(ctx, Step{Op: Handle}); err != nil {
			return err
		}
		if err := fn(context.WithValue(ctx, completing{}, &keys), tx); err != nil {
			return err
		}
		return s.h(ctx, Step{Op: Commit, Keys: keys})
	})
	if err != nil {
		return err
	}
	return s.h(ctx, Step{Op: Commit, Keys: keys, After: true})
}

func (s *seamed[Tx]) CompleteTx(ctx context.Context, tx Tx, c store.Completion) error {
	keys := []string{c.Lease.Key}
	if err := s.h(ctx, Step{Op: Complete, Keys: keys, Tx: true}); err != nil {
		return err
	}
	if noted, ok := ctx.Value(completing{}).(*[]string); ok {
		*noted = append(*noted, c.Lease.Key)
	}
	return s.of.CompleteTx(ctx, tx, c)
}

func (s *seamed[Tx]) StoreTx(ctx context.Context, tx Tx, messages []store.Outgoing) error {
	return alone(ctx, s.h, StoreTx, outgoing(messages), func() error { return s.of.StoreTx(ctx, tx, messages) })
}

func outgoing(messages []store.Outgoing) []string {
	return keysOf(messages, func(m *store.Outgoing) string { return KeyOf(m.Headers) })
}

func (s *seamed[Tx]) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	return around(ctx, s.h, ClaimDue, nil, func() ([]store.Retry, error) { return s.of.ClaimDue(ctx, token, limit, lease) })
}

func (s *seamed[Tx]) MarkPublished(ctx context.Context, marks []store.Mark) ([]bool, error) {
	return around(ctx, s.h, Mark, nil, func() ([]bool, error) { return s.of.MarkPublished(ctx, marks) })
}

func (s *seamed[Tx]) Postpone(ctx context.Context, marks []store.Mark, due time.Duration) error {
	return alone(ctx, s.h, Mark, nil, func() error { return s.of.Postpone(ctx, marks, due) })
}

func (s *seamed[Tx]) NextDue(ctx context.Context) (due time.Duration, found bool, err error) {
	err = alone(ctx, s.h, Read, nil, func() (err error) { due, found, err = s.of.NextDue(ctx); return err })
	return due, found, err
}

func (s *seamed[Tx]) SweepLanes(ctx context.Context, limit int) (int, error) {
	return around(ctx, s.h, Sweep, nil, func() (int, error) { return s.of.SweepLanes(ctx, limit) })
}

func (s *seamed[Tx]) Wake(ctx context.Context, scope, bizKey string) (int, error) {
	return around(ctx, s.h, Sweep, nil, func() (int, error) { return s.of.Wake(ctx, scope, bizKey) })
}

func (s *seamed[Tx]) CountRetries(ctx context.Context) (store.RetryCounts, error) {
	return around(ctx, s.h, Read, nil, func() (store.RetryCounts, error) { return s.of.CountRetries(ctx) })
}

func (s *seamed[Tx]) ListDeadLetters(ctx context.Context, f store.DeadLetterFilter, after int64, limit int) ([]store.DeadLetter, error) {
	return around(ctx, s.h, Read, nil, func() ([]store.DeadLetter, error) { return s.of.ListDeadLetters(ctx, f, after, limit) })
}

func (s *seamed[Tx]) CountDeadLetters(ctx context.Context, f store.DeadLetterFilter) (int64, error) {
	return around(ctx, s.h, Read, nil, func() (int64, error) { return s.of.CountDeadLetters(ctx, f) })
}

func (s *seamed[Tx]) Redrive(ctx context.Context, ids []int64, deliveries []store.Retry) ([]bool, error) {
	keys := keysOf(deliveries, func(r *store.Retry) string { return r.Key })
	return around(ctx, s.h, Redrive, keys, func() ([]bool, error) { return s.of.Redrive(ctx, ids, deliveries) })
}

func (s *seamed[Tx]) DropDeadLetters(ctx context.Context, ids []int64) (int, error) {
	return around(ctx, s.h, Clean, nil, func() (int, error) { return s.of.DropDeadLetters(ctx, ids) })
}

func (s *seamed[Tx]) DeadLetterStats(ctx context.Context) ([]store.DeadLetterStats, error) {
	return around(ctx, s.h, Read, nil, func() ([]store.DeadLetterStats, error) { return s.of.DeadLetterStats(ctx) })
}

func (s *seamed[Tx]) Store(ctx context.Context, messages []store.Outgoing) error {
	return alone(ctx, s.h, StoreOut, outgoing(messages), func() error { return s.of.Store(ctx, messages) })
}

func (s *seamed[Tx]) Stored(ctx context.Context, topic string, bizKeys [][]byte) ([]bool, error) {
	return around(ctx, s.h, Read, nil, func() ([]bool, error) { return s.of.Stored(ctx, topic, bizKeys) })
}

func (s *seamed[Tx]) ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Outgoing, error) {
	return around(ctx, s.h, ClaimOut, nil, func() ([]store.Outgoing, error) { return s.of.ClaimOutgoing(ctx, token, limit, lease) })
}

func (s *seamed[Tx]) Sent(ctx context.Context, token string, ids []int64) error {
	return alone(ctx, s.h, MarkOut, nil, func() error { return s.of.Sent(ctx, token, ids) })
}

func (s *seamed[Tx]) NotSent(ctx context.Context, token string, ids []int64, reason string, due time.Duration, failed bool) error {
	return alone(ctx, s.h, MarkOut, nil, func() error { return s.of.NotSent(ctx, token, ids, reason, due, failed) })
}

func (s *seamed[Tx]) RetryFailed(ctx context.Context, limit int) (int, error) {
	return around(ctx, s.h, MarkOut, nil, func() (int, error) { return s.of.RetryFailed(ctx, limit) })
}

func (s *seamed[Tx]) OutboxStats(ctx context.Context) (store.OutboxStats, error) {
	return around(ctx, s.h, Read, nil, func() (store.OutboxStats, error) { return s.of.OutboxStats(ctx) })
}

func (s *seamed[Tx]) Count(ctx context.Context, counts []store.Count) error {
	return alone(ctx, s.h, Audit, nil, func() error { return s.of.Count(ctx, counts) })
}

func (s *seamed[Tx]) Counts(ctx context.Context, f store.CountFilter) ([]store.Count, error) {
	return around(ctx, s.h, Read, nil, func() ([]store.Count, error) { return s.of.Counts(ctx, f) })
}

func (s *seamed[Tx]) CleanCounts(ctx context.Context, limit int) (int, error) {
	return around(ctx, s.h, Clean, nil, func() (int, error) { return s.of.CleanCounts(ctx, limit) })
}
