package redis

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// lossy loses the next reply of a connection: the server has done what it was asked, and the client sees the
// connection end.
type lossy struct {
	net.Conn
	lose *atomic.Int32
}

func (l lossy) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err == nil && l.lose.Add(-1) >= 0 {
		_ = l.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

func lossyClient(t *testing.T, options *redis.Options) (*redis.Client, *atomic.Int32) {
	t.Helper()
	lose := new(atomic.Int32)
	own := *options
	own.MaxRetries, own.MinRetryBackoff = 3, time.Millisecond
	own.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return lossy{c, lose}, err
	}
	c := redis.NewClient(&own)
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Ping(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	return c, lose
}

func claimOf(key, owner string) store.Claim {
	return store.Claim{Scope: "s", Key: key, Owner: owner, MaxAttempts: idem.MaxAttempts(5), Lease: time.Minute}
}

func claim(t testing.TB, s *Store, c store.Claim) store.Grant {
	t.Helper()
	grants, err := s.Claim(context.Background(), []store.Claim{c})
	if err != nil {
		t.Fatal(err)
	}
	return grants[0]
}

// Fault 11: the reply to a claim is lost, the client sends it again, and its own claim reads as a duplicate.
func TestFault11LostReplyIsAnsweredAlike(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, direct *redis.Client) {
		c, lose := lossyClient(t, direct.Options())
		s := New(c, Config{})
		lost := func(step string, run func()) {
			t.Helper()
			lose.Store(1)
			run()
			if lose.Load() > 0 {
				t.Fatalf("%s: no reply was lost: the test proves nothing", step)
			}
			lose.Store(-1)
		}
		claim(t, s, claimOf("warm", "w")) // the server has the script

		var g store.Grant
		lost("claim", func() { g = claim(t, s, claimOf("a", "w1")) })
		if g.Kind != idem.AdmitProceed || g.Fence != 1 || g.Attempts != 1 || g.Recovered {
			t.Fatalf("claim: %+v", g)
		}
		lost("complete", func() {
			done, err := s.Complete(t.Context(), []store.Completion{{Lease: g.Lease, Result: []byte("r")}})
			if err != nil || !done[0] {
				t.Errorf("complete: %v %v", done, err)
			}
		})
		if done, err := s.Complete(t.Context(), []store.Completion{{Lease: g.Lease}}); err != nil || done[0] {
			t.Errorf("another call completes it again: %v %v", done, err)
		}

		for _, state := range []idem.State{idem.StateFailed, idem.StateDead} {
			g = claim(t, s, claimOf("b"+state.String(), "w1"))
			x := store.Settlement{Lease: g.Lease, State: state, GiveBack: true}
			lost("settle", func() {
				settled, err := s.Settle(t.Context(), []store.Settlement{x})
				if err != nil || settled[0] != store.SettledWritten {
					t.Errorf("settle: %v %v", settled, err)
				}
			})
			if settled, err := s.Settle(t.Context(), []store.Settlement{x}); err != nil || settled[0] != store.SettledFenced {
				t.Errorf("another call settles it again: %v %v", settled, err)
			}
		}

		claim(t, s, claimOf("c", "w1"))
		lost("forget", func() {
			if n, err := s.Forget(t.Context(), "s", []string{"c"}); err != nil || n != 1 {
				t.Errorf("forget: %d %v", n, err)
			}
		})
		if r := one(t, s, "c"); r.Fence != 2 {
			t.Errorf("forgotten once, the fence is %d", r.Fence)
		}
	})
}

func TestServerThatLostItsScriptsIsGivenThem(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c *redis.Client) {
		s := New(c, Config{})
		claims := []store.Claim{claimOf("a", "w1"), claimOf("b", "w1"), claimOf("c", "w1")}
		for _, want := range []idem.AdmissionKind{idem.AdmitProceed, idem.AdmitInProgress} {
			if err := c.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			grants, err := s.Claim(t.Context(), claims)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range grants {
				if g.Kind != want {
					t.Errorf("claim %d: %v, want %v", i, g.Kind, want)
				}
			}
			for i := range claims {
				claims[i].Owner = "w2"
			}
		}
	})
}

func TestBatchBeyondOnePipelineIsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	s := New(real(t), Config{})
	claims := make([]store.Claim, 2*pipelined+7)
	for i := range claims {
		claims[i] = claimOf(string(rune('a'+i%26))+token(), "w1")
	}
	grants, err := s.Claim(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range grants {
		if g.Kind != idem.AdmitProceed || g.Lease.Key != claims[i].Key {
			t.Fatalf("claim %d: %+v", i, g)
		}
	}
}
