package tiered_test

import (
	"context"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

// lateHint begins to read what it is asked once its caller has gone.
type lateHint struct {
	tiered.Hint
	gone chan struct{}
	read chan store.Claim
}

func (h lateHint) Look(_ context.Context, claims []store.Claim) ([]store.Grant, error) {
	<-h.gone
	h.read <- claims[0]
	return make([]store.Grant, len(claims)), nil
}

func (lateHint) Failed(context.Context, []store.Lease) error { return nil }

// A claim's batch is its caller's again when Claim has returned, and will hold other claims: a memory that is asked
// and does not answer in time must not note those, nor a mixture of both.
func TestAMemoryThatIsLateReadsNothingOfItsCaller(t *testing.T) {
	t.Parallel()
	h := lateHint{gone: make(chan struct{}), read: make(chan store.Claim, 1)}
	s := tiered.New(h, store.Full[*memory.Tx](memory.New(memory.Config{})), tiered.Config{Timeout: time.Millisecond})
	claims := []store.Claim{{Scope: "payments", Key: "a", Owner: "1", MaxAttempts: 9, Lease: time.Minute}}
	if _, err := s.Claim(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	claims[0] = store.Claim{Scope: "payments", Key: "b", Owner: "2", MaxAttempts: 9, Lease: time.Minute}
	close(h.gone)
	if c := <-h.read; c.Key != "a" || c.Owner != "1" {
		t.Errorf("it reads key %s of owner %s, which is the next batch", c.Key, c.Owner)
	}
}
