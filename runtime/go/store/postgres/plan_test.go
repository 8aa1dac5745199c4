package postgres_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
	spec "github.com/idem-spec/idem/spec/sql"
)

// wholeIndex are statements that walk an index from its beginning, in order, to the first rows they want, or that
// count.
var wholeIndex = []string{"lane_sweep", "retry_next", "retry_count", "dead_stats", "outbox_claim", "outbox_retry", "outbox_stats"}

type plan struct {
	Type  string `json:"Node Type"`
	Table string `json:"Relation Name"`
	Index string `json:"Index Name"`
	Cond  string `json:"Index Cond"`
	Plans []plan
	// What it did, in all its loops.
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Loops   float64 `json:"Actual Loops"`
}

// rows is how many rows it has read.
func (p *plan) rows() float64 { return (p.Rows + p.Removed) * p.Loops }

func (p *plan) walk(visit func(*plan)) {
	visit(p)
	for i := range p.Plans {
		p.Plans[i].walk(visit)
	}
}

// With 100,000 rows, and the plan that is kept for every parameter, no statement reads a table as a whole.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	t.Run("one table", func(t *testing.T) {
		t.Parallel()
		everyStatementUsesAnIndex(t, 0)
	})
	t.Run("partitions", func(t *testing.T) {
		t.Parallel()
		everyStatementUsesAnIndex(t, 8)
	})
}

func everyStatementUsesAnIndex(t *testing.T, partitions int) {
	_, pool := open(t, postgres.Config{Partitions: partitions})
	many(t, pool)
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	texts := spec.PostgresStatements()
	for _, name := range sortedNames(texts) {
		if strings.HasPrefix(name, "schema_") || name == "settings" || name == "outbox_lock" {
			continue
		}
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if name != "complete_one" && name != "outbox_put" { // these run in handlers' transactions, too
				if _, err := tx.Exec(t.Context(), texts["settings"], "1s", "60s", "60s", "force_generic_plan"); err != nil {
					return err
				}
			} else if _, err := tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = force_generic_plan"); err != nil {
				return err
			}
			if _, err := tx.Exec(t.Context(), "PREPARE "+name+" AS "+texts[name]); err != nil {
				return fmt.Errorf("prepare: %w", err)
			}
			arguments := ""
			switch n := parameters(texts[name]); {
			case name == "dead_list", name == "dead_count", name == "dead_recent", name == "dead_detail": // planned for their parameters
				if _, err := tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
					return err
				}
				arguments = "('payments', '', 'type-3', '', '', NULL, NULL, false" +
					map[string]string{"dead_list": ", 0, 10)", "dead_count": ")", "dead_recent": ", NULL, 0, 10, false)", "dead_detail": ", NULL, 0, 10, false, '{BANK_DOWN: 503}')"}[name]
			case n > 0:
				arguments = "(" + strings.TrimSuffix(strings.Repeat("NULL,", n), ",") + ")"
			}
			var text string
			if err := tx.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE "+name+arguments, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
				return fmt.Errorf("explain: %w", err)
			}
			var plans []struct{ Plan plan }
			if err := json.Unmarshal([]byte(text), &plans); err != nil {
				return err
			}
			plans[0].Plan.walk(func(p *plan) {
				switch {
				case p.Type == "Seq Scan":
					t.Errorf("%s reads all of %s", name, p.Table)
				case strings.HasPrefix(p.Type, "Index") && p.Cond == "" && !slices.Contains(wholeIndex, name):
					t.Errorf("%s walks all of %s", name, p.Index)
				case p.Type == "Hash Join" || p.Type == "Merge Join":
					t.Errorf("%s has a %s", name, p.Type)
				}
			})
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// many fills the tables: 100,000 rows each, analyzed, as autovacuum has them.
func many(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
			SELECT 'payments', 'key-' || i, 1 + i % 4, 1, now(), now(), now() + i * interval '10 s' FROM generate_series(1, 100000) i`,
		`INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
			source_topic, status, action, lane_topic, lane_key, biz_key, topic, headers)
			SELECT now() + i * interval '1 s', i, 0, 0, 1, 0, 'payments', 'key-' || i, 'orders', CASE WHEN i % 10 = 0 THEN 'PARKED' ELSE 'PENDING' END,
			CASE WHEN i % 7 = 0 THEN 'HOLD' ELSE 'RETRY' END, 'orders', 'o-' || i % 1000, 'o-' || i % 1000, 'orders.retry.payments', '[]' FROM generate_series(1, 100000) i`,
		`INSERT INTO idem_lane (scope, topic, biz_key, head_key) SELECT 'payments', 'orders', 'o-' || i, 'key-' || i FROM generate_series(1, 100000) i`,
		`INSERT INTO dead_letter (source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, event_type, source_topic, outcome, topic, headers)
			SELECT i, 0, 0, 5, 0, 'payments', 'key-' || i, 'type-' || i % 20, 'orders', 'RETRYABLE', 'orders', '[]' FROM generate_series(1, 100000) i`,
		`INSERT INTO idem_audit (hour, scope, event_type, outcome, action, layer, count)
			SELECT date_trunc('hour', now()) - i / 50 * interval '1 hour', 'payments', 'type-' || i % 50, 'OK', 'ACK', '', 7 FROM generate_series(1, 100000) i`,
		`INSERT INTO idem_operation (operator, command, reason, target) SELECT 'a@b', 'dlq redrive', 'r', 'ids ' || i FROM generate_series(1, 100000) i`,
		`INSERT INTO outbox (created_at, next_at, topic, headers, message_key) SELECT now(), now(), 'orders', '[]', ('o-' || i % 1000)::bytea FROM generate_series(1, 100000) i`,
		"ANALYZE",
	} {
		run(t, pool, statement)
	}
}

func sortedNames(texts map[string]string) []string { return slices.Sorted(maps.Keys(texts)) }

func parameters(text string) int {
	most := 0
	for _, m := range regexp.MustCompile(`\$([0-9]+)`).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1]) // digits
		most = max(most, n)
	}
	return most
}
