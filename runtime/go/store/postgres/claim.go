package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Claim claims keys in one transaction of two round trips: one statement makes the records that are not there and
// locks those that are, and the rest is decided here, by store.Claim.Admit, and written with the commit.
// (DEDUP-030)
//
// Where another transaction holds a key for longer than Config.LockTimeout the batch is halved, which costs no
// attempt, until that key is alone and IN_PROGRESS.
func (c *core) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	grants := make([]store.Grant, len(claims))
	if err := c.claim(ctx, claims, grants); err != nil {
		return nil, named(fmt.Sprintf("claim %d keys", len(claims)), err)
	}
	return grants, nil
}

func (c *core) claim(ctx context.Context, claims []store.Claim, grants []store.Grant) error {
	if len(claims) == 0 {
		return nil
	}
	b := claimBatch{core: c, claims: claims, grants: grants}
	err := c.transact(ctx, work{idle: shortestLease(claims) / 2}, b.ask, b.answer)
	if !isLockTimeout(err) {
		return err
	}
	if len(claims) == 1 {
		grants[0] = c.inProgress(&claims[0], c.config.Wait)
		return nil
	}
	half := len(claims) / 2
	if err := c.claim(ctx, claims[:half], grants[:half]); err != nil {
		return err
	}
	return c.claim(ctx, claims[half:], grants[half:])
}

func (c *core) inProgress(claim *store.Claim, wait time.Duration) store.Grant {
	g := store.Grant{Counts: idem.Counts{Retry: claim.RetryCount, Hold: claim.HoldCount}}
	g.Kind, g.WaitMs = idem.AdmitInProgress, max(wait.Milliseconds(), 0)
	return g
}

// minLease is the least that a claim's pause between two statements is taken for: a network is not faster.
const minLease = 200 * time.Millisecond

func shortestLease(claims []store.Claim) time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for i := range claims {
		shortest = min(shortest, claims[i].Lease)
	}
	return max(shortest, minLease)
}

// claimBatch is one transaction of claims. Its records are what the database holds, under lock, with what was
// decided so far.
type claimBatch struct {
	core    *core
	claims  []store.Claim
	grants  []store.Grant
	now     time.Time
	records records
	entries []*entry // of each claim's keys: two a claim, the second nil where there is none
	heads   map[laneID]string
}

// ask sends the statement that makes records, and locks those that were there.
func (b *claimBatch) ask(w *work) error {
	n := len(b.claims)
	b.records, b.entries, b.heads = newRecords(n), make([]*entry, 0, 2*n), nil
	dual := false
	for i := range b.claims {
		claim := &b.claims[i]
		b.entries = append(b.entries, b.records.add(claim.Scope, claim.Key, int32(i)), nil)
		if claim.Dual() {
			dual = true
			b.entries[2*i+1] = b.records.add(claim.Scope, claim.Previous, int32(i))
		}
	}
	if dual {
		n = len(b.records.list)
	}
	var (
		scopes, keys, owners, fingerprints = make([]string, 0, n), make([]string, 0, n), make([]string, 0, n), make([]string, 0, n)
		redrives, retries, holds           = make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n)
		leases                             = make([]int64, 0, n)
	)
	for _, e := range b.records.list {
		claim := &b.claims[e.claim]
		scopes, keys = append(scopes, e.Scope), append(keys, e.Key)
		owners, fingerprints = append(owners, claim.Owner), append(fingerprints, claim.Fingerprint)
		redrives, retries, holds = append(redrives, claim.RedriveCount), append(retries, claim.RetryCount), append(holds, claim.HoldCount)
		leases = append(leases, claim.Lease.Milliseconds())
	}
	w.queue("claim", scopes, keys, owners, fingerprints, redrives, retries, holds, leases,
		b.core.config.Retention.Milliseconds()).Query(b.read)
	b.askHeads(w)
	return nil
}

