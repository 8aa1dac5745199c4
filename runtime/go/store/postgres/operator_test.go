package postgres_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	spec "github.com/idem-spec/idem/spec/sql"
)

// farEnd has 100,000 dead letters and as many deliveries to come. What an operator looks for is at the far end of each
// list, where a planner that takes values for spread evenly walks past all others.
var farEnd = []string{
	`INSERT INTO dead_letter (created_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
		event_type, source_topic, outcome, reason, topic, headers)
	SELECT now() - i * interval '1 s', i, 0, 0, 5, 0, CASE WHEN i < 90000 THEN 'payments' ELSE 'orders' END, 'key-' || i,
		'type-' || i / 5000, 'orders', CASE WHEN i > 95000 THEN 'CONFLICT' ELSE 'RETRYABLE' END,
		CASE WHEN i > 97000 THEN 'NO_RATE: EUR' WHEN i > 96000 THEN 'BANK_DOWN: eu' ELSE 'BANK_DOWN: 503' END, 'orders', '[]' FROM generate_series(1, 100000) i`,
	`INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
		event_type, source_topic, status, action, reason, topic, headers)
	SELECT now(), i, 0, 0, 1, 0, CASE WHEN i < 90000 THEN 'payments' ELSE 'orders' END, 'key-' || i,
		'type-' || i / 5000, 'orders', CASE WHEN i > 99000 THEN 'PARKED' ELSE 'PENDING' END, CASE WHEN i > 95000 THEN 'HOLD' ELSE 'RETRY' END,
		CASE WHEN i > 97000 THEN 'NO_RATE: EUR' ELSE 'BANK_DOWN: 503' END, 'orders', '[]' FROM generate_series(1, 100000) i`,
	`INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
	SELECT 'payments', 'key-' || i, 2, 1, now(), now(), now() FROM generate_series(1, 100000) i`,
	`INSERT INTO idem_operation (operator, command, reason, target) SELECT 'a@b', 'dlq redrive', 'r', 'ids ' || i FROM generate_series(1, 100000) i`,
	`INSERT INTO outbox (created_at, next_at, topic, headers) SELECT now(), now(), 'orders', '[]' FROM generate_series(1, 100000) i`,
	"ANALYZE",
}

