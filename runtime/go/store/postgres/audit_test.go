package postgres_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	spec "github.com/idem-spec/idem/spec/sql"
)

// The rows of an hour are those of all processes, which write them at a time. The server's own count of deadlocks says
// whether they lock them in one order: the store would begin again, and hide it. (CONS-040)
func TestProcessesThatCountAtATimeDoNotDeadlock(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	var counts []store.Count
	for i := range 200 {
		counts = append(counts, store.Count{Scope: "payments", EventType: fmt.Sprint("type-", i), Outcome: "OK", Action: "ACK", N: 1})
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				batch := make([]store.Count, 0, 100)
				for _, i := range rand.Perm(len(counts))[:100] {
					batch = append(batch, counts[i])
				}
				if err := s.Count(t.Context(), batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := value[int64](t, pool, "SELECT sum(count)::bigint FROM idem_audit"); n != 8*25*100 {
		t.Errorf("%d are counted, want %d", n, 8*25*100)
	}
	run(t, pool, "SELECT pg_stat_clear_snapshot()")
	if n := value[int64](t, pool, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// A week of a table of three months is read by the index, whatever is told apart.
func TestCountsOfAWeekComeOutOfTheIndex(t *testing.T) {
	t.Parallel()
	_, pool := open(t, postgres.Config{})
	run(t, pool, `INSERT INTO idem_audit (hour, scope, event_type, outcome, action, layer, count)
		SELECT date_trunc('hour', now()) - h * interval '1 hour', 'payments', 'type-' || i, 'OK', 'ACK', '', 7 FROM generate_series(0, 2160) h, generate_series(1, 40) i`)
	run(t, pool, "ANALYZE idem_audit")
	for _, told := range []string{"0, false, true", "7, false, true", "1, false, false", "0, true, false"} {
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
				return err
			}
			if _, err := tx.Exec(t.Context(), "PREPARE audit_read AS "+spec.PostgresStatements()["audit_read"]); err != nil {
				return err
			}
			defer func() { _, _ = tx.Exec(t.Context(), "DEALLOCATE audit_read") }()
			since := time.Now().Add(-7 * 24 * time.Hour).UTC().Format(time.RFC3339)
			var text string
			explain := "EXPLAIN (FORMAT JSON) EXECUTE audit_read('" + since + "', now(), '', " + told + ")"
			if err := tx.QueryRow(t.Context(), explain, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
				return err
			}
			var plans []struct{ Plan plan }
			if err := json.Unmarshal([]byte(text), &plans); err != nil {
				return err
			}
			indexed := false
			plans[0].Plan.walk(func(p *plan) { indexed = indexed || p.Index == "idem_audit_pkey" && p.Cond != "" })
			if !indexed {
				t.Errorf("%s: %s", told, text)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", told, err)
		}
	}
}