// read takes the rows of the statement. The first has the time, and how many records it made: where those are all,
// it is alone. Of the others those that it made have no fence.
func (b *claimBatch) read(rows pgx.Rows) error {
	if !rows.Next() {
		return rows.Err()
	}
	var made int64
	dest := make([]any, len(rows.RawValues()))
	dest[0], dest[3] = &b.now, &made
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	if made == int64(len(b.records.list)) {
		for _, e := range b.records.list {
			e.there = fresh
		}
	}
	for rows.Next() {
		raw := rows.RawValues()
		e := b.records.find(raw[1], raw[2])
		if e == nil {
			return fmt.Errorf("a row has the key %q, which is none of the batch", raw[2])
		}
		if raw[3] == nil {
			e.there = fresh
			continue
		}
		var none *time.Time
		if err := e.scan(rows, &none); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (b *claimBatch) askHeads(w *work) {
	var asked []laneID
	for i := range b.claims {
		if claim := &b.claims[i]; claim.Lane.Set() {
			asked = append(asked, laneOf(claim.Scope, claim.Lane))
		}
	}
	if asked == nil {
		return
	}
	b.heads = make(map[laneID]string)
	scopes, topics, bizKeys := columnsOf(asked)
	w.queue("lane_heads", scopes, topics, bizKeys).Query(func(rows pgx.Rows) error {
		var n int64
		var head string
		_, err := pgx.ForEachRow(rows, []any{&n, &head}, func() error {
			b.heads[asked[n-1]] = head
			return nil
		})
		return err
	})
}

// answer decides, claim by claim, each on what those before have left, and writes what changed.
func (b *claimBatch) answer(w *work) error {
	for i := range b.claims {
		b.decide(&b.claims[i], &b.grants[i], b.entries[2*i], b.entries[2*i+1])
	}
	b.records.write(w)
	return nil
}

func (b *claimBatch) decide(c *store.Claim, g *store.Grant, current, previous *entry) {
	if current.claimed || previous != nil && previous.claimed {
		// Claimed by another of this batch, whatever its owner says. (DEDUP-025)
		e := current
		if !e.claimed {
			e = previous
		}
		*g = b.core.inProgress(c, time.Duration(e.LeaseUntilMs-b.now.UnixMilli())*time.Millisecond)
		return
	}
	*g = c.Admit(b.known(c, current), b.known(c, previous), b.now.UnixMilli())
	if g.TooOld {
		return
	}
	again := current.there == found && g.Fence == current.Fence && g.Kind == idem.AdmitProceed // its own reply was lost: it runs already
	if head, stuck := b.heads[laneOf(c.Scope, c.Lane)]; stuck && c.Lane.Set() {
		g.Head = head == c.Key
		if !g.Head && g.Kind == idem.AdmitProceed && !again {
			g.Admission, g.Lease, g.Parked = idem.Admission{}, store.Lease{}, true
			return
		}
	}
	switch g.Kind {
	case idem.AdmitProceed:
		b.claimed(c, g, current, g.Lease.Fence)
		if previous != nil {
			b.claimed(c, g, previous, g.Lease.PreviousFence)
		}
	case idem.AdmitDuplicate:
		if previous != nil {
			b.duplicated(c, g, current)
			b.duplicated(c, g, previous)
		}
	}
}

// known is the record that a claim is decided on. One that another transaction has locked, or has made since the
// statement began, is taken for another's live claim.
func (b *claimBatch) known(c *store.Claim, e *entry) *store.Record {
	switch {
	case e == nil:
		return nil
	case e.there == found || e.kept:
		return &e.Record
	case e.there == fresh:
		return nil
	}
	r := &store.Record{Scope: e.Scope, Key: e.Key}
	r.State, r.Fence, r.LeaseUntilMs = idem.StateProcessing, 1, b.now.Add(b.core.config.Wait).UnixMilli()
	r.RedriveCount, r.Position = int64(c.RedriveCount), int64(c.RetryCount)+int64(c.HoldCount)
	if c.Owner == "" { // no token is that of another claim
		r.Owner = "?"
	}
	return r
}

func (b *claimBatch) claimed(c *store.Claim, g *store.Grant, e *entry, fence int64) {
	before := b.known(c, e)
	r := c.Claimed(e.Key, fence, g, before, b.now, b.core.config.Retention)
	if before != nil && before.ExpiresAt.After(b.now.Add(b.core.config.Retention)) {
		r.ExpiresAt = before.ExpiresAt
	}
	same := e.there == fresh && !e.kept && b.claims[e.claim].Owner == c.Owner && b.asMade(&r, e)
	e.Record, e.claimed, e.kept = r, true, true
	e.dirty = e.dirty || !same
}

// asMade says that a record is what the statement has made of it already.
func (b *claimBatch) asMade(r *store.Record, e *entry) bool {
	c := &b.claims[e.claim]
	return r.Fence == 1 && r.Attempts == 1 && r.Fingerprint == c.Fingerprint && r.LeaseUntilMs == b.now.UnixMilli()+c.Lease.Milliseconds() &&
		r.RedriveCount == int64(c.RedriveCount) && r.RetryCount == c.RetryCount && r.HoldCount == c.HoldCount
}

// duplicated makes the other key of a claim SUCCESS too. One that another transaction has is left to the next
// duplicate.
func (b *claimBatch) duplicated(c *store.Claim, g *store.Grant, e *entry) {
	if e.there == nowhere || e.State == idem.StateSuccess {
		return
	}
	e.Record = c.Duplicated(e.Key, g.Result, b.known(c, e), b.now, b.core.config.Retention)
	e.result, e.kept, e.dirty = true, true, true
}
