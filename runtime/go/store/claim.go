package store

import (
	"math"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Claim asks whether one delivery may run.
type Claim struct {
	Scope string
	// Key is the idempotency key, and Previous the one by the template before, during a migration; empty
	// where there is none. Both are claimed, or neither. (KEY-030)
	Key, Previous string
	// Owner is a random token of this claim alone, sent again only where its reply was lost. (DEDUP-013)
	Owner       string
	Fingerprint string
	// RedriveCount, RetryCount and HoldCount are the delivery's, from its headers.
	RedriveCount, RetryCount, HoldCount int32
	// MaxAttempts is idem.MaxAttempts of the policy in force.
	MaxAttempts int64
	// Lease is how long the claim holds, on the store's clock.
	Lease time.Duration
	// Old says that the message was produced before the retention began: without a record it cannot be told
	// from new, and is TOO_OLD. (DEDUP-029)
	Old bool
	// Lane is set on a route that parks: where another key is the head of the lane, the message has to park
	// behind it. It is the zero Lane otherwise.
	Lane Lane
}

// Dual says that there is a second key to claim. (KEY-030)
func (c *Claim) Dual() bool { return c.Previous != "" && c.Previous != c.Key }

// Lane is an order of messages: those of one biz key of one topic, within a scope.
type Lane struct {
	Topic  string // the origin
	BizKey string
}

// Set says that there is a lane.
func (l Lane) Set() bool { return l.Topic != "" }

// Grant answers a Claim. Where Kind is idem.AdmitProceed the claim is written, and Lease is what holds it.
type Grant struct {
	idem.Admission
	// TooOld says that the message cannot be told from new. Kind is 0 then, and nothing was written.
	TooOld bool
	// Parked says that another key is the head of the claim's lane. Kind is 0 then, and nothing was written.
	Parked bool
	// Hinted says that a memory in front of the database answered, and the database was not asked.
	Hinted bool
	// Head says that this key is the head of its lane, which it has to leave when it ends.
	Head bool
	// Lease is what Complete, Settle and Renew match. For idem.AdmitCrashLoop it has the fence and no owner.
	Lease Lease
	// Counts are the larger of the delivery's and the record's within one redrive count, and those of the
	// delivery otherwise. (DEDUP-011)
	Counts idem.Counts
	// RecordRedriveCount is the record's, for a redrive; 0 where there is none.
	RecordRedriveCount int32
	// RecordFingerprint is what the key was used with before, for the log of a KEY_REUSED; empty where the
	// record has none.
	RecordFingerprint string
}

// Outcome is what the grant means for the delivery, and false where the handler may run or the message
// has to park.
func (g *Grant) Outcome() (idem.Outcome, bool) {
	if g.TooOld {
		return idem.OutcomeTooOld, true
	}
	switch g.Kind {
	case idem.AdmitDuplicate:
		return idem.OutcomeDuplicate, true
	case idem.AdmitKeyReused:
		return idem.OutcomeKeyReused, true
	case idem.AdmitStale:
		return idem.OutcomeStale, true
	case idem.AdmitInProgress:
		return idem.OutcomeInProgress, true
	case idem.AdmitCrashLoop:
		return idem.OutcomeCrashLoop, true
	}
	return 0, false
}

// Lease is a claim that is held. What is written under it matches fence and owner and PROCESSING, or
// nothing is written. (DEDUP-020)
type Lease struct {
	Scope string
	Key   string
	Fence int64
	// Previous and PreviousFence are the second key's, during a migration.
	Previous      string
	PreviousFence int64
	// Owner is the claim's token; empty for a crash loop, which holds no claim.
	Owner string
}

// Held says that there is a claim, or the fence of one, to match.
func (l *Lease) Held() bool { return l.Fence != 0 || l.PreviousFence != 0 }

// severity orders the verdicts on two keys: the first of these is that of both. (DEDUP-026)
var severity = [...]int{
	idem.AdmitKeyReused:  1,
	idem.AdmitDuplicate:  2,
	idem.AdmitStale:      3,
	idem.AdmitInProgress: 4,
	idem.AdmitCrashLoop:  5,
	idem.AdmitProceed:    6,
}

// Admit decides on a claim, given the records of its keys, nil where there is none. It is pure: the
// records have to be locked, or compared again when the answer is written. Where it says PROCEED, and the
// lane allows it, the store writes Claimed of each key; where it says DUPLICATE on one of two keys, the
// store writes Duplicated of the other. Lanes are the store's to look up. (DEDUP-001, DEDUP-026, DEDUP-029)
func (c *Claim) Admit(current, previous *Record, nowMs int64) Grant {
	if !c.Dual() {
		previous = nil
	}
	g := Grant{Counts: idem.Counts{Retry: c.RetryCount, Hold: c.HoldCount}}
	if c.Old && c.RedriveCount == 0 && current == nil && previous == nil {
		g.TooOld = true
		return g
	}
	d := idem.Delivery{
		RedriveCount: int64(c.RedriveCount), Position: int64(c.RetryCount) + int64(c.HoldCount),
		Fingerprint: c.Fingerprint, Owner: c.Owner, NowMs: nowMs, LeaseMs: c.Lease.Milliseconds(), MaxAttempts: c.MaxAttempts,
	}
	g.Admission = admit(current, &d)
	decides := current
	l := Lease{Scope: c.Scope, Key: c.Key, Owner: c.Owner, Fence: g.Fence}
	g.see(current, c)
	if c.Dual() {
		p := admit(previous, &d)
		l.Previous, l.PreviousFence = c.Previous, p.Fence
		g.see(previous, c)
		switch {
		case severity[p.Kind] < severity[g.Kind]:
			g.Admission, decides = p, previous
		case p.Kind == idem.AdmitProceed && g.Kind == idem.AdmitProceed:
			g.Attempts = max(g.Attempts, p.Attempts)
			g.LeaseUntilMs = min(g.LeaseUntilMs, p.LeaseUntilMs)
			g.Recovered = g.Recovered || p.Recovered
		case p.Kind == idem.AdmitInProgress && g.Kind == idem.AdmitInProgress:
			g.WaitMs = max(g.WaitMs, p.WaitMs)
		}
	}
	switch g.Kind {
	case idem.AdmitProceed:
		g.Lease = l
	case idem.AdmitCrashLoop:
		l.Owner, l.Fence, l.PreviousFence = "", openFence(current), openFence(previous)
		g.Lease = l
	case idem.AdmitKeyReused:
		g.RecordFingerprint = decides.Fingerprint
	}
	return g
}

func admit(r *Record, d *idem.Delivery) idem.Admission {
	if r == nil {
		return idem.Admit(nil, d)
	}
	return idem.Admit(&r.Record, d)
}

// openFence is the fence of a record that a crash loop ends: one that has not ended. Of two keys the other may
// be new, or DEAD in an earlier life; its fence is 0 then, and it stays as it is.
func openFence(r *Record) int64 {
	if r == nil || r.State == idem.StateDead {
		return 0
	}
	return r.Fence
}

// nextFence stays at the largest one, as idem.Admit does.
func nextFence(fence int64) int64 {
	if fence == math.MaxInt64 {
		return fence
	}
	return fence + 1
}

// see takes from a record what the delivery has to know.
func (g *Grant) see(r *Record, c *Claim) {
	if r == nil {
		return
	}
	g.RecordRedriveCount = max(g.RecordRedriveCount, int32(r.RedriveCount))
	if r.RedriveCount == int64(c.RedriveCount) {
		g.Counts.Retry = max(g.Counts.Retry, r.RetryCount)
		g.Counts.Hold = max(g.Counts.Hold, r.HoldCount)
	}
}

// Claimed is the record of key once a claim that proceeds is written. before is the record there was, or
// nil; fence is the grant's for that key. (DEDUP-010 to DEDUP-012)
func (c *Claim) Claimed(key string, fence int64, g *Grant, before *Record, now time.Time, retention time.Duration) Record {
	r := Record{Scope: c.Scope, Key: key, CreatedAt: now, UpdatedAt: now, RetryCount: g.Counts.Retry, HoldCount: g.Counts.Hold}
	r.State, r.Fence, r.Attempts, r.Owner = idem.StateProcessing, fence, g.Attempts, c.Owner
	r.RedriveCount, r.Position = int64(c.RedriveCount), int64(c.RetryCount)+int64(c.HoldCount)
	r.LeaseUntilMs, r.Fingerprint = g.LeaseUntilMs, c.Fingerprint
	r.ExpiresAt = now.Add(retention)
	if before != nil {
		r.CreatedAt = before.CreatedAt
		if before.Fingerprint != "" { // a record adopts the first
			r.Fingerprint = before.Fingerprint
		}
		if before.ExpiresAt.After(r.ExpiresAt) {
			r.ExpiresAt = before.ExpiresAt
		}
	}
	return r
}

// Duplicated is the record of key where the other key of the claim is SUCCESS. before is the record there
// was, or nil. (DEDUP-026)
func (c *Claim) Duplicated(key string, result []byte, before *Record, now time.Time, retention time.Duration) Record {
	r := Record{Scope: c.Scope, Key: key, CreatedAt: now}
	if before != nil {
		r = *before
	}
	r.State, r.Result, r.Owner, r.LeaseUntilMs = idem.StateSuccess, result, "", 0
	r.Fence = nextFence(r.Fence)
	if r.Fingerprint == "" {
		r.Fingerprint = c.Fingerprint
	}
	r.UpdatedAt, r.ExpiresAt = now, now.Add(retention)
	return r
}
