package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// DefaultHintTTL is how long a SUCCESS is remembered in front of a database.
const DefaultHintTTL = 24 * time.Hour

// Hints remember, in front of a database that is the truth, which keys are done and which are being worked on.
// They are apart from the records of a Store, and need none of its care: any of them may be lost at any time.
// They are what store/tiered wants of Redis; its errors mean that nothing is known, and the database is asked.
type Hints struct {
	s   *Store
	ttl time.Duration
}

// Hints are the store's client and prefix, used in front of a database. They are kept for DefaultHintTTL, or
// the store's retention where that is shorter.
func (s *Store) Hints() *Hints { return &Hints{s, min(DefaultHintTTL, s.config.Retention)} }

func (h *Hints) key(scope, key string) []string {
	return []string{h.s.config.Prefix + "hint:{" + scope + ":" + key + "}"}
}

// Look answers what Redis alone may answer: DUPLICATE where it knows of SUCCESS with an equal fingerprint,
// IN_PROGRESS where another claim is live. Kind is 0 where the database has to be asked, and Redis has noted
// then that the claim is being made. A second key (Previous) is not looked at. (DEDUP-031)
func (h *Hints) Look(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	calls := make([]call, len(claims))
	for i := range claims {
		c := &claims[i]
		calls[i] = call{h.key(c.Scope, c.Key), []any{c.Owner, c.Fingerprint, c.RedriveCount,
			int64(c.RetryCount) + int64(c.HoldCount), milliseconds(c.Lease)}}
	}
	replies, err := h.s.run(ctx, &lookScript, calls)
	if err != nil {
		return nil, named(fmt.Sprintf("look for %d hints", len(claims)), err)
	}
	answers := make([]store.Grant, len(claims))
	for i := range claims {
		v, err := texts(replies[i], 3)
		if err != nil {
			return nil, named("look for the hint of "+claims[i].Key, err)
		}
		g := &answers[i]
		g.Counts = idem.Counts{Retry: claims[i].RetryCount, Hold: claims[i].HoldCount}
		switch v[0] {
		case "DUPLICATE":
			g.Kind = idem.AdmitDuplicate
			if v[2] != "" {
				g.Result = []byte(v[2])
			}
		case "IN_PROGRESS":
			n := numbers{}
			g.Kind, g.WaitMs = idem.AdmitInProgress, n.read(v[1])
			if n.err != nil {
				return nil, named("look for the hint of "+claims[i].Key, n.err)
			}
		}
	}
	return answers, nil
}

// Succeeded notes claims that are SUCCESS in the database, after its commit. What Redis does not remember as
// this very claim is left alone.
func (h *Hints) Succeeded(ctx context.Context, completions []store.Completion) error {
	calls := make([]call, len(completions))
	for i := range completions {
		l := &completions[i].Lease
		calls[i] = call{h.key(l.Scope, l.Key), []any{l.Owner, strconv.FormatInt(l.Fence, 10), milliseconds(h.ttl), completions[i].Result}}
	}
	return h.tell(ctx, "note", &succeedScript, calls)
}

// Failed marks claims FAILED: whoever comes next asks the database.
func (h *Hints) Failed(ctx context.Context, leases []store.Lease) error {
	calls := make([]call, len(leases))
	for i := range leases {
		calls[i] = call{h.key(leases[i].Scope, leases[i].Key), []any{leases[i].Owner}}
	}
	return h.tell(ctx, "take back", &failScript, calls)
}

// Extended extends claims whose leases the database has extended.
func (h *Hints) Extended(ctx context.Context, renewals []store.Renewal) error {
	calls := make([]call, len(renewals))
	for i := range renewals {
		l := &renewals[i].Lease
		calls[i] = call{h.key(l.Scope, l.Key), []any{l.Owner, milliseconds(renewals[i].For)}}
	}
	return h.tell(ctx, "extend", &extendScript, calls)
}

// Forgotten forgets keys, after the database has, on the replicas too. The fence of a lease is what the
// database has by then, 0 where it has no record.
func (h *Hints) Forgotten(ctx context.Context, leases []store.Lease) error {
	calls := make([]call, len(leases))
	for i := range leases {
		calls[i] = call{h.key(leases[i].Scope, leases[i].Key), []any{strconv.FormatInt(leases[i].Fence, 10), milliseconds(h.ttl)}}
	}
	if err := h.tell(ctx, "forget", &forgetHintScript, calls); err != nil {
		return err
	}
	return named(fmt.Sprintf("forget %d hints on the replicas", len(calls)), h.s.replicated(ctx, &forgetHintScript, calls))
}

func (h *Hints) tell(ctx context.Context, what string, s *script, calls []call) error {
	replies, err := h.s.run(ctx, s, calls)
	if err == nil {
		_, err = yes(replies)
	}
	if err != nil {
		return named(fmt.Sprintf("%s %d hints", what, len(calls)), err)
	}
	return nil
}

// Ping says whether Redis answers.
func (h *Hints) Ping(ctx context.Context) error {
	return named("ping redis", h.s.client.Ping(ctx).Err())
}

// Close closes the client.
func (h *Hints) Close() error { return h.s.Close() }
