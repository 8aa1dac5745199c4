package outbox_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// away is a store that does not answer until a time.
type away struct {
	store.Outbox
	until time.Time
}

func (a *away) ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Outgoing, error) {
	if time.Now().Before(a.until) {
		return nil, errDB
	}
	return a.Outbox.ClaimOutgoing(ctx, token, limit, lease)
}

func TestWhatFailsInEachRoundOfARelayIsLoggedOnceInTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
		defer b.Close()
		var out bytes.Buffer
		s := &away{memory.New(memory.Config{}), time.Now().Add(35 * time.Second)}
		r, err := outbox.NewRelay(s, b, outbox.RelayConfig{Log: slog.New(slog.NewTextHandler(&out, nil))})
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, message("a", 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), "level=ERROR"); n != 4 || strings.Count(out.String(), "works again") != 1 {
			t.Errorf("%d lines in 35 s:\n%s", n, out.String())
		}
		expect(t, b, "a", "a/1")
	})
}
