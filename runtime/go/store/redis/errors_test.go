package redis

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/store"
)

func wantError(t *testing.T, err, want error, action string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
	if !strings.HasPrefix(err.Error(), action) {
		t.Errorf("%q does not begin with %q", err, action)
	}
}

func TestTwoKeysOnAClusterAreRefused(t *testing.T) {
	t.Parallel()
	_, c := mini(t)
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Options().Addr}})
	defer cluster.Close()
	dual := claimOf("new", "w1")
	dual.Previous = "old"
	_, err := New(cluster, Config{}).Claim(t.Context(), []store.Claim{dual})
	wantError(t, err, ErrTwoSlots, "claim 1 keys: ")
	lease := store.Lease{Scope: "s", Key: "new", Fence: 1, Previous: "old", PreviousFence: 1, Owner: "w1"}
	_, err = New(cluster, Config{}).Complete(t.Context(), []store.Completion{{Lease: lease}})
	wantError(t, err, ErrTwoSlots, "complete 1 keys: ")
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": c.Options().Addr}})
	defer ring.Close()
	_, err = New(ring, Config{}).Claim(t.Context(), []store.Claim{dual})
	wantError(t, err, ErrTwoSlots, "claim 1 keys: ")
}

func TestLanesAndFollowUpsAreRefused(t *testing.T) {
	t.Parallel()
	_, c := mini(t)
	s := New(c, Config{})
	parks := claimOf("a", "w1")
	parks.Lane = store.Lane{Topic: "orders", BizKey: "o-1"}
	_, err := s.Claim(t.Context(), []store.Claim{parks})
	wantError(t, err, ErrLanes, "claim 1 keys: ")
	_, err = s.Settle(t.Context(), []store.Settlement{{Retry: &store.Retry{}}})
	wantError(t, err, ErrFollowUps, "settle 1 deliveries: ")
	_, err = s.Settle(t.Context(), []store.Settlement{{DeadLetter: &store.DeadLetter{}}})
	wantError(t, err, ErrFollowUps, "settle 1 deliveries: ")
}

func TestServersThatCannotKeepRecordsAreNamed(t *testing.T) {
	t.Parallel()
	t.Run("wrong password", func(t *testing.T) {
		t.Parallel()
		m := miniredis.RunT(t)
		m.RequireAuth("secret")
		for _, password := range []string{"", "guess"} {
			c := redis.NewClient(&redis.Options{Addr: m.Addr(), Password: password})
			defer c.Close()
			s := New(c, Config{})
			wantError(t, s.Check(t.Context()), ErrCredentials, "check redis: ")
			_, err := s.Claim(t.Context(), []store.Claim{claimOf("a", "w1")})
			wantError(t, err, ErrCredentials, "claim 1 keys: ")
			if strings.Contains(err.Error(), "guess") {
				t.Errorf("the error tells the password: %v", err)
			}
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialTimeout: time.Second, DialerRetries: 1})
		defer c.Close()
		_, err := New(c, Config{}).Claim(t.Context(), []store.Claim{claimOf("a", "w1")})
		if err == nil || !strings.HasPrefix(err.Error(), "claim 1 keys: ") || !strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("evicts", func(t *testing.T) {
		t.Parallel()
		s := New(real(t), Config{})
		for policy, want := range map[string]error{"allkeys-lru": ErrEviction, "noeviction": nil} {
			facts := map[string]string{"redis_version": "7.0.15", "maxmemory_policy": policy, "maxmemory": "1000", "role": "master"}
			if err := s.accepts(facts); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", policy, err, want)
			}
		}
		if err := New(s.client, Config{AllowEviction: true}).accepts(map[string]string{"maxmemory_policy": "allkeys-lru", "maxmemory": "1000"}); err != nil {
			t.Errorf("allowed, and yet %v", err)
		}
		for name, facts := range map[error]map[string]string{
			ErrReadOnly:      {"role": "slave"},
			ErrClusterClient: {"cluster_enabled": "1"},
		} {
			if err := s.accepts(facts); !errors.Is(err, name) {
				t.Errorf("%v: %v", facts, err)
			}
		}
		if err := s.accepts(map[string]string{"redis_version": "5.0.7"}); err == nil {
			t.Error("Redis 5 is accepted")
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
