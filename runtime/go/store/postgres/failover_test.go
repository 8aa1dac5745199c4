package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// The primary is killed in the middle of transactions, and its synchronous standby promoted: each key has one
// effect, also those whose COMMIT got no reply.
func TestAFailoverInMidTransactionDoublesAndLosesNothing(t *testing.T) {
	s, pool := openURL(t, realtest.Standby(t), postgres.Config{})
	run(t, pool, "CREATE TABLE effect (name text)")
	const workers, keys = 4, 150
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var done, failed atomic.Int64
	half := make(chan struct{})
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			// They go on until somebody has noticed.
			for i := 0; i < keys || failed.Load() == 0; i++ {
				key := fmt.Sprintf("k-%d-%d", worker, i)
				for pay(ctx, s, key, "w-"+key) != nil {
					if failed.Add(1); ctx.Err() != nil {
						t.Errorf("%s: not done in time", key)
						return
					}
					time.Sleep(10 * time.Millisecond) // the pace of somebody who tries again
				}
				if done.Add(1) == workers*keys/2 {
					close(half)
				}
			}
		})
	}
	select {
	case <-half:
	case <-ctx.Done():
		t.Fatal("half of the keys were not done in time")
	}
	realtest.Services(t, "kill", "standby:1")
	realtest.Services(t, "promote")
	all.Wait()
	if n := value[int64](t, pool, "SELECT count(*) FROM effect"); n != done.Load() {
		t.Errorf("%d effects of %d keys", n, done.Load())
	}
	if n := value[int](t, pool, "SELECT count(*) FROM (SELECT FROM effect GROUP BY name HAVING count(*) > 1) d"); n != 0 {
		t.Errorf("%d keys have more than one effect", n)
	}
	if n := value[int](t, pool, "SELECT count(*) FROM idem_record WHERE state <> 2"); n != 0 {
		t.Errorf("%d records are not SUCCESS", n)
	}
}

// pay claims a key and has its effect; a key that was done before has it.
func pay(ctx context.Context, s *postgres.Store, key, owner string) error {
	grants, err := s.Claim(ctx, []store.Claim{claimOf(key, owner)})
	if err != nil || grants[0].Kind == idem.AdmitDuplicate {
		return err
	}
	if grants[0].Kind != idem.AdmitProceed {
		return errors.New(grants[0].Kind.String())
	}
	return s.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := insertEffect(ctx, tx, key); err != nil {
			return err
		}
		return s.CompleteTx(ctx, tx, store.Completion{Lease: grants[0].Lease})
	})
}
