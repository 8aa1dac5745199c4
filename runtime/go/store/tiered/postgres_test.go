package tiered_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

// Redis in front of PostgreSQL, both real: Redis is flushed in the middle, and each key has one effect.
func TestEachKeyHasOneEffectOnPostgres(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	truth, err := postgres.Open(ctx, realtest.Postgres(t), postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := truth.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	options, err := goredis.ParseURL(realtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	s := tiered.New(redis.New(client, redis.Config{}).Hints(), truth, patient)
	defer s.Close()
	err = s.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE effect (key text)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const keys, workers = 60, 3
	var answered atomic.Int32
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for k := range keys {
				if k%20 == 10 {
					if err := client.FlushDB(ctx).Err(); err != nil {
						t.Error(err)
					}
				}
				g := claim(t, s, claimOf(fmt.Sprint("k", k), fmt.Sprint("w", w)))
				if g.Kind != idem.AdmitProceed {
					answered.Add(1)
					continue
				}
				err := s.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, "INSERT INTO effect VALUES ($1)", g.Lease.Key); err != nil {
						return err
					}
					return s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease})
				})
				if err != nil && !errors.Is(err, store.ErrFenced) {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := answered.Load(); n != keys*(workers-1) {
		t.Errorf("%d claims were answered otherwise than PROCEED, want %d", n, keys*(workers-1))
	}
	var rows, distinct int
	err = s.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, "SELECT count(*), count(DISTINCT key) FROM effect").Scan(&rows, &distinct)
	})
	if err != nil || rows != keys || distinct != keys {
		t.Errorf("%d effects of %d keys, want %d of each: %v", rows, distinct, keys, err)
	}
	// And what is noted after a commit is answered from memory.
	g := claim(t, s, claimOf("noted", "w1"))
	err = s.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return s.CompleteTx(ctx, tx, store.Completion{Lease: g.Lease})
	})
	if err != nil {
		t.Fatal(err)
	}
	if state := client.HGet(ctx, "idem:hint:{"+scope+":noted}", "st").Val(); state != "2" {
		t.Errorf("after the commit the hint is %q", state)
	}
}