// A page costs a page, whatever is looked for: none of these reads more rows of a table than it shows by much.
func TestWhatAnOperatorAsksIsReadOutOfAnIndex(t *testing.T) {
	t.Parallel()
	_, pool := open(t, postgres.Config{})
	for _, statement := range farEnd {
		run(t, pool, statement)
	}
	const custom, generic = "force_custom_plan", "force_generic_plan"
	for _, c := range []struct{ statement, plans, args, index string }{
		{"dead_recent", custom, "'', '', '', '', '', NULL, NULL, false, NULL, 0, 51, false", "dead_letter_created"},
		{"dead_recent", custom, "'orders', '', '', '', '', NULL, NULL, false, NULL, 0, 51, false", "dead_letter_scope"},
		{"dead_recent", custom, "'', '', 'type-19', '', '', NULL, NULL, false, NULL, 0, 51, false", "dead_letter_type"},
		{"dead_recent", custom, "'orders', '', 'type-19', '', '', NULL, NULL, false, NULL, 0, 51, false", "dead_letter_waiting dead_letter_type"},
		{"dead_recent", custom, "'', '', '', 'CONFLICT', '', NULL, NULL, false, NULL, 0, 51, false", "dead_letter_outcome"},
		{"dead_recent", custom, "'', '', '', '', 'NO_RATE', NULL, NULL, false, NULL, 0, 51, false", "dead_letter_reason"},
		{"dead_reasons", generic, "'BANK_DOWN: e', 1000", "dead_letter_detail"},
		{"dead_reasons", generic, "'BANK_DOWN: ', 1000", "dead_letter_detail"},
		{"dead_detail", custom, "'', '', '', '', 'BANK_DOWN: e', NULL, NULL, false, NULL, 0, 51, false, '{BANK_DOWN: eu}'", "dead_letter_detail"},
		{"dead_detail", custom, "'', '', '', '', 'BANK_DOWN: ', NULL, NULL, false, NULL, 0, 51, false, '{BANK_DOWN: 503,BANK_DOWN: eu}'", "dead_letter_detail"},
		{"dead_detail", custom, "'orders', '', 'type-19', '', 'BANK_DOWN: e', NULL, NULL, false, NULL, 0, 51, false, '{BANK_DOWN: eu}'", "dead_letter_detail"},
		{"dead_recent", custom, "'', 'key-7', '', '', '', NULL, NULL, true, NULL, 0, 51, false", "dead_letter_key"},
		{"dead_recent", custom, "'', '', '', '', '', now() - interval '20 hours', NULL, false, NULL, 0, 51, false", "dead_letter_created"},
		{"dead_recent", custom, "'', '', '', '', '', NULL, now() - interval '20 hours', false, NULL, 0, 51, false", "dead_letter_created"},
		{"dead_list", custom, "'', '', '', '', '', NULL, NULL, true, 99998, 1", "dead_letter_pkey"},
		{"retry_list", generic, "'', '', '', '', '', 0, 51", "msg_retry_kind"},
		{"retry_list", generic, "'', '', '', '', '', 99900, 51", "msg_retry_kind"},
		{"retry_list", generic, "'orders', '', '', '', '', 0, 51", "msg_retry_kind"},
		{"retry_list", generic, "'', 'type-19', '', '', '', 0, 51", "msg_retry_kind"},
		{"retry_list", generic, "'', '', 'HOLD', '', '', 0, 51", "msg_retry_kind"},
		{"retry_list", generic, "'', '', '', 'PARKED', '', 0, 51", "msg_retry_kind"},
		{"retry_list", generic, "'', '', '', '', 'NO_RATE', 0, 51", "msg_retry_kind"},
		{"retry_list", generic, "'orders', 'type-19', 'HOLD', 'PENDING', 'NO_RATE', 0, 51", "msg_retry_kind"},
		{"retry_list", generic, "'', '', '', '', 'NOTHING', 0, 51", "msg_retry_kind"},
		{"retry_walk", generic, "'', '', '', '', 'NO_RATE: E', 98000, 51", "msg_retry_pkey"},
		{"retry_find", generic, "'key-99999', '{orders,payments}', '', '', '', '', 0, 51", "msg_retry_source"},
		{"record_read", generic, "'payments', '{key-1,key-99999,nothing}'", "idem_record_pkey"},
		{"operation_list", generic, "9223372036854775807, 51", "idem_operation_pkey"},
		{"outbox_find", generic, `'["idempotency_key","k"]', 51`, "outbox_pkey"},
		{"scopes", generic, "", "dead_letter_scope"},
		{"dead_values", generic, "100", "dead_letter_reason"},
		{"dead_values", generic, "100", "dead_letter_type"},
		{"dead_values", generic, "100", "dead_letter_outcome"},
		{"dead_values", generic, "100", "dead_letter_scope"},
		{"retry_values", generic, "100", "msg_retry_kind"},
	} {
		asked := analyzed(t, pool, c.statement, c.plans, c.args)
		var used []string
		asked.walk(func(p *plan) {
			if p.Type == "Seq Scan" {
				t.Errorf("%s(%s) reads all of %s", c.statement, c.args, p.Table)
			}
			if n := p.rows(); p.Table != "" && n > 2000 {
				t.Errorf("%s(%s) reads %.0f rows of %s by %s", c.statement, c.args, n, p.Table, p.Index)
			}
			used = append(used, p.Index)
		})
		if !slices.ContainsFunc(strings.Fields(c.index), func(name string) bool { return slices.Contains(used, name) }) {
			t.Errorf("%s(%s) is read by %s, want %s", c.statement, c.args, used, c.index)
		}
	}
}

