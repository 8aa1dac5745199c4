package member

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var partition = broker.TopicPartition{Topic: "t"}

func config(work func(ctx context.Context, p *Partition)) *Config {
	return &Config{
		Name: "test", MaxBytes: 1, Commit: 100 * time.Millisecond, Timeout: time.Second,
		Backoff: time.Millisecond, BackoffMax: time.Second, Work: work, Tell: tell.Teller{Log: slog.New(slog.DiscardHandler)},
	}
}

func group(t *testing.T, faults broker.MemoryFaults, messages int) (*broker.Memory, broker.Group) {
	t.Helper()
	b := broker.NewMemory(broker.MemoryConfig{Partitions: 1, Faults: faults})
	t.Cleanup(func() { b.Close() })
	for n := range messages {
		b.Publish(t.Context(), []broker.Message{{Topic: "t", Value: fmt.Appendf(nil, "%d", n)}})
	}
	g, err := b.Group(t.Context(), "g", []string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	return b, g
}

// drain finishes each message, up to n of them.
func drain(n int64) func(ctx context.Context, p *Partition) {
	return func(ctx context.Context, p *Partition) {
		for {
			select {
			case <-ctx.Done():
				return
			case batch := <-p.Batches:
				for _, m := range batch.Messages {
					p.Done(m.Offset + 1)
					if m.Offset+1 == n {
						return
					}
				}
			}
		}
	}
}

func TestTheOffsetNeverGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, g := group(t, broker.MemoryFaults{}, 5)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- Run(ctx, g, config(func(ctx context.Context, p *Partition) {
				p.Done(4)
				p.Done(2)
				time.Sleep(time.Second)
				p.Done(3)
				<-ctx.Done()
			}))
		}()
		for range 5 {
			time.Sleep(time.Second)
			if offset, _ := b.Committed("g", partition); offset != 4 {
				t.Errorf("committed %d, want 4", offset)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestWhatIsDoneIsCommittedWhenItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, g := group(t, broker.MemoryFaults{}, 5)
		c := config(drain(3))
		c.Commit = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := Run(ctx, g, c); err != nil {
			t.Error(err)
		}
		if offset, _ := b.Committed("g", partition); offset != 3 {
			t.Errorf("committed %d, want 3", offset)
		}
	})
}

func TestFinishEndsWithTheCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fails := 2
		var seen []string
		b, g := group(t, broker.MemoryFaults{Commit: func(context.Context, string, map[broker.TopicPartition]int64) error {
			if fails--; fails >= 0 {
				return fmt.Errorf("commit %d", fails)
			}
			return nil
		}}, 3)
		c := config(func(ctx context.Context, p *Partition) {
			seen = append(seen, fmt.Sprint(p.Offset))
			drain(3)(ctx, p)
		})
		c.Finish, c.Commit = true, time.Hour
		if err := Run(t.Context(), g, c); err != nil {
			t.Error(err)
		}
		if offset, _ := b.Committed("g", partition); offset != 3 {
			t.Errorf("committed %d, want 3", offset)
		}
		if !slices.Equal(seen, []string{"0", "0", "0"}) {
			t.Errorf("begun at %v: it ends only where it is committed", seen)
		}
	})
}

func TestItJoinsAgainAndGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun []int64
		joins := 0
		b, g := group(t, broker.MemoryFaults{
			Join: func(context.Context, string) error {
				if joins++; joins%2 == 1 {
					return fmt.Errorf("join %d", joins)
				}
				return nil
			},
			Fetch: func(_ context.Context, _ string, _ broker.TopicPartition, offset int64) error {
				if offset == 1 && joins < 3 {
					return fmt.Errorf("fetch at %d", offset)
				}
				return nil
			},
		}, 3)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- Run(ctx, g, config(func(ctx context.Context, p *Partition) {
				begun = append(begun, p.Offset)
				drain(-1)(ctx, p)
			}))
		}()
		time.Sleep(time.Second)
		b.Rebalance("g")
		time.Sleep(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if !slices.Equal(begun, []int64{0, 1}) {
			t.Errorf("begun at %v, want 0 and 1", begun)
		}
		if offset, _ := b.Committed("g", partition); offset != 3 {
			t.Errorf("committed %d, want 3", offset)
		}
	})
}

func TestAPartitionThatIsNotReceivedIsNotFetched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fetches := 0
		_, g := group(t, broker.MemoryFaults{Fetch: func(context.Context, string, broker.TopicPartition, int64) error {
			fetches++
			return nil
		}}, 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := Run(ctx, g, config(func(ctx context.Context, _ *Partition) { <-ctx.Done() })); err != nil {
			t.Error(err)
		}
		if fetches != 1 {
			t.Errorf("fetched %d times", fetches)
		}
	})
}
