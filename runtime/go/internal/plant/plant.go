// Package plant puts known bugs into a sound store or broker, one at a time. A test that claims to find
// what is wrong has to find each of them; the runtime itself never imports it.
package plant

import (
	"context"
	"errors"
	"sync"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Bug is a bug by name. The empty one is none.
type Bug string

// The bugs.
const (
	NoFence              Bug = "no-fence"              // a worker that lost its claim commits its effect all the same
	EarlyCommit          Bug = "early-commit"          // offsets are committed when messages are fetched
	DedupBeforeEffect    Bug = "dedup-before-effect"   // SUCCESS is written at the claim, and never taken back
	HighestOffset        Bug = "highest-offset"        // the highest offset wins, not the contiguous one
	RepublishUnconfirmed Bug = "republish-unconfirmed" // a publication that failed counts as confirmed
	LeaseIgnored         Bug = "lease-ignored"         // a live claim is taken over
	HintBeforeCommit     Bug = "hint-before-commit"    // the hint in Redis says SUCCESS before the commit, and is believed
	ParkOrderLost        Bug = "park-order-lost"       // nothing waits behind the head of a parked lane
)

// Bugs is all of them.
func Bugs() []Bug {
	return []Bug{
		NoFence, EarlyCommit, DedupBeforeEffect, HighestOffset, RepublishUnconfirmed, LeaseIgnored, HintBeforeCommit, ParkOrderLost,
	}
}

// Hint is the memory that HintBeforeCommit trusts: what processes share in Redis.
type Hint interface {
	Set(scope, key string)
	Has(scope, key string) bool
}

// Store is s with the bug. hint is asked for HintBeforeCommit alone.
func Store[Tx any](bug Bug, s store.Full[Tx], hint Hint) store.Full[Tx] {
	switch bug {
	case NoFence:
		return noFence[Tx]{s}
	case DedupBeforeEffect:
		return dedupFirst[Tx]{s}
	case LeaseIgnored:
		return leaseIgnored[Tx]{s}
	case HintBeforeCommit:
		return hintFirst[Tx]{s, hint}
	case ParkOrderLost:
		return unparked[Tx]{s}
	}
	return s
}

type noFence[Tx any] struct{ store.Full[Tx] }

// unfenced is where a transaction notes what it would have completed.
type unfenced struct{}

// InTx commits the effect in a transaction of its own, so that no store can look at the claim again as it
// commits; SUCCESS follows, and whether the claim was still held is nobody's question.
func (s noFence[Tx]) InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	var completions []store.Completion
	err := s.Full.InTx(ctx, func(ctx context.Context, tx Tx) error {
		completions = nil
		return fn(context.WithValue(ctx, unfenced{}, &completions), tx)
	})
	if err != nil || len(completions) == 0 {
		return err
	}
	_, err = s.Full.Complete(context.WithoutCancel(ctx), completions)
	return err
}

func (s noFence[Tx]) CompleteTx(ctx context.Context, tx Tx, c store.Completion) error {
	if noted, ok := ctx.Value(unfenced{}).(*[]store.Completion); ok {
		*noted = append(*noted, c)
		return nil
	}
	if err := s.Full.CompleteTx(ctx, tx, c); !errors.Is(err, store.ErrFenced) {
		return err
	}
	return nil
}

func (s noFence[Tx]) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	_, err := s.Full.Complete(ctx, completions)
	return all(len(completions)), err
}

func (s noFence[Tx]) Renew(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	_, err := s.Full.Renew(ctx, renewals)
	return all(len(renewals)), err
}

func all(n int) []bool {
	held := make([]bool, n)
	for i := range held {
		held[i] = true
	}
	return held
}

type dedupFirst[Tx any] struct{ store.Full[Tx] }

func (s dedupFirst[Tx]) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	grants, err := s.Full.Claim(ctx, claims)
	for i := range grants {
		if grants[i].Kind == idem.AdmitProceed {
			if _, err := s.Full.Complete(ctx, []store.Completion{{Lease: grants[i].Lease}}); err != nil {
				return nil, err
			}
		}
	}
	return grants, err
}

func (s dedupFirst[Tx]) CompleteTx(context.Context, Tx, store.Completion) error { return nil }

func (s dedupFirst[Tx]) Complete(_ context.Context, completions []store.Completion) ([]bool, error) {
	return all(len(completions)), nil
}

type leaseIgnored[Tx any] struct{ store.Full[Tx] }

