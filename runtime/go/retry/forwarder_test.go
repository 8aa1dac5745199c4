package retry_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// dueRow is a delivery whose headers say when it is due, as a guard writes them.
func dueRow(n int, delay time.Duration) store.Retry {
	r := row(n, delay)
	at, err := idem.AppendTimestampEpoch(nil, time.Now().Add(delay).UnixMilli(), idem.UnitMilliseconds, 3)
	if err != nil {
		panic(err)
	}
	r.Headers = idem.Headers{
		{Name: "idempotency_key", Value: []byte(r.Key)}, {Name: "next_retry_time", Value: at}, {Name: "x-other", Value: []byte("kept")},
	}
	return r
}

// dueAt is when a message says it is due.
func dueAt(t testing.TB, m *broker.Message) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, string(m.Headers[1].Value))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// forwarders runs n of them until stop is called.
func forwarders(t testing.TB, b *broker.Memory, d *retry.DelayTopics, n int, c retry.ForwarderConfig) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, n)
	c.Log = quiet
	for range n {
		f, err := retry.NewForwarder(b, d, c)
		if err != nil {
			t.Fatal(err)
		}
		go func() { ended <- f.Run(ctx) }()
	}
	return func() {
		cancel()
		for range n {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
}

func publishRetries(t testing.TB, d *retry.DelayTopics, rows ...store.Retry) {
	t.Helper()
	if errs := d.PublishRetries(t.Context(), rows); errs != nil {
		t.Fatal(errs)
	}
}

func TestForwarderPublishesEachMessageWhenItIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 2})
		defer b.Close()
		d := delayTopics(t, b, retry.DelayConfig{})
		stop := forwarders(t, b, d, 1, retry.ForwarderConfig{})
		random := rand.New(rand.NewPCG(1, 2))
		const rows = 200
		for n := range rows {
			publishRetries(t, d, dueRow(n, time.Duration(random.IntN(300_000))*time.Millisecond))
			time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		}
		time.Sleep(10 * time.Minute)
		stop()
		messages := b.Messages(target)
		if got := published(b, target); len(got) != rows || len(messages) != rows {
			t.Errorf("%d of %d published, %d times", len(got), rows, len(messages))
		}
		var worst time.Duration
		for i := range messages {
			late := messages[i].Time.Sub(dueAt(t, &messages[i]))
			if late < 0 {
				t.Errorf("%s came %v early", messages[i].Headers[0].Value, -late)
			}
			worst = max(worst, late)
			if string(messages[i].Headers[2].Value) != "kept" || len(messages[i].Headers) != 3 {
				t.Errorf("headers %v", messages[i].Headers)
			}
		}
		if worst > 1100*time.Millisecond { // the shortest bucket, and a little
			t.Errorf("one came %v late", worst)
		}
	})
}

// A window full of what has long to wait does not hide a message behind it that is due earlier.
func TestForwarderLooksBehindAFullWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
		defer b.Close()
		d := delayTopics(t, b, retry.DelayConfig{})
		for n := range 100 {
			publishRetries(t, d, dueRow(n, 590*time.Second))
		}
		publishRetries(t, d, dueRow(100, 61*time.Second))
		stop := forwarders(t, b, d, 1, retry.ForwarderConfig{Window: 10, MaxBytes: 1000})
		time.Sleep(70 * time.Second)
		if n := published(b, target)["key-100"]; n != 1 {
			t.Errorf("published %d times after 70 s, want once", n)
		}
		time.Sleep(10 * time.Minute)
		stop()
		if got := published(b, target); len(got) != 101 {
			t.Errorf("%d of 101 published", len(got))
		}
		if n := len(b.Messages("orders.delay-60.payments")); n > 101*10 {
			t.Errorf("moved on %d times, more than once in each bucket", n)
		}
	})
}

func TestAMessageWithoutATimeIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
		defer b.Close()
		d := delayTopics(t, b, retry.DelayConfig{})
		bad := row(1, time.Hour)
		bad.Headers = idem.Headers{{Name: "next_retry_time", Value: []byte("tomorrow")}, {Name: "next_retry_time"}}
		publishRetries(t, d, bad)
		stop := forwarders(t, b, d, 1, retry.ForwarderConfig{})
		time.Sleep(time.Second)
		stop()
		if n := len(b.Messages(target)); n != 1 {
			t.Errorf("published %d times", n)
		}
	})
}

// Nothing is committed past what is not confirmed, whoever has the partition by then.
func TestFault05_theForwarderCommitsWhatIsConfirmedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := true
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1, Faults: broker.MemoryFaults{
			Publish: func(_ context.Context, m *broker.Message) (f broker.PublishFault) {
				if down && m.Topic == target && string(m.Headers[0].Value) == "key-1" {
					f.Err = errDown
				}
				return f
			},
		}})
		defer b.Close()
		d := delayTopics(t, b, retry.DelayConfig{})
		for n := range 4 {
			publishRetries(t, d, dueRow(n, time.Second))
		}
		stop := forwarders(t, b, d, 1, retry.ForwarderConfig{})
		time.Sleep(time.Minute)
		synctest.Wait()
		at := broker.TopicPartition{Topic: "orders.delay-1.payments"}
		if offset, _ := b.Committed("payments.delay", at); offset != 1 {
			t.Errorf("committed %d while message 1 is not confirmed, want 1", offset)
		}
		if got := published(b, target); len(got) != 3 || len(b.Messages(target)) != 3 {
			t.Errorf("the others do not go on, or twice: %v", got)
		}
		stop()
		down = false
		stop = forwarders(t, b, d, 1, retry.ForwarderConfig{})
		time.Sleep(time.Minute)
		stop()
		if n := published(b, target)["key-1"]; n != 1 {
			t.Errorf("message 1 published %d times", n)
		}
		if offset, _ := b.Committed("payments.delay", at); offset != 4 {
			t.Errorf("committed %d, want 4", offset)
		}
	})
}

// Whatever fails, each message reaches the retry topic, and never before it is due.
func TestForwardersLoseNothingWhateverFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 3))
				dice := make(chan int)
				done := make(chan struct{})
				go func() {
					for {
						select {
						case dice <- random.IntN(1000):
						case <-done:
							return
						}
					}
				}()
				defer close(done)
				b := broker.NewMemory(broker.MemoryConfig{Partitions: 3, Faults: broker.MemoryFaults{
					Publish: func(context.Context, *broker.Message) (f broker.PublishFault) {
						switch n := <-dice; {
						case n < 150:
							f.Err = errDown
						case n < 300:
							f.Err, f.Delivered, f.Late = broker.ErrReplyLost, true, time.Second
						}
						return f
					},
					Fetch: func(context.Context, string, broker.TopicPartition, int64) error {
						if <-dice < 50 {
							return errDown
						}
						return nil
					},
					Commit: func(context.Context, string, map[broker.TopicPartition]int64) error {
						switch n := <-dice; {
						case n < 200:
							return errDown
						case n < 300:
							return broker.ErrReplyLost
						}
						return nil
					},
					Join: func(context.Context, string) error {
						if <-dice < 300 {
							return errDown
						}
						return nil
					},
				}})
				defer b.Close()
				d := delayTopics(t, b, retry.DelayConfig{})
				stop := forwarders(t, b, d, 2, retry.ForwarderConfig{Window: 7, MaxBytes: 600})
				const rows = 60
				for n := range rows {
					r := dueRow(n, time.Duration(<-dice)*90*time.Millisecond)
					for d.PublishRetries(t.Context(), []store.Retry{r}) != nil {
						time.Sleep(100 * time.Millisecond)
					}
					if <-dice < 100 {
						b.Rebalance("payments.delay")
					}
				}
				time.Sleep(10 * time.Minute)
				stop()
				time.Sleep(time.Minute)
				if got := published(b, target); len(got) != rows {
					t.Errorf("%d of %d published", len(got), rows)
				}
				for _, m := range b.Messages(target) {
					if m.Time.Before(dueAt(t, &m)) {
						t.Errorf("%s came early", m.Headers[0].Value)
					}
				}
			})
		})
	}
}
