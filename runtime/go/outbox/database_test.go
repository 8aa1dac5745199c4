package outbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

func sqliteStore(t testing.TB) store.Outbox {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "idem.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func postgresStore(t testing.TB) store.Outbox {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), realtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// What TestNothingIsLostAndTheOrderOfAKeyIsKept shows in memory, on databases, with relays that race.
func TestTheOrderOfAKeyIsKeptOnDatabases(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); raceOn(t, sqliteStore(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); raceOn(t, postgresStore(t)) })
}

func raceOn(t *testing.T, s store.Outbox) {
	d := &dice{random: rand.New(rand.NewPCG(11, 12))}
	b := broker.NewMemory(broker.MemoryConfig{Partitions: 3, Faults: broker.MemoryFaults{
		Publish: func(context.Context, *broker.Message) (f broker.PublishFault) {
			f.Delay = d.nap(3 * time.Millisecond)
			switch d.roll(6) {
			case 0:
				f.Err = errDown
			case 1:
				f.Err, f.Delivered = broker.ErrReplyLost, true
			}
			return f
		},
	}})
	defer b.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var relays sync.WaitGroup
	for range 3 {
		r, err := outbox.NewRelay(s, b, outbox.RelayConfig{
			Batch: 7, Poll: 5 * time.Millisecond, Revive: 50 * time.Millisecond, Log: quiet,
			Delays: []time.Duration{5 * time.Millisecond, 10 * time.Millisecond},
		})
		if err != nil {
			t.Fatal(err)
		}
		relays.Go(func() { _ = r.Run(ctx) })
	}
	const keys, messages = 5, 40
	var clients sync.WaitGroup
	for k := range keys {
		p, err := outbox.New(s, b, outbox.Config{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		clients.Go(func() {
			for n := range messages {
				if _, err := p.Publish(ctx, message(fmt.Sprintf("k%d", k), n)); err != nil {
					t.Error(err)
				}
				time.Sleep(d.nap(10 * time.Millisecond))
			}
		})
	}
	clients.Wait()
	deadline := time.Now().Add(time.Minute)
	for {
		stats, err := s.OutboxStats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if stats.Pending+stats.Failed == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v left", stats)
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	relays.Wait()
	for k := range keys {
		key := fmt.Sprintf("k%d", k)
		var want []string
		for n := range messages {
			want = append(want, fmt.Sprintf("%s/%d", key, n))
		}
		expect(t, b, key, want...)
	}
}