func (s leaseIgnored[Tx]) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	grants, err := s.Full.Claim(ctx, claims)
	for i := range grants {
		if grants[i].Kind != idem.AdmitInProgress {
			continue
		}
		if _, err := s.Forget(ctx, claims[i].Scope, []string{claims[i].Key}); err != nil {
			return nil, err
		}
		again, err := s.Full.Claim(ctx, claims[i:i+1])
		if err != nil {
			return nil, err
		}
		grants[i] = again[0]
	}
	return grants, err
}

type hintFirst[Tx any] struct {
	store.Full[Tx]
	hint Hint
}

func (s hintFirst[Tx]) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	var asked []store.Claim
	var at []int
	grants := make([]store.Grant, len(claims))
	for i := range claims {
		if s.hint.Has(claims[i].Scope, claims[i].Key) {
			grants[i].Kind = idem.AdmitDuplicate
			continue
		}
		asked, at = append(asked, claims[i]), append(at, i)
	}
	if len(asked) == 0 {
		return grants, nil
	}
	answers, err := s.Full.Claim(ctx, asked)
	for i := range answers {
		grants[at[i]] = answers[i]
	}
	return grants, err
}

func (s hintFirst[Tx]) CompleteTx(ctx context.Context, tx Tx, c store.Completion) error {
	s.hint.Set(c.Lease.Scope, c.Lease.Key)
	return s.Full.CompleteTx(ctx, tx, c)
}

type unparked[Tx any] struct{ store.Full[Tx] }

func (s unparked[Tx]) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	loose := append([]store.Claim(nil), claims...)
	for i := range loose {
		loose[i].Lane = store.Lane{}
	}
	return s.Full.Claim(ctx, loose)
}

func (s unparked[Tx]) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	loose := append([]store.Settlement(nil), settlements...)
	for i := range loose {
		loose[i].Lane = store.Lane{}
		if r := loose[i].Retry; r != nil {
			row := *r
			row.Lane, row.Park = store.Lane{}, false
			loose[i].Retry = &row
		}
	}
	return s.Full.Settle(ctx, loose)
}

// Publisher is p with the bug.
func Publisher(bug Bug, p broker.Publisher) broker.Publisher {
	if bug == RepublishUnconfirmed {
		return unconfirmed{p}
	}
	return p
}

type unconfirmed struct{ broker.Publisher }

func (p unconfirmed) Publish(ctx context.Context, messages []broker.Message) []error {
	p.Publisher.Publish(ctx, messages)
	return nil
}

// Broker is b with the bug.
func Broker(bug Bug, b broker.Broker) broker.Broker {
	if bug == EarlyCommit || bug == HighestOffset {
		return commits{b, bug}
	}
	return b
}

type commits struct {
	broker.Broker
	bug Bug
}

func (b commits) Group(ctx context.Context, name string, topics []string) (broker.Group, error) {
	g, err := b.Broker.Group(ctx, name, topics)
	if err != nil {
		return nil, err
	}
	return commitGroup{g, b.bug}, nil
}

type commitGroup struct {
	broker.Group
	bug Bug
}

func (g commitGroup) Join(ctx context.Context) (broker.Generation, error) {
	generation, err := g.Group.Join(ctx)
	if err != nil {
		return nil, err
	}
	return &commitGeneration{Generation: generation, bug: g.bug, fetched: make(map[broker.TopicPartition]int64)}, nil
}

type commitGeneration struct {
	broker.Generation
	bug Bug

	mu      sync.Mutex
	fetched map[broker.TopicPartition]int64
}

func (g *commitGeneration) Fetch(ctx context.Context, p broker.TopicPartition, offset int64, maxBytes int) (broker.Batch, error) {
	batch, err := g.Generation.Fetch(ctx, p, offset, maxBytes)
	if n := len(batch.Messages); n > 0 {
		behind := batch.Messages[n-1].Offset + 1
		g.mu.Lock()
		g.fetched[p] = max(g.fetched[p], behind)
		g.mu.Unlock()
		if g.bug == EarlyCommit {
			if err := g.Generation.Commit(ctx, map[broker.TopicPartition]int64{p: behind}); err != nil {
				return broker.Batch{}, err
			}
		}
	}
	return batch, err
}

func (g *commitGeneration) Commit(ctx context.Context, offsets map[broker.TopicPartition]int64) error {
	highest := make(map[broker.TopicPartition]int64, len(offsets))
	g.mu.Lock()
	for p, offset := range offsets {
		highest[p] = max(offset, g.fetched[p])
	}
	g.mu.Unlock()
	return g.Generation.Commit(ctx, highest)
}
