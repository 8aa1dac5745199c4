package redis

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func ttl(t *testing.T, s *Store, key string) time.Duration {
	t.Helper()
	d, err := s.client.PTTL(context.Background(), s.key("s", key)).Result()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wantTTL(t *testing.T, s *Store, key string, want time.Duration) {
	t.Helper()
	if got := ttl(t, s, key); got > want || got < want-10*time.Second {
		t.Errorf("%s is kept for %v, want %v", key, got, want)
	}
}

func TestEveryRecordExpires(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *redis.Client) {
		const retention = 2 * time.Hour
		s := New(c, Config{Retention: retention})
		ctx := t.Context()
		success := claim(t, s, claimOf("success", "w1"))
		wantTTL(t, s, "success", retention)
		if _, err := s.Complete(ctx, []store.Completion{{Lease: success.Lease}}); err != nil {
			t.Fatal(err)
		}
		failed := claim(t, s, claimOf("failed", "w1"))
		if _, err := s.Settle(ctx, []store.Settlement{{Lease: failed.Lease, State: idem.StateFailed}}); err != nil {
			t.Fatal(err)
		}
		claim(t, s, claimOf("forgotten", "w1"))
		if _, err := s.Forget(ctx, "s", []string{"forgotten"}); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"success", "failed", "forgotten"} {
			wantTTL(t, s, key, retention)
		}
	})
}

func TestClaimOutlivesItsLease(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *redis.Client) {
		s := New(c, Config{Retention: time.Minute})
		long := claimOf("a", "w1")
		long.Lease = time.Hour
		g := claim(t, s, long)
		wantTTL(t, s, "a", time.Hour)
		if renewed, err := s.Renew(t.Context(), []store.Renewal{{Lease: g.Lease, For: 3 * time.Hour}}); err != nil || !renewed[0] {
			t.Fatal(renewed, err)
		}
		wantTTL(t, s, "a", 3*time.Hour)
		if done, err := s.Complete(t.Context(), []store.Completion{{Lease: g.Lease}}); err != nil || !done[0] {
			t.Fatal(done, err)
		}
		wantTTL(t, s, "a", time.Minute)
	})
}

func TestRecordIsGoneAfterItsRetention(t *testing.T) {
	t.Parallel()
	m, c := mini(t)
	s := New(c, Config{Retention: time.Hour})
	g := claim(t, s, claimOf("a", "w1"))
	if _, err := s.Complete(t.Context(), []store.Completion{{Lease: g.Lease}}); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m.SetTime(start.Add(59 * time.Minute))
	if g := claim(t, s, claimOf("a", "w2")); g.Kind != idem.AdmitDuplicate {
		t.Errorf("before: %v", g.Kind)
	}
	m.SetTime(start.Add(61 * time.Minute))
	if g := claim(t, s, claimOf("a", "w2")); g.Kind != idem.AdmitProceed || g.Fence != 1 {
		t.Errorf("after: %+v", g)
	}
}
