package replay

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestScopesOfDifferentCallersNeverMeet(t *testing.T) {
	t.Parallel()
	e := Engine{Service: "payments"}
	seen := map[string]Call{}
	for _, c := range []Call{
		{Principal: "ann", Method: "POST", Route: "/a"}, {Principal: "annP", Method: "OST", Route: "/a"}, {Principal: "ann", Method: "POST/a"},
		{Principal: "", Method: "annPOST", Route: "/a"}, {Principal: "ann\x00", Method: "POST", Route: "/a"}, {Principal: "ann", Method: "POST", Route: "/b"},
	} {
		scope := e.Scope(&c)
		assert.Regexp(t, `^payments\.[0-9a-f]{32}$`, scope)
		assert.NotContains(t, seen, scope)
		seen[scope] = c
	}
	assert.Equal(t, e.Scope(&Call{Principal: "ann", Key: "1"}), e.Scope(&Call{Principal: "ann", Key: "2", Fingerprint: "f"}))
}

func TestEventTypeIsAName(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Call{
		"POST.orders.id":        {Method: "POST", Route: "/orders/{id}"},
		"POST.POST.orders.id.x": {Method: "POST", Route: "POST /orders/{id}/x"},
		"shop.v1.Payments.Pay":  {Route: "/shop.v1.Payments/Pay"},
	} {
		assert.Equal(t, want, eventType(&c))
	}
	assert.LessOrEqual(t, len(eventType(&Call{Method: "POST", Route: string(make([]byte, 1000))})), 200)
}

func TestCallThatOutlivesItsTimeIsToldSo(t *testing.T) {
	t.Parallel()
	e := Engine{Store: memory.New(memory.Config{}), Service: "s", Timeout: 5 * time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, e.Check("test"))
	answer := e.Do(t.Context(), &Call{Key: "k"}, func(ctx context.Context) ([]byte, bool) {
		<-ctx.Done()
		assert.ErrorIs(t, context.Cause(ctx), errTimeout)
		return []byte("late"), true
	})
	assert.Equal(t, Ran, answer.Kind)
	answer = e.Do(t.Context(), &Call{Key: "k"}, nil)
	assert.Equal(t, Answer{Kind: Replayed, Result: []byte("late")}, answer)
}

func TestPanicGoesOnAndTheKeyIsFree(t *testing.T) {
	t.Parallel()
	e := Engine{Store: memory.New(memory.Config{}), Service: "s", Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, e.Check("test"))
	assert.PanicsWithValue(t, "boom", func() {
		e.Do(t.Context(), &Call{Key: "k"}, func(context.Context) ([]byte, bool) { panic("boom") })
	})
	ran := false
	e.Do(t.Context(), &Call{Key: "k"}, func(context.Context) ([]byte, bool) { ran = true; return nil, true })
	assert.True(t, ran)
}

// noRenewal is a store that this process is cut off from, once the call runs.
type noRenewal struct {
	store.Store
	hangs bool
}

func (n noRenewal) Renew(ctx context.Context, _ []store.Renewal) ([]bool, error) {
	if n.hangs {
		<-ctx.Done()
	}
	return nil, errors.New("no route to host")
}

// Where no renewal is answered the call ends with its lease, not with its time: another may have the key by then.
func TestCallEndsWithALeaseThatCannotBeRenewed(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := noRenewal{memory.New(memory.Config{}), hangs}
			e := Engine{Store: s, Service: "s", Lease: 30 * time.Second, Timeout: 10 * time.Minute, Log: slog.New(slog.DiscardHandler)}
			require.NoError(t, e.Check("test"))
			start := time.Now()
			e.Do(t.Context(), &Call{Key: "k"}, func(ctx context.Context) ([]byte, bool) {
				<-ctx.Done()
				assert.Equal(t, 30*time.Second, time.Since(start).Round(10*time.Second))
				return nil, false
			})
		})
	}
}

// hasty is a store whose caller goes away while its claim is answered.
type hasty struct {
	store.Store
	leave func()
}

func (h *hasty) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	grants, err := h.Store.Claim(ctx, claims)
	if h.leave != nil {
		h.leave()
		h.leave = nil
		return nil, ctx.Err()
	}
	return grants, err
}

// Callers that go away before their call has begun neither take its key along, nor use up its attempts.
func TestACallerThatGoesAwayLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	s := &hasty{Store: memory.New(memory.Config{})}
	e := Engine{Store: s, Service: "s", Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, e.Check("test"))
	for range 2 * DefaultMaxAttempts {
		ctx, cancel := context.WithCancel(t.Context())
		s.leave = cancel
		answer := e.Do(ctx, &Call{Key: "k"}, func(context.Context) ([]byte, bool) {
			assert.Fail(t, "it runs")
			return nil, false
		})
		assert.Equal(t, Unavailable, answer.Kind)
	}
	answer := e.Do(t.Context(), &Call{Key: "k"}, func(context.Context) ([]byte, bool) { return nil, true })
	assert.Equal(t, Ran, answer.Kind)
}