// analyzed runs a statement, and gives its plan with what each node of it did.
func analyzed(t *testing.T, pool *pgxpool.Pool, name, plans, args string) *plan {
	t.Helper()
	if args != "" {
		args = "(" + args + ")"
	}
	var answer string
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		for _, statement := range []string{"DEALLOCATE ALL", "SET LOCAL plan_cache_mode = " + plans, "PREPARE asked AS " + spec.PostgresStatements()[name]} {
			if _, err := tx.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		return tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE asked"+args, pgx.QueryExecModeSimpleProtocol).Scan(&answer)
	})
	var explained []struct{ Plan plan }
	if err == nil {
		err = json.Unmarshal([]byte(answer), &explained)
	}
	if err != nil {
		t.Fatalf("%s(%s): %v", name, args, err)
	}
	return &explained[0].Plan
}

// Whatever is looked for, and however it is mixed, a list has what a reading of all rows finds.
func TestListsOfRetriesLoseNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	chance := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[chance.IntN(len(of))] }
	var columns [6][]string
	const rows = 5000 // so that some codes have few rows, and one has many
	for i := range rows {
		columns[0], columns[1], columns[2] = append(columns[0], one("a", "b")), append(columns[1], one("k", "l", "m")), append(columns[2], one("", "x", "y"))
		columns[3], columns[4] = append(columns[3], one("PENDING", "PARKED")), append(columns[4], one("RETRY", "HOLD", "DEFER"))
		columns[5] = append(columns[5], one("", "NO", "NO: A", "NO: B", "NOT", "DOWN: NO", fmt.Sprint("C", i)))
	}
	run(t, pool, `INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope,
		idempotency_key, event_type, source_topic, status, action, reason, topic, headers)
		SELECT now(), i.n, 0, 0, 1, 0, i.scope, i.key, i.type, 'orders', i.status, i.action, i.reason, 'orders', '[]'
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS i (scope, key, type, status, action, reason, n)`,
		columns[0], columns[1], columns[2], columns[3], columns[4], columns[5])
	all, err := s.ListRetries(t.Context(), store.RetryFilter{}, 0, 2*rows)
	if err != nil || len(all) != rows {
		t.Fatalf("%d, %v", len(all), err)
	}
	for range 300 {
		f := store.RetryFilter{
			Scope: one("", "", "a", "b"), Key: one("", "", "k", "nothing"), EventType: one("", "", "x"), Status: store.RetryStatus(one("", "", "PARKED")),
			Action: one("", "", "HOLD", "REDRIVE"), ReasonPrefix: one("", "", "NO", "NO: A", "NO: ", "N", "DOWN", "DOWN: N", "C7"),
		}
		after, limit := chance.Int64N(rows), 1+chance.IntN(100)
		var want []int64
		for i := range all {
			if all[i].ID > after && selects(&f, &all[i]) && len(want) < limit {
				want = append(want, all[i].ID)
			}
		}
		list, err := s.ListRetries(t.Context(), f, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for i := range list {
			got = append(got, list[i].ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v behind %d, at most %d:\n got %v\nwant %v", f, after, limit, got, want)
		}
	}
}

// Few reasons or many, short ones or such as have their first 64 characters in common: a list has what a reading of all
// rows finds.
func TestListsOfDeadLettersLoseNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	long := strings.Repeat("x", 70)
	run(t, pool, `INSERT INTO dead_letter (created_at, redriven_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope,
		idempotency_key, event_type, source_topic, outcome, reason, topic, headers)
		SELECT now() - (i / 3) * interval '1 s', CASE WHEN i % 11 = 0 THEN now() END, i, 0, 0, 0, 0, 'scope-' || i % 2, 'key-' || i % 3, 'type-' || i % 5, 'orders', 'RETRYABLE',
			CASE i % 7 WHEN 0 THEN 'NO: A' WHEN 1 THEN 'NO: B' WHEN 2 THEN 'NO' WHEN 3 THEN 'NOT: A' WHEN 4 THEN 'FREE: request ' || i WHEN 5 THEN 'NO: ' || $1 || i % 2 ELSE '' END, 'orders', '[]'
		FROM generate_series(1, 8000) i`, long)
	filter := store.DeadLetterFilter{Redriven: true}
	all, err := s.RecentDeadLetters(t.Context(), filter, store.Cursor{}, 10000)
	if err != nil || len(all) != 8000 {
		t.Fatalf("%d, %v", len(all), err)
	}
	for _, prefix := range []string{"NO: A", "NO: ", "NO:", "NO: " + long, "NO: " + long + "1", "FREE: request 7", "FREE: ", "FREE: request 7996", "NONE: x", "NO:A"} {
		for _, f := range []store.DeadLetterFilter{{}, {Scope: "scope-1"}, {EventType: "type-4"}, {Key: "key-1"}, {Redriven: true}, {Outcome: "CONFLICT"}, {Until: all[4000].CreatedAt}} {
			f.ReasonPrefix = prefix
			for _, after := range []store.Cursor{{}, store.CursorOf(&all[100])} {
				var want, got []int64
				for i := range all {
					if d := &all[i]; strings.HasPrefix(d.Reason, prefix) && (f.Redriven || d.RedrivenAt.IsZero()) && (f.Scope == "" || d.Scope == f.Scope) && f.Outcome == "" &&
						(f.EventType == "" || d.EventType == f.EventType) && (f.Key == "" || d.Key == f.Key) && (f.Until.IsZero() || d.CreatedAt.Before(f.Until)) &&
						(after == store.Cursor{} || i > 100) && len(want) < 30 {
						want = append(want, d.ID)
					}
				}
				list, err := s.RecentDeadLetters(t.Context(), f, after, 30)
				if err != nil {
					t.Fatal(err)
				}
				for i := range list {
					got = append(got, list[i].ID)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%+v behind %v:\n got %v\nwant %v", f, after, got, want)
				}
			}
		}
	}
}

