package deadletter_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/member"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// The life of messages, by the tables and by topics alone: each fails until it is a dead letter, is redriven
// once the fault is mended, and succeeds. Nothing is lost, and no key has two effects.
func TestMessagesEndAndAreRedrivenAndSucceed(t *testing.T) {
	t.Parallel()
	for _, topics := range []bool{false, true} {
		t.Run(map[bool]string{false: "tables", true: "topics"}[topics], func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { life(t, topics) })
		})
	}
}

func life(t *testing.T, topics bool) {
	const messages = 30
	ctx, cancel := context.WithCancel(t.Context())
	s := memory.New(memory.Config{})
	b := broker.NewMemory(broker.MemoryConfig{Partitions: 2})
	defer b.Close()
	c := guard.Config{Scope: scope, Publisher: b, DeadLetterTopic: topics, Log: quiet}
	var running sync.WaitGroup
	if topics {
		delays, err := retry.NewDelayTopics(b, retry.DelayConfig{Scope: scope, Origins: []string{origin}})
		if err != nil {
			t.Fatal(err)
		}
		c.Delays = delays
		f, err := retry.NewForwarder(b, delays, retry.ForwarderConfig{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() { _ = f.Run(ctx) })
	} else {
		scheduler, err := retry.NewScheduler(s, b, retry.Config{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() { _ = scheduler.Run(ctx) })
	}
	g, err := guard.New(s, c)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	broken, effects, calls := true, map[string]int{}, map[string][]time.Time{}
	consume := func(ctx context.Context, m *broker.Message) {
		for {
			_, err := g.Do(ctx, m, func(ctx context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				key := guard.KeyOf(ctx)
				calls[key] = append(calls[key], time.Now())
				if broken {
					return idem.Retryable(errors.New("no rate"))
				}
				effects[key]++
				return nil
			})
			if err == nil || ctx.Err() != nil {
				return
			}
		}
	}
	group, err := b.Group(ctx, scope, []string{origin, target})
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() {
		_ = member.Run(ctx, group, &member.Config{
			Name: "test", MaxBytes: 1 << 20, Commit: time.Second, Timeout: time.Second, Backoff: time.Second, BackoffMax: time.Second,
			Tell: tell.Teller{Log: quiet},
			Work: func(ctx context.Context, p *member.Partition) {
				for {
					select {
					case <-ctx.Done():
						return
					case batch := <-p.Batches:
						for i := range batch.Messages {
							consume(ctx, &batch.Messages[i])
							p.Done(batch.Messages[i].Offset + 1)
						}
					}
				}
			},
		})
	})
	for n := range messages {
		key := "key-" + strconv.Itoa(n)
		b.Publish(ctx, []broker.Message{{Topic: origin, Key: []byte(key), Value: []byte("payload"), Headers: headers("idempotency_key", key, "event_type", "paid", "max_retry", "2")}})
	}
	time.Sleep(time.Hour)
	mu.Lock()
	for key, at := range calls {
		if len(at) != 3 || at[1].Sub(at[0]) < time.Second || at[2].Sub(at[1]) < 2*time.Second || at[2].Sub(at[0]) > 8*time.Second {
			t.Errorf("%s ran at %v: want three times, after a second and two, and up to a second of jitter each", key, at)
		}
	}
	broken = false
	mu.Unlock()
	var report deadletter.Report
	if topics {
		c := campaign(deadletter.TopicConfig{Filter: store.DeadLetterFilter{EventType: "paid"}})
		report, err = deadletter.FromTopic(ctx, b, s, c)
	} else {
		report, err = redriver(t, s, deadletter.Config{}).Run(ctx, store.DeadLetterFilter{EventType: "paid"})
	}
	if err != nil || report.Redriven != messages {
		t.Errorf("%+v %v", report, err)
	}
	time.Sleep(time.Hour)
	cancel()
	running.Wait()
	if len(effects) != messages {
		t.Errorf("%d of %d have an effect", len(effects), messages)
	}
	for key, n := range effects {
		if n != 1 || len(calls[key]) != 4 {
			t.Errorf("%s: %d effects, %d calls", key, n, len(calls[key]))
		}
	}
	for _, m := range b.Messages(target) {
		if pairs := texts(m.Headers); len(pairs) > 26 || !slices.Contains(pairs, "target_scope") {
			t.Errorf("headers %v", pairs)
		}
	}
}
