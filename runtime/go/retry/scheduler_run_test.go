package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestRunWakesWhenARowIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
		defer b.Close()
		s, err := retry.NewScheduler(m, b, retry.Config{Poll: time.Minute, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		put(t, m, row(1, 1500*time.Millisecond), row(2, 42*time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		time.Sleep(2 * time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		messages := b.Messages(target)
		if len(messages) != 2 {
			t.Fatalf("%d published", len(messages))
		}
		for i, due := range []time.Duration{1500 * time.Millisecond, 42 * time.Second} {
			if late := messages[i].Time.Sub(begin) - due; late < 0 || late > 50*time.Millisecond {
				t.Errorf("row %d came %v after it was due", i, late)
			}
		}
	})
}

func TestWakeHasTheSchedulerLookAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
		defer b.Close()
		s, err := retry.NewScheduler(m, b, retry.Config{Poll: time.Hour, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		put(t, m, row(1, 0))
		s.Wake()
		synctest.Wait()
		if n := len(b.Messages(target)); n != 1 {
			t.Errorf("%d published", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// What has begun is finished when the context ends: it would be published twice otherwise.
func TestRunFinishesTheRoundThatHasBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		b := broker.NewMemory(broker.MemoryConfig{Partitions: 1, Faults: broker.MemoryFaults{
			Publish: func(context.Context, *broker.Message) broker.PublishFault {
				return broker.PublishFault{Delay: 3 * time.Second}
			},
		}})
		defer b.Close()
		s, err := retry.NewScheduler(m, b, retry.Config{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		put(t, m, row(1, 0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		if c, _ := m.CountRetries(t.Context()); c.Pending != 0 || len(b.Messages(target)) != 1 {
			t.Errorf("%d rows left, %d published", c.Pending, len(b.Messages(target)))
		}
	})
}

// In an outage a scheduler that has to end does not try on until its lease is over.
func TestRunEndsSoonAlsoInAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		s, err := retry.NewScheduler(m, &stalling{times: 1000}, retry.Config{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 50 {
			put(t, m, row(n, 0))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 11*time.Second {
			t.Errorf("ended %v after its context", took-time.Second)
		}
		if c, _ := m.CountRetries(t.Context()); c.Pending != 50 {
			t.Errorf("%d rows left", c.Pending)
		}
	})
}

// Rows for a retry topic that nobody has made wait for it, and only they.
func TestAMissingTopicHoldsBackItsOwnRowsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Config{})
		b := broker.NewMemory(broker.MemoryConfig{})
		defer b.Close()
		if err := b.CreateTopic(target, 1); err != nil {
			t.Fatal(err)
		}
		s, err := retry.NewScheduler(m, b, retry.Config{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		for n := range 20 {
			lost := row(n, 0)
			lost.Topic = "refunds.retry.payments"
			lost.SourceTopic = "refunds"
			put(t, m, lost, row(n, 0))
		}
		time.Sleep(5 * time.Second)
		if n := len(b.Messages(target)); n != 20 {
			t.Errorf("%d of 20 published", n)
		}
		if err := b.CreateTopic("refunds.retry.payments", 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if n := len(b.Messages("refunds.retry.payments")); n != 20 {
			t.Errorf("%d of 20 published once the topic is there", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
