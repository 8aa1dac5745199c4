package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	scope  = "payments"
	origin = "orders"
	target = "orders.retry.payments"
)

var (
	errDown = errors.New("database is down")
	quiet   = slog.New(slog.DiscardHandler)
)

// letter is the n-th dead letter.
func letter(n int) store.DeadLetter {
	key := fmt.Sprintf("key-%d", n)
	return store.DeadLetter{
		Scope: scope, Key: key, EventType: "paid", BizKey: "biz", EventID: "event",
		SourceTopic: origin, SourcePartition: 1, SourceOffset: int64(n), RetryCount: 5, HoldCount: 1,
		Outcome: idem.OutcomeNonRetryable, Reason: "BAD_RATE: 0", Topic: origin,
		MessageKey: []byte("biz"), Payload: fmt.Appendf(nil, "payload-%d", n),
		Headers: headers("idempotency_key", key, "event_type", "paid", "topic", origin, "fingerprint", "00000000-0000000000000000",
			"retry_count", "5", "max_retry", "5", "hold_count", "1", "target_scope", scope, "reject_reason", "BAD_RATE: 0", "x-other", "kept"),
	}
}

func headers(pairs ...string) (h idem.Headers) {
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, idem.Header{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return h
}

func texts(h idem.Headers) (pairs []string) {
	for i := range h {
		pairs = append(pairs, h[i].Name, string(h[i].Value))
	}
	return pairs
}

// bury writes dead letters of keys that are claimed first, so that there are records of them.
func bury(t testing.TB, s *memory.Store, letters ...store.DeadLetter) {
	t.Helper()
	ctx := context.Background()
	for i := range letters {
		d := &letters[i]
		settlement := store.Settlement{State: idem.StateDead, DeadLetter: d, RedriveCount: d.RedriveCount, RetryCount: d.RetryCount, HoldCount: d.HoldCount}
		if d.Key != "" && d.Outcome != idem.OutcomeTooOld {
			settlement.Lease = claim(t, s, d.Key, d.RedriveCount)
		}
		answers, err := s.Settle(ctx, []store.Settlement{settlement})
		if err != nil || answers[0] != store.SettledWritten {
			t.Fatal(answers, err)
		}
	}
}

func claim(t testing.TB, s *memory.Store, key string, life int32) store.Lease {
	t.Helper()
	grants, err := s.Claim(context.Background(), []store.Claim{{Scope: scope, Key: key, Owner: "o", RedriveCount: life, MaxAttempts: 9, Lease: 1 << 40, RetryCount: 5, HoldCount: 1}})
	if err != nil || grants[0].Kind != idem.AdmitProceed {
		t.Fatalf("claim %s: %+v %v", key, grants, err)
	}
	return grants[0].Lease
}

func redriver(t testing.TB, s *memory.Store, c deadletter.Config) *deadletter.Redriver {
	t.Helper()
	c.Log = quiet
	r, err := deadletter.New(s, s, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// due is what the scheduler would publish.
func due(t testing.TB, s *memory.Store) []store.Retry {
	t.Helper()
	rows, err := s.ClaimDue(context.Background(), "token", 10_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
