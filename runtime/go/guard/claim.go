package guard

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Claim asks the store which of the Opened deliveries may run, all in one call. It makes them Ready, Ended or
// Parked. Where it returns an error all of them are still Opened: call it again with the same deliveries, which
// then claim by the same owner, so that a claim whose reply was lost is not in its own way. (DEDUP-013)
func (g *Guard) Claim(ctx context.Context, ds []*Delivery) error {
	s := newScratch()
	defer s.free()
	fresh := 0
	for _, d := range ds {
		if d.Status != Opened {
			continue
		}
		if d.Key == "" {
			d.Status = Ready
			continue
		}
		if d.owner == "" {
			fresh++
		}
		s.deliveries = append(s.deliveries, d)
	}
	if len(s.deliveries) == 0 {
		return nil
	}
	giveOwners(s.deliveries, fresh)
	for _, d := range s.deliveries {
		s.claims = append(s.claims, g.claimOf(d))
	}
	grants, err := g.store.Claim(ctx, s.claims)
	if err == nil && len(grants) != len(s.claims) {
		err = fmt.Errorf("claim %d keys: the store gave %d answers", len(s.claims), len(grants))
	}
	if err != nil {
		g.storeError()
		return err // which begins as the one above
	}
	for i, d := range s.deliveries {
		g.granted(d, &grants[i])
	}
	return nil
}

func (g *Guard) claimOf(d *Delivery) store.Claim {
	e := &d.Envelope
	return store.Claim{
		Scope: g.c.Scope, Key: d.Key, Previous: e.IdempotencyKeyPrevious, Owner: d.owner, Fingerprint: e.Fingerprint,
		RedriveCount: e.RedriveCount, RetryCount: e.RetryCount, HoldCount: e.HoldCount,
		MaxAttempts: idem.MaxAttempts(d.Policy.MaxRetry), Lease: g.lease(d.Rules), Old: g.old(d), Lane: d.Lane,
	}
}

// old says that a message may have been produced before the retention began. (DEDUP-029)
func (g *Guard) old(d *Delivery) bool {
	return !d.produced.IsZero() && d.produced.Before(d.Received.Add(g.c.ClockSkew-g.c.Retention))
}

func (g *Guard) granted(d *Delivery, grant *store.Grant) {
	d.Grant, d.owner = *grant, ""
	d.Counts.Retry = max(d.Counts.Retry, grant.Counts.Retry)
	d.Counts.Hold = max(d.Counts.Hold, grant.Counts.Hold)
	if grant.Parked {
		d.Status = Parked
		return
	}
	outcome, ended := grant.Outcome()
	if !ended && !d.held() { // no handler runs without a claim
		d.notStarted(fmt.Errorf("the store gave no claim: %v", grant.Kind))
		return
	}
	if !ended {
		d.Status = Ready
		d.Alone = grant.Recovered && grant.Attempts >= 2
		return
	}
	d.Status, d.Result = Ended, idem.Result{Outcome: outcome}
	switch outcome {
	case idem.OutcomeDuplicate, idem.OutcomeStale, idem.OutcomeKeyReused:
		d.Layer = observe.LayerStore
		if grant.Hinted {
			d.Layer = observe.LayerRedis
		}
	}
	switch outcome {
	case idem.OutcomeDuplicate:
		d.Value = grant.Result
	case idem.OutcomeInProgress:
		d.Result.AfterMs = grant.WaitMs
	case idem.OutcomeKeyReused:
		d.Result.Reason = "KEY_REUSED: its fingerprint is " + d.Envelope.Fingerprint + ", and the key was used with " + grant.RecordFingerprint
	case idem.OutcomeCrashLoop:
		d.Result.Reason = "CRASH_LOOP: " + strconv.FormatInt(idem.MaxAttempts(d.Policy.MaxRetry), 10) + " attempts are used up"
	case idem.OutcomeTooOld:
		d.Result.Reason = "TOO_OLD: it was produced at " + d.produced.UTC().Format(time.RFC3339) + ", and records are kept for " + g.c.Retention.String()
	}
}

// ownerLen is 16 characters for 12 random bytes. A number of the delivery within the batch follows.
const ownerLen = 16

// giveOwners makes a token for each delivery that has none: one random prefix for the batch, and a number. All
// are cut from one string.
func giveOwners(ds []*Delivery, fresh int) {
	if fresh == 0 {
		return
	}
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	var prefix [ownerLen]byte
	base64.RawURLEncoding.Encode(prefix[:], random[:])
	var all strings.Builder
	all.Grow(fresh * (ownerLen + 1 + 4))
	var digits [20]byte
	now := time.Now()
	n := int64(0)
	for _, d := range ds {
		if d.owner != "" {
			continue
		}
		start := all.Len()
		all.Write(prefix[:])
		all.WriteByte('.')
		all.Write(strconv.AppendInt(digits[:0], n, 36))
		d.owner, d.claimed = all.String()[start:], now
		n++
	}
}
