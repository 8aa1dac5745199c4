package redis

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func look(t *testing.T, h *Hints, c store.Claim) store.Grant {
	t.Helper()
	answers, err := h.Look(context.Background(), []store.Claim{c})
	if err != nil {
		t.Fatal(err)
	}
	return answers[0]
}

// ask is what Look answers where the database has to be asked.
const ask = idem.AdmissionKind(0)

func wantLook(t *testing.T, h *Hints, c store.Claim, want idem.AdmissionKind) {
	t.Helper()
	if g := look(t, h, c); g.Kind != want {
		t.Errorf("look for %s by %s: %v, want %v", c.Key, c.Owner, g.Kind, want)
	}
}

func succeeded(t *testing.T, h *Hints, key, owner string, fence int64) {
	t.Helper()
	err := h.Succeeded(context.Background(), []store.Completion{{Lease: store.Lease{Scope: "s", Key: key, Owner: owner, Fence: fence}, Result: []byte("r")}})
	if err != nil {
		t.Fatal(err)
	}
}

func forgotten(t *testing.T, h *Hints, key string, fence int64) {
	t.Helper()
	if err := h.Forgotten(context.Background(), []store.Lease{{Scope: "s", Key: key, Fence: fence}}); err != nil {
		t.Fatal(err)
	}
}

func TestHintsAnswerTwoThingsAlone(t *testing.T) { // DEDUP-031
	t.Parallel()
	const print1, print2 = "00000001-0000000000000001", "00000001-0000000000000002"
	onEach(t, func(t *testing.T, c *redis.Client) {
		h := New(c, Config{}).Hints()
		of := func(key, owner, print string, redrive, retry int32) store.Claim {
			c := claimOf(key, owner)
			c.Fingerprint, c.RedriveCount, c.RetryCount = print, redrive, retry
			return c
		}
		wantLook(t, h, of("a", "w1", print1, 1, 2), ask)
		g := look(t, h, of("a", "w2", print1, 1, 2))
		if g.Kind != idem.AdmitInProgress || g.WaitMs <= 0 || g.WaitMs > 60000 || g.Counts.Retry != 2 {
			t.Errorf("live: %+v", g)
		}
		wantLook(t, h, of("a", "w1", print1, 1, 2), ask) // its own reply was lost
		wantLook(t, h, of("a", "w2", print2, 1, 2), ask) // may be KEY_REUSED
		wantLook(t, h, of("a", "w2", "", 1, 2), ask)     // the record's may be another
		wantLook(t, h, of("a", "w2", print1, 1, 1), ask) // may be STALE
		wantLook(t, h, of("a", "w2", print1, 0, 9), ask) // may be STALE
		wantLook(t, h, of("a", "w2", print1, 2, 0), idem.AdmitInProgress)
		succeeded(t, h, "a", "w2", 1) // not the claim that is noted
		wantLook(t, h, of("a", "w2", print1, 1, 2), idem.AdmitInProgress)
		succeeded(t, h, "a", "w1", 1)
		if g := look(t, h, of("a", "w2", print1, 1, 2)); g.Kind != idem.AdmitDuplicate || string(g.Result) != "r" {
			t.Errorf("done: %+v", g)
		}
		wantLook(t, h, of("a", "w2", print2, 1, 2), ask)
		wantLook(t, h, of("a", "w2", "", 1, 2), ask)
		wantLook(t, h, of("a", "w3", print1, 1, 2), idem.AdmitDuplicate) // and nothing was noted over it

		wantLook(t, h, of("b", "w1", "", 0, 0), ask)
		if err := h.Failed(t.Context(), []store.Lease{{Scope: "s", Key: "b", Owner: "w2"}}); err != nil {
			t.Fatal(err)
		}
		wantLook(t, h, of("b", "w2", "", 0, 0), idem.AdmitInProgress)
		if err := h.Failed(t.Context(), []store.Lease{{Scope: "s", Key: "b", Owner: "w1"}}); err != nil {
			t.Fatal(err)
		}
		if state := c.HGet(t.Context(), "idem:hint:{s:b}", "st").Val(); state != "3" {
			t.Errorf("refused by the database, the hint is %q and not FAILED", state)
		}
		succeeded(t, h, "b", "w1", 1)
		wantLook(t, h, of("b", "w2", "", 0, 0), ask)
	})
}

func TestHintsExpire(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *redis.Client) {
		h := New(c, Config{Retention: time.Hour}).Hints()
		want := func(longest time.Duration) {
			t.Helper()
			if got := c.PTTL(t.Context(), "idem:hint:{s:a}").Val(); got > longest || got < longest-10*time.Second {
				t.Errorf("kept for %v, want %v", got, longest)
			}
		}
		look(t, h, claimOf("a", "w1"))
		want(time.Minute)
		lease := store.Lease{Scope: "s", Key: "a", Fence: 1, Owner: "w1"}
		if err := h.Extended(t.Context(), []store.Renewal{{Lease: lease, For: 10 * time.Minute}}); err != nil {
			t.Fatal(err)
		}
		want(10 * time.Minute)
		succeeded(t, h, "a", "w1", 1)
		want(time.Hour)
		forgotten(t, h, "a", 2)
		want(time.Hour)
		look(t, h, claimOf("a", "w2")) // the fence stays for its time
		want(time.Hour)
	})
}

func TestSuccessFromBeforeAForgetIsNotNoted(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *redis.Client) {
		h := New(c, Config{}).Hints()
		for _, f := range []struct {
			key          string
			fence, floor int64
			want         idem.AdmissionKind
		}{
			{"earlier", 3, 4, ask},
			{"shorter", 9, 10, ask},
			{"same", 4, 4, idem.AdmitDuplicate},
			{"later", 1<<53 + 2, 1<<53 + 1, idem.AdmitDuplicate},
			{"beyond doubles", 1<<53 + 1, 1<<53 + 2, ask},
			{"no record", 1, 0, idem.AdmitDuplicate},
		} {
			forgotten(t, h, f.key, f.floor)
			look(t, h, claimOf(f.key, "w1"))
			succeeded(t, h, f.key, "w1", f.fence)
			if g := look(t, h, claimOf(f.key, "w2")); g.Kind != f.want {
				t.Errorf("%s: %v, want %v", f.key, g.Kind, f.want)
			}
		}
		look(t, h, claimOf("gone", "w1"))
		forgotten(t, h, "gone", 0)
		succeeded(t, h, "gone", "w1", 1)
		wantLook(t, h, claimOf("gone", "w2"), ask)
	})
}
