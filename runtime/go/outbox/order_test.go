package outbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// dice gives seeded numbers to several goroutines.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (d *dice) roll(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.IntN(n)
}

func (d *dice) nap(most time.Duration) time.Duration { return time.Duration(d.roll(int(most))) }

// chaos is a store that takes its time, fails, and loses replies.
type chaos struct {
	store.Outbox
	dice *dice
	// calm ends it.
	calm *atomic.Bool
}

// call does something, or not, and says so, or not.
func (c *chaos) call(do func() error) error {
	if c.calm.Load() {
		return do()
	}
	time.Sleep(c.dice.nap(300 * time.Millisecond))
	n := c.dice.roll(10)
	if n == 0 {
		return errDB
	}
	err := do()
	time.Sleep(c.dice.nap(300 * time.Millisecond))
	if n == 1 {
		return broker.ErrReplyLost
	}
	return err
}

func (c *chaos) Stored(ctx context.Context, topic string, keys [][]byte) (ok []bool, err error) {
	err = c.call(func() (err error) { ok, err = c.Outbox.Stored(ctx, topic, keys); return err })
	return ok, err
}

func (c *chaos) Store(ctx context.Context, messages []store.Outgoing) error {
	return c.call(func() error { return c.Outbox.Store(ctx, messages) })
}

func (c *chaos) ClaimOutgoing(ctx context.Context, token string, limit int, lease time.Duration) (rows []store.Outgoing, err error) {
	err = c.call(func() (err error) { rows, err = c.Outbox.ClaimOutgoing(ctx, token, limit, lease); return err })
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (c *chaos) Sent(ctx context.Context, token string, ids []int64) error {
	return c.call(func() error { return c.Outbox.Sent(ctx, token, ids) })
}

func (c *chaos) NotSent(ctx context.Context, token string, ids []int64, reason string, due time.Duration, failed bool) error {
	return c.call(func() error { return c.Outbox.NotSent(ctx, token, ids, reason, due, failed) })
}

// Two producers and two relays, as of as many processes, a store and a broker that fail, lose replies and
// deliver late. For each key messages are published one after another, by whichever producer, some of them
// in a transaction. Each has to arrive, for the first time in that order.
func TestNothingIsLostAndTheOrderOfAKeyIsKept(t *testing.T) {
	t.Parallel()
	seeds := uint64(150)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { chaosRun(t, seed) })
		})
	}
}

func chaosRun(t *testing.T, seed uint64) {
	d := &dice{random: rand.New(rand.NewPCG(seed, 7))}
	var calm atomic.Bool
	m := memory.New(memory.Config{})
	b := broker.NewMemory(broker.MemoryConfig{Partitions: 3, Faults: broker.MemoryFaults{
		Publish: func(context.Context, *broker.Message) (f broker.PublishFault) {
			if calm.Load() {
				return f
			}
			f.Delay = d.nap(400 * time.Millisecond)
			switch d.roll(6) {
			case 0:
				f.Err = errDown
			case 1:
				f.Err, f.Delivered = broker.ErrReplyLost, true
			case 2:
				f.Err, f.Delivered, f.Late = broker.ErrReplyLost, true, d.nap(20*time.Second)
			case 3:
				f.Delay = d.nap(30 * time.Second)
			}
			return f
		},
	}})
	defer b.Close()
	s := &chaos{Outbox: m, dice: d, calm: &calm}
	ctx, cancel := context.WithCancel(t.Context())
	var relays sync.WaitGroup
	for range 2 {
		r, err := outbox.NewRelay(s, b, outbox.RelayConfig{
			Batch: 4, Timeout: 2 * time.Second, Lease: 9 * time.Second, Revive: 20 * time.Second, Log: quiet,
		})
		if err != nil {
			t.Fatal(err)
		}
		relays.Go(func() { _ = r.Run(ctx) })
	}
	var producers []*outbox.Outbox
	for range 2 {
		p, err := outbox.New(s, b, outbox.Config{Timeout: time.Second, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		producers = append(producers, p)
	}
	const keys, messages = 4, 12
	var clients sync.WaitGroup
	for k := range keys {
		clients.Go(func() {
			key := fmt.Sprintf("k%d", k)
			for n := 0; n < messages; n += 2 {
				two := of(message(key, n), message(key, n+1))
				p := producers[d.roll(2)]
				if d.roll(4) == 0 {
					err := m.InTx(ctx, func(ctx context.Context, tx *memory.Tx) error {
						return outbox.PublishTx(ctx, p, m, tx, two...)
					})
					if err != nil {
						t.Error(err)
					}
					continue
				}
				// What is neither has to be published again, with all behind it, or is given up.
				for {
					results, err := p.Publish(ctx, two...)
					if err == nil {
						if slices.Contains(results, outbox.Neither) {
							t.Errorf("no error, and %v", results)
						}
						break
					}
				}
				time.Sleep(d.nap(3 * time.Second))
			}
		})
	}
	clients.Wait()
	calm.Store(true)
	time.Sleep(10 * time.Minute)
	cancel()
	relays.Wait()
	if stats, err := m.OutboxStats(context.Background()); err != nil || stats.Pending+stats.Failed != 0 {
		t.Errorf("%+v %v left", stats, err)
	}
	for k := range keys {
		key := fmt.Sprintf("k%d", k)
		var want []string
		for n := range messages {
			want = append(want, fmt.Sprintf("%s/%d", key, n))
		}
		expect(t, b, key, want...)
	}
}