func selects(f *store.RetryFilter, r *store.Retry) bool {
	code, _, detailed := strings.Cut(f.ReasonPrefix, ":")
	its, _, _ := strings.Cut(r.Reason, ":")
	action, _ := idem.ParseAction(f.Action)
	return (f.Scope == "" || r.Scope == f.Scope) && (f.Key == "" || r.Key == f.Key) && (f.EventType == "" || r.EventType == f.EventType) &&
		(f.Status == "" || r.Status == f.Status) && (f.Action == "" || r.Action == action) &&
		(f.ReasonPrefix == "" || its == code && (!detailed || strings.HasPrefix(r.Reason, f.ReasonPrefix)))
}

// A page of large messages is as small as one of small ones.
func TestAListOfDeadLettersLeavesPayloadsOut(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, `INSERT INTO dead_letter (source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, source_topic, outcome, reason, topic, headers, payload)
		SELECT i, 0, 0, 0, 0, 's', 'k', 'orders', 'RETRYABLE', 'NO: A', 'orders', '[]', CASE WHEN i > 0 THEN convert_to(repeat('x', 5000), 'UTF8') END FROM generate_series(0, 1) i`)
	for _, f := range []store.DeadLetterFilter{{}, {ReasonPrefix: "NO: A"}, {Digests: true}, {ReasonPrefix: "NO: A", Digests: true}} {
		list, err := s.RecentDeadLetters(t.Context(), f, store.Cursor{}, 10)
		if err != nil || len(list) != 2 {
			t.Fatalf("%d, %v", len(list), err)
		}
		for i, payload := range []string{strings.Repeat("x", 5000), ""} {
			var digest []byte
			if sum := sha256.Sum256([]byte(payload)); f.Digests {
				digest = sum[:]
			}
			if d := &list[i]; d.Payload != nil || d.PayloadBytes != len(payload) || !bytes.Equal(d.PayloadSHA256, digest) {
				t.Errorf("%+v: %d bytes, and %d of %d, %x", f, len(d.Payload), d.PayloadBytes, len(payload), d.PayloadSHA256)
			}
		}
	}
}
