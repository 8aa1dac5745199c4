package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Claim runs one script for each claim. A key that comes again in the batch waits for the answer to the first
// one, and where that one proceeds it is IN_PROGRESS. (DEDUP-025)
func (s *Store) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	grants, err := s.claim(ctx, claims)
	if err != nil {
		return nil, named(fmt.Sprintf("claim %d keys", len(claims)), err)
	}
	return grants, nil
}

func (s *Store) claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	grants := make([]store.Grant, len(claims))
	claimed := make(batch)
	open := make([]int, len(claims))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		var now, later []int
		named := make(batch)
		for _, i := range open {
			c := &claims[i]
			if by, twice := claimed.find(c); twice {
				grants[i] = inProgress(c, claims[by].Lease.Milliseconds())
			} else if _, twice := named.find(c); twice {
				later = append(later, i)
			} else {
				named.add(c, i)
				now = append(now, i)
			}
		}
		if err := s.claimOnce(ctx, claims, now, grants); err != nil {
			return nil, err
		}
		for _, i := range now {
			if grants[i].Kind == idem.AdmitProceed {
				claimed.add(&claims[i], i)
			}
		}
		open = later
	}
	return grants, nil
}

// batch is which claim of a batch names a key.
type batch map[scoped]int

type scoped struct{ scope, key string }

func (b batch) add(c *store.Claim, i int) {
	b[scoped{c.Scope, c.Key}] = i
	if c.Dual() {
		b[scoped{c.Scope, c.Previous}] = i
	}
}

func (b batch) find(c *store.Claim) (int, bool) {
	i, found := b[scoped{c.Scope, c.Key}]
	if !found && c.Dual() {
		i, found = b[scoped{c.Scope, c.Previous}]
	}
	return i, found
}

func inProgress(c *store.Claim, wait int64) store.Grant {
	g := store.Grant{Counts: idem.Counts{Retry: c.RetryCount, Hold: c.HoldCount}}
	g.Kind, g.WaitMs = idem.AdmitInProgress, max(wait, 0)
	return g
}

// claimOnce claims those of claims that which names, no two of which share a key.
func (s *Store) claimOnce(ctx context.Context, claims []store.Claim, which []int, grants []store.Grant) error {
	calls := make([]call, len(which))
	for n, i := range which {
		c := &claims[i]
		if c.Lane.Set() {
			return ErrLanes
		}
		previous := ""
		if c.Dual() {
			previous = c.Previous
		}
		keys, err := s.keys(c.Scope, c.Key, previous)
		if err != nil {
			return err
		}
		old := 0
		if c.Old {
			old = 1
		}
		calls[n] = call{keys, []any{c.Owner, c.Fingerprint, c.RedriveCount, c.RetryCount, c.HoldCount, c.MaxAttempts,
			milliseconds(c.Lease), milliseconds(s.config.Retention), old}}
	}
	replies, err := s.run(ctx, &claimScript, calls)
	if err != nil {
		return err
	}
	for n, i := range which {
		if grants[i], err = grantOf(&claims[i], replies[n]); err != nil {
			return fmt.Errorf("claim of %s: %w", claims[i].Key, err)
		}
	}
	return nil
}

var kinds = map[string]idem.AdmissionKind{
	"PROCEED": idem.AdmitProceed, "DUPLICATE": idem.AdmitDuplicate, "KEY_REUSED": idem.AdmitKeyReused,
	"STALE": idem.AdmitStale, "IN_PROGRESS": idem.AdmitInProgress, "CRASH_LOOP": idem.AdmitCrashLoop,
}

func grantOf(c *store.Claim, reply *redis.Cmd) (store.Grant, error) {
	v, err := texts(reply, 12)
	if err != nil {
		return store.Grant{}, err
	}
	n := numbers{}
	g := store.Grant{
		Counts:             idem.Counts{Retry: int32(n.read(v[7])), Hold: int32(n.read(v[8]))},
		RecordRedriveCount: int32(n.read(v[9])),
		RecordFingerprint:  v[10],
	}
	fence, previousFence := n.read(v[1]), n.read(v[2])
	attempts, till, wait := n.read(v[3]), n.read(v[4]), n.read(v[6])
	if n.err != nil {
		return store.Grant{}, n.err
	}
	known := false
	if g.Kind, known = kinds[v[0]]; !known {
		if v[0] != "TOO_OLD" {
			return store.Grant{}, fmt.Errorf("the script answers %q", v[0])
		}
		g.TooOld = true
		return g, nil
	}
	switch g.Kind {
	case idem.AdmitProceed, idem.AdmitCrashLoop:
		g.Lease = store.Lease{Scope: c.Scope, Key: c.Key, Fence: fence}
		if c.Dual() {
			g.Lease.Previous, g.Lease.PreviousFence = c.Previous, previousFence
		}
		if g.Kind == idem.AdmitProceed {
			g.Lease.Owner = c.Owner
			g.Fence, g.Attempts, g.LeaseUntilMs, g.Recovered = fence, attempts, till, v[5] == "1"
		}
	case idem.AdmitInProgress:
		g.WaitMs = wait
	case idem.AdmitDuplicate:
		if v[11] != "" {
			g.Result = []byte(v[11])
		}
	}
	return g, nil
}

// numbers reads integers, and keeps the first error.
type numbers struct{ err error }

func (n *numbers) read(text string) int64 {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		n.err = errors.Join(n.err, err)
	}
	return v
}
