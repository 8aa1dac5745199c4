package postgres_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
	spec "github.com/idem-spec/idem/spec/sql"
)

// What an operator looks for is often at the far end of the table, where a planner that takes values for spread evenly
// walks past all others. So each list has an index of its filter in the list's own order: nothing is sorted but the
// rows that are equal so far, and a page costs a page.
func TestListsOfDeadLettersComeOutOfAnIndexInOrder(t *testing.T) {
	t.Parallel()
	_, pool := open(t, postgres.Config{})
	for _, statement := range []string{
		`INSERT INTO dead_letter (created_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
			event_type, source_topic, outcome, reason, topic, headers)
		SELECT now() - i * interval '1 s', i, 0, 0, 5, 0, CASE WHEN i < 90000 THEN 'payments' ELSE 'orders' END, 'key-' || i,
			'type-' || i / 5000, 'orders', CASE WHEN i > 95000 THEN 'CONFLICT' ELSE 'RETRYABLE' END,
			CASE WHEN i > 97000 THEN 'NO_RATE: EUR' ELSE 'BANK_DOWN' END, 'orders', '[]' FROM generate_series(1, 100000) i`,
		"ANALYZE dead_letter",
	} {
		run(t, pool, statement)
	}
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	text := spec.PostgresStatements()["dead_recent"]
	for _, c := range []struct {
		filter  string // $1 to $8
		indexes []string
	}{
		{"'', '', '', '', '', NULL, NULL, false", []string{"dead_letter_created"}},
		{"'orders', '', '', '', '', NULL, NULL, false", []string{"dead_letter_scope"}},
		{"'', '', 'type-19', '', '', NULL, NULL, false", []string{"dead_letter_type"}},
		{"'orders', '', 'type-19', '', '', NULL, NULL, false", []string{"dead_letter_waiting", "dead_letter_type"}},
		{"'', '', '', 'CONFLICT', '', NULL, NULL, false", []string{"dead_letter_outcome"}},
		{"'', '', '', '', 'NO_RATE', NULL, NULL, false", []string{"dead_letter_reason"}},
		{"'', 'key-7', '', '', '', NULL, NULL, true", []string{"dead_letter_key"}},
		{"'', '', '', '', '', now() - interval '20 hours', NULL, false", []string{"dead_letter_created"}},
		{"'', '', '', '', '', NULL, now() - interval '20 hours', false", []string{"dead_letter_created"}},
	} {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var answer string
		_, err = tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = force_custom_plan")
		if err == nil {
			_, err = tx.Exec(t.Context(), "PREPARE dead_recent AS "+text)
		}
		if err == nil {
			err = tx.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE dead_recent("+c.filter+", NULL, 0, 50)", pgx.QueryExecModeSimpleProtocol).Scan(&answer)
		}
		if err != nil {
			t.Fatalf("%s: %v", c.filter, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "DEALLOCATE dead_recent"); err != nil {
			t.Fatal(err)
		}
		var plans []struct{ Plan plan }
		if err := json.Unmarshal([]byte(answer), &plans); err != nil {
			t.Fatal(err)
		}
		var used []string
		plans[0].Plan.walk(func(p *plan) {
			if p.Index != "" {
				used = append(used, p.Index)
			}
			if p.Type == "Seq Scan" || p.Type == "Sort" && !strings.Contains(c.filter, "key-7") {
				t.Errorf("%s: %s", c.filter, p.Type)
			}
		})
		if len(used) != 1 || !slices.Contains(c.indexes, used[0]) {
			t.Errorf("%s is read by %s, want one of %s", c.filter, fmt.Sprint(used), c.indexes)
		}
	}
}
