package outbox_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// hanging is a store of which one method hangs, a number of times.
type hanging struct {
	store.Outbox
	method string
	times  int
}

func (h *hanging) stall(ctx context.Context, method string) error {
	if h.method != method || h.times == 0 {
		return nil
	}
	h.times--
	<-ctx.Done()
	return ctx.Err()
}

func (h *hanging) ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Outgoing, error) {
	if err := h.stall(ctx, "claim"); err != nil {
		return nil, err
	}
	return h.Outbox.ClaimOutgoing(ctx, token, limit, lease)
}

func (h *hanging) Sent(ctx context.Context, token string, ids []int64) error {
	if err := h.stall(ctx, "sent"); err != nil {
		return err
	}
	return h.Outbox.Sent(ctx, token, ids)
}

func (h *hanging) NotSent(ctx context.Context, token string, ids []int64, reason string, due time.Duration, failed bool) error {
	if err := h.stall(ctx, "not sent"); err != nil {
		return err
	}
	return h.Outbox.NotSent(ctx, token, ids, reason, due, failed)
}

func (h *hanging) RetryFailed(ctx context.Context, limit int) (int, error) {
	if err := h.stall(ctx, "retry"); err != nil {
		return 0, err
	}
	return h.Outbox.RetryFailed(ctx, limit)
}

func (h *hanging) OutboxStats(ctx context.Context) (store.OutboxStats, error) {
	if err := h.stall(ctx, "stats"); err != nil {
		return store.OutboxStats{}, err
	}
	return h.Outbox.OutboxStats(ctx)
}

func TestFault15_aStalledQueryOrPublicationDoesNotHangTheRelay(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"claim", "sent", "not sent", "retry", "stats", "publish"} {
		t.Log(method)
		synctest.Test(t, func(t *testing.T) {
			m := memory.New(memory.Config{})
			stalls := 0
			if method == "publish" || method == "not sent" {
				stalls = 1
			}
			b := broker.NewMemory(broker.MemoryConfig{Partitions: 1, Faults: broker.MemoryFaults{
				Publish: func(context.Context, *broker.Message) (f broker.PublishFault) {
					if stalls > 0 {
						stalls--
						f.Delay = time.Hour
					}
					return f
				},
			}})
			defer b.Close()
			h := &hanging{Outbox: m, method: method, times: 2}
			r, err := outbox.NewRelay(h, b, outbox.RelayConfig{Log: quiet, Observer: new(gauges), Revive: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- r.Run(ctx) }()
			put(t, m, message("a", 1), message("a", 2))
			time.Sleep(5 * time.Minute)
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			expect(t, b, "a", "a/1", "a/2")
			if s, _ := m.OutboxStats(t.Context()); s.Pending+s.Failed != 0 {
				t.Errorf("%+v left", s)
			}
		})
	}
}
