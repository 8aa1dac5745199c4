package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/storetest"
)

func claim(t *testing.T, s *memory.Store, owner string) store.Grant {
	t.Helper()
	c := store.Claim{Scope: "payments", Key: "a", Owner: owner, MaxAttempts: idem.MaxAttempts(5), Lease: time.Minute}
	grants, err := s.Claim(t.Context(), []store.Claim{c})
	if err != nil || grants[0].Kind != idem.AdmitProceed {
		t.Fatalf("got %+v, %v", grants, err)
	}
	return grants[0]
}

// A database locks the row when the handler completes; here it is looked at again at the commit.
func TestAClaimThatIsLostBeforeTheCommitIsFencedOut(t *testing.T) {
	t.Parallel()
	clock := new(storetest.Clock)
	s := memory.New(memory.Config{Now: clock.Now})
	g := claim(t, s, "w1")
	effect := false
	err := s.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error {
		tx.Do(func() { effect = true })
		if err := s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease}); err != nil {
			return err
		}
		clock.Advance(2 * time.Minute)
		claim(t, s, "w2")
		return s.StoreTx(ctx, tx, []store.Outgoing{{Topic: "orders"}})
	})
	if !errors.Is(err, store.ErrFenced) {
		t.Fatalf("got %v, want %v", err, store.ErrFenced)
	}
	if effect {
		t.Error("the effect is there")
	}
	if stats, err := s.OutboxStats(t.Context()); err != nil || stats.Pending != 0 {
		t.Errorf("outbox: %+v, %v", stats, err)
	}
}

func TestAClaimCompletesOnceInATransaction(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	g := claim(t, s, "w1")
	err := s.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error {
		return errors.Join(s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease}), s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease}))
	})
	if !errors.Is(err, store.ErrFenced) {
		t.Fatalf("got %v, want %v", err, store.ErrFenced)
	}
}

func TestEffectsAreDoneInTheirOrder(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	var done []int
	err := s.InTx(t.Context(), func(_ context.Context, tx *memory.Tx) error {
		for n := range 3 {
			tx.Do(func() { done = append(done, n) })
		}
		if done != nil {
			t.Error("an effect is done before the commit")
		}
		return nil
	})
	if err != nil || fmt.Sprint(done) != "[0 1 2]" {
		t.Errorf("got %v, %v", done, err)
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, err := s.Claim(t.Context(), make([]store.Claim, 3))
	if !errors.Is(err, memory.ErrClosed) || err.Error() != "claim 3 keys: the store is closed" {
		t.Errorf("claim: got %v", err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("check: got %v", err)
	}
	ran := false
	err = s.InTx(t.Context(), func(context.Context, *memory.Tx) error { ran = true; return nil })
	if !errors.Is(err, memory.ErrClosed) || ran {
		t.Errorf("transaction: got %v, ran %v", err, ran)
	}
}
