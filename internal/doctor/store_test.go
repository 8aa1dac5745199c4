package doctor

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// run runs statements on a database.
func run(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	for _, s := range statements {
		_, err := conn.PgConn().Exec(context.Background(), s).ReadAll()
		require.NoError(t, err, s)
	}
}

// database makes one, without tables.
func database(t *testing.T) string {
	t.Helper()
	dsn := server(t, "DATABASE_URL", "postgres")
	name := strings.ReplaceAll(named("idem_doctor"), "-", "_")
	run(t, dsn, "CREATE DATABASE "+name)
	t.Cleanup(func() { run(t, dsn, "DROP DATABASE "+name+" WITH (FORCE)") })
	return changed(t, dsn, func(u *url.URL) { u.Path = "/" + name })
}

// changed is a URL with something else in it.
func changed(t *testing.T, dsn string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	change(u)
	return u.String()
}

// migrated makes tables in a database.
func migrated(t *testing.T, dsn string) {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn, postgres.Config{})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Migrate(t.Context()))
}

// world is a schema with tables, behind one of the test's that is in front of the server's catalog: what the server as
// a whole says there may be anything, and no other test minds.
func world(t *testing.T, dsn string, statements ...string) (look string) {
	t.Helper()
	name := strings.ReplaceAll(named("w"), "-", "_")
	path := func(schemas string) string {
		return changed(t, dsn, func(u *url.URL) {
			query := u.Query()
			query.Set("search_path", schemas)
			u.RawQuery = query.Encode()
		})
	}
	run(t, dsn, "CREATE SCHEMA "+name, "CREATE SCHEMA overlay_"+name)
	migrated(t, path(name))
	for _, s := range statements {
		run(t, path(name), strings.ReplaceAll(s, "overlay.", "overlay_"+name+"."))
	}
	return path("overlay_" + name + "," + name + ",pg_catalog")
}

// settings overlays pg_settings. Those of the test's server are fast, and not safe.
func settings(pairs ...string) string {
	pairs = append(pairs, "fsync", "on", "full_page_writes", "on", "synchronous_commit", "on", "autovacuum", "on")
	var cases strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&cases, " WHEN name = '%s' THEN '%s'", pairs[i], pairs[i+1])
	}
	return "CREATE VIEW overlay.pg_settings AS SELECT name, CASE" + cases.String() + " ELSE setting END AS setting, CASE WHEN name = 'default_transaction_isolation' THEN 'user' ELSE source END AS source FROM pg_catalog.pg_settings"
}

func lookAtStore(t *testing.T, dsn string) ([]Result, *Store) {
	t.Helper()
	s, err := OpenStore(t.Context(), connect.Database{Name: "shop", DSN: dsn})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return LookAtStore(t.Context(), s), s
}

const shop = "store shop"

// record is a dedup record that was handled in a time, and expires in another.
func record(n int, handled, expires string) string {
	return fmt.Sprintf(`INSERT INTO idem_record (fence, created_at, updated_at, expires_at, state, attempts, scope, key)
		SELECT 1, t - interval '%s', t, t + interval '%s', 2, 1, 's', '%s:' || i FROM clock_timestamp() t, generate_series(1, %d) i`, handled, expires, named("k"), n)
}

func retryRow(due, more string) string {
	return `INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, source_topic, status, action, topic, headers, claimed_until)
		VALUES (clock_timestamp() - interval '` + due + `', 0, 0, 0, 1, 0, 's', 'k', 't', 'PENDING', 'RETRY', 't.retry.s', '[]', ` + more + `)`
}

func outboxRow(age, failed string) string {
	return `INSERT INTO outbox (created_at, next_at, failed, topic, headers, last_error) SELECT t, t, ` + failed + `, 'orders', '[]', 'too large' FROM (SELECT clock_timestamp() - interval '` + age + `' AS t) AS x`
}

func TestStore(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	for name, c := range map[string]struct {
		id     string
		world  []string
		status Status
		found  string
	}{
		"tables":                              {"STORE_TABLES", nil, OK, "version "},
		"tables of the future":                {"STORE_TABLES", []string{"INSERT INTO idem_schema (version, name) VALUES (1000, 'later')"}, Error, "they are of version 1000"},
		"columns":                             {"STORE_COLUMNS", nil, OK, ""},
		"a column less":                       {"STORE_COLUMNS", []string{"ALTER TABLE outbox DROP COLUMN last_error"}, Error, "missing: outbox.last_error"},
		"a table less":                        {"STORE_COLUMNS", []string{"DROP TABLE dead_letter"}, Error, "and 14 more"},
		"indexes":                             {"STORE_INDEXES", nil, OK, ""},
		"an index less":                       {"STORE_INDEXES", []string{"DROP INDEX msg_retry_due"}, Error, "missing: msg_retry_due"},
		"an index that is not valid":          {"STORE_INDEXES", []string{"UPDATE pg_catalog.pg_index SET indisvalid = false WHERE indexrelid = 'outbox_waiting'::regclass"}, Error, "index outbox_waiting is not valid"},
		"a version":                           {"STORE_VERSION", nil, OK, "PostgreSQL "},
		"an old version":                      {"STORE_VERSION", []string{settings("server_version_num", "130009", "server_version", "13.9")}, Error, "it is PostgreSQL 13.9"},
		"writable":                            {"STORE_WRITABLE", nil, OK, ""},
		"a standby":                           {"STORE_WRITABLE", []string{"CREATE FUNCTION overlay.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'"}, Error, "it is a standby"},
		"read-only by others":                 {"STORE_WRITABLE", []string{"CREATE VIEW overlay.pg_settings AS SELECT name, setting, CASE WHEN name = 'default_transaction_read_only' THEN 'database' ELSE source END AS source FROM pg_catalog.pg_settings"}, Error, "set by the database"},
		"read committed":                      {"STORE_ISOLATION", nil, OK, ""},
		"repeatable read":                     {"STORE_ISOLATION", []string{settings("default_transaction_isolation", "repeatable read")}, Warning, `it is "repeatable read", set by the user`},
		"fsync":                               {"STORE_FSYNC", []string{settings()}, OK, ""},
		"no fsync":                            {"STORE_FSYNC", []string{settings("fsync", "off")}, Error, "fsync is off"},
		"torn pages":                          {"STORE_FSYNC", []string{settings("full_page_writes", "off")}, Error, "full_page_writes is off"},
		"commits on disk":                     {"STORE_SYNCHRONOUS_COMMIT", []string{settings()}, OK, "on"},
		"commits in memory":                   {"STORE_SYNCHRONOUS_COMMIT", []string{settings("synchronous_commit", "off")}, Error, "it is off"},
		"no standby":                          {"STORE_STANDBY", nil, Note, "0 follow"},
		"a standby that is waited for":        {"STORE_STANDBY", []string{settings("synchronous_standby_names", "s1"), standbys("'s1', 'streaming', 'sync'")}, Note, "commits wait for s1"},
		"a quorum":                            {"STORE_STANDBY", []string{settings("synchronous_standby_names", "ANY 1 (s1, s2)"), standbys("'s1', 'streaming', 'quorum'")}, Note, "commits wait for s1"},
		"a standby that is away":              {"STORE_STANDBY", []string{settings("synchronous_standby_names", "s1"), standbys("'s2', 'streaming', 'async'")}, Error, `commits wait for "s1", and none of it is there`},
		"a standby in vain":                   {"STORE_STANDBY", []string{settings("synchronous_standby_names", "s1", "synchronous_commit", "local"), standbys("'s1', 'streaming', 'sync'")}, Note, "does not wait for it"},
		"standbys that are hidden":            {"STORE_STANDBY", []string{standbys("'s1', NULL, NULL")}, Unknown, "may not see what standbys there are"},
		"autovacuum":                          {"STORE_AUTOVACUUM", []string{settings()}, OK, ""},
		"no autovacuum":                       {"STORE_AUTOVACUUM", []string{settings("autovacuum", "off")}, Error, "autovacuum is off"},
		"no counts":                           {"STORE_AUTOVACUUM", []string{settings("track_counts", "off")}, Error, "track_counts is off"},
		"no autovacuum of a table":            {"STORE_AUTOVACUUM", []string{settings(), "ALTER TABLE outbox SET (autovacuum_enabled = false)"}, Error, "it is off for outbox"},
		"half of each page":                   {"STORE_FILLFACTOR", nil, OK, ""},
		"full pages":                          {"STORE_FILLFACTOR", []string{"ALTER TABLE idem_record RESET (fillfactor)"}, Warning, "that of idem_record is 100"},
		"short transactions":                  {"STORE_LONG_TRANSACTIONS", nil, OK, ""},
		"a long transaction":                  {"STORE_LONG_TRANSACTIONS", []string{activity("10 minutes")}, Warning, "transaction of report, idle in transaction, for 10m"},
		"a very long transaction":             {"STORE_LONG_TRANSACTIONS", []string{activity("2 hours")}, Error, "for 2h"},
		"an old prepared transaction":         {"STORE_LONG_TRANSACTIONS", []string{"CREATE VIEW overlay.pg_prepared_xacts AS SELECT 'it''s'::text AS gid, now() - interval '3 days' AS prepared, current_database() AS database"}, Error, "prepared transaction it's, for 3d"},
		"a slot without a reader":             {"STORE_LONG_TRANSACTIONS", []string{"CREATE VIEW overlay.pg_replication_slots AS SELECT 'gone'::name AS slot_name, false AS active, NULL::xid AS xmin, txid_current()::text::xid AS catalog_xmin"}, Warning, "slot gone has no reader"},
		"connections":                         {"STORE_CONNECTIONS", []string{settings("max_connections", "100000")}, OK, "of 99997 of the server"},
		"few connections left":                {"STORE_CONNECTIONS", []string{databases(85), settings("max_connections", "103", "superuser_reserved_connections", "3")}, Warning, "85 of 100 connections of the server"},
		"no connections left":                 {"STORE_CONNECTIONS", []string{databases(99), settings("max_connections", "103", "superuser_reserved_connections", "3")}, Error, "99 of 100 connections of the server"},
		"no connections of the database left": {"STORE_CONNECTIONS", []string{"CREATE VIEW overlay.pg_database AS SELECT current_database() AS datname, 1 AS datconnlimit", databases(1), settings("max_connections", "100000")}, Error, "1 of 1 connections of the database"},
		"no pooler":                           {"STORE_POOLER", nil, OK, ""},
		"clocks":                              {"STORE_CLOCK", nil, OK, "apart"},
		"a clock that is ahead":               {"STORE_CLOCK", []string{clock("+ interval '10 s'")}, Warning, "ahead of this machine's"},
		"a clock that is far behind":          {"STORE_CLOCK", []string{clock("- interval '1 hour'")}, Error, "behind this machine's"},
		"records that live":                   {"STORE_CLEANER", []string{record(200, "20 ms", "14 days"), record(5, "20 ms", "-2 hours")}, OK, "5 of 205 records"},
		"some that have expired":              {"STORE_CLEANER", []string{record(100, "20 ms", "14 days"), record(30, "20 ms", "-2 hours")}, Warning, "30 of 130 records in the sample expired more than an hour ago, the first 2h"},
		"many that have expired":              {"STORE_CLEANER", []string{record(10, "20 ms", "14 days"), record(30, "20 ms", "-3 days")}, Error, "the first 3d ago"},
		"no retries":                          {"STORE_RETRIES_OVERDUE", nil, OK, ""},
		"retries to come":                     {"STORE_RETRIES_OVERDUE", []string{retryRow("-1 hour", "NULL")}, OK, ""},
		"retries that are published":          {"STORE_RETRIES_OVERDUE", []string{retryRow("1 hour", "clock_timestamp() + interval '1 minute'")}, OK, ""},
		"retries that are late":               {"STORE_RETRIES_OVERDUE", []string{retryRow("2 minutes", "NULL")}, Warning, "1 retries are due"},
		"retries that nobody publishes":       {"STORE_RETRIES_OVERDUE", []string{retryRow("2 hours", "clock_timestamp() - interval '1 hour'")}, Error, "the oldest for 2h"},
		"an outbox that is sent":              {"STORE_OUTBOX_OVERDUE", []string{outboxRow("1 s", "false")}, OK, ""},
		"an outbox that is late":              {"STORE_OUTBOX_OVERDUE", []string{outboxRow("2 minutes", "false")}, Warning, "1 messages of the outbox"},
		"an outbox that nobody sends":         {"STORE_OUTBOX_OVERDUE", []string{outboxRow("1 day", "false")}, Error, "the oldest for 1d"},
		"none that failed":                    {"STORE_OUTBOX_FAILED", []string{outboxRow("1 s", "false")}, OK, ""},
		"one that failed":                     {"STORE_OUTBOX_FAILED", []string{outboxRow("1 day", "true")}, Error, `1 messages, the oldest 1d old: to orders, "too large"`},
		"no lanes":                            {"STORE_LANES", nil, OK, ""},
		"a lane since now":                    {"STORE_LANES", []string{"INSERT INTO idem_lane (scope, topic, biz_key, head_key) VALUES ('s', 't', 'b', 'k')"}, OK, ""},
		"a lane for long":                     {"STORE_LANES", []string{"INSERT INTO idem_lane (since, scope, topic, biz_key, head_key) VALUES (now() - interval '2 hours', 's', 't', 'b', 'k''1')"}, Warning, "1 lanes are stuck, the oldest for 2h"},
		"a lane for days":                     {"STORE_LANES", []string{"INSERT INTO idem_lane (since, scope, topic, biz_key, head_key) VALUES (now() - interval '2 days', 's', 't', 'b', 'k')"}, Error, "for 2d"},
		"no dead letters":                     {"STORE_DEAD_LETTERS", nil, OK, ""},
		"dead letters": {"STORE_DEAD_LETTERS", []string{`INSERT INTO dead_letter (created_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, source_topic, outcome, topic, headers)
			SELECT now() - interval '3 days', n, 0, 0, 0, 0, 's', 'k' || n, 't', CASE n WHEN 1 THEN 'NON_RETRYABLE' ELSE 'KEY_REUSED' END, 't', '[]' FROM generate_series(1, 3) n`},
			Warning, "3 dead letters (2 KEY_REUSED, 1 NON_RETRYABLE), the oldest for 3d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, _ := lookAtStore(t, world(t, dsn, c.world...))
			expect(t, results, shop, c.id, c.status, c.found)
		})
	}
}

func standbys(row string) string {
	return "CREATE VIEW overlay.pg_stat_replication AS SELECT * FROM (VALUES (" + row + ")) AS v (application_name, state, sync_state)"
}

func activity(age string) string {
	return "CREATE VIEW overlay.pg_stat_activity AS SELECT current_database() AS datname, 7 AS pid, 'u'::name AS usename, 'report'::text AS application_name, 'idle in transaction'::text AS state, clock_timestamp() - interval '" + age + "' AS xact_start"
}

func databases(connections int) string {
	return fmt.Sprintf("CREATE VIEW overlay.pg_stat_database AS SELECT current_database() AS datname, %d AS numbackends", connections)
}

func clock(change string) string {
	return "CREATE FUNCTION overlay.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.clock_timestamp() " + strings.ReplaceAll(change, "'", "''") + "'"
}

func TestStoreWithoutTables(t *testing.T) {
	t.Parallel()
	results, s := lookAtStore(t, database(t))
	expect(t, results, shop, "STORE_TABLES", Error, "there are none in the search_path")
	for _, id := range []string{"STORE_COLUMNS", "STORE_INDEXES", "STORE_FILLFACTOR", "STORE_CLEANER"} {
		assert.Empty(t, with(results, shop, id), "what is not there is not healthy")
	}
	scopes, err := s.Scopes(t.Context())
	require.NoError(t, err)
	assert.Empty(t, scopes)
}

// A role that may do nothing is told so, check by check.
func TestStoreThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	migrated(t, dsn)
	role := strings.ReplaceAll(named("idem_doctor"), "-", "_")
	run(t, dsn, "CREATE ROLE "+role+" LOGIN PASSWORD 'hunter2'")
	t.Cleanup(func() { run(t, dsn, "DROP ROLE "+role) })
	as := changed(t, dsn, func(u *url.URL) { u.User = url.UserPassword(role, "hunter2") })
	results, _ := lookAtStore(t, as)
	for _, id := range []string{"STORE_TABLES", "STORE_LONG_TRANSACTIONS", "STORE_CLEANER", "STORE_RETRIES_OVERDUE", "STORE_OUTBOX_OVERDUE", "STORE_OUTBOX_FAILED", "STORE_LANES", "STORE_DEAD_LETTERS"} {
		expect(t, results, shop, id, Unknown, "not")
	}
	for _, r := range results {
		assert.NotContains(t, r.Found+r.Mend, "hunter2")
	}
	run(t, dsn, "ALTER ROLE "+role+" CONNECTION LIMIT 2")
	results, _ = lookAtStore(t, as)
	expect(t, results, shop, "STORE_CONNECTIONS", Error, "of 2 connections of the role")
}

func TestTimesAreLearnedFromRecords(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	migrated(t, dsn)
	_, s := lookAtStore(t, dsn)
	timing := NewTiming(0, 0, 0)
	timing.Learn(t.Context(), s)
	assert.Zero(t, timing.P99, "nothing is known of no records")
	s.Close()

	run(t, dsn, record(200, "20 ms", "10 days"), record(4, "3 minutes", "10 days"),
		"INSERT INTO idem_record (fence, created_at, updated_at, expires_at, state, attempts, scope, key) SELECT 1, now() - interval '1 day', now(), now() + interval '10 days', 2, 2, 's', 'second:' || i FROM generate_series(1, 100) i")
	_, s = lookAtStore(t, dsn)
	timing.Learn(t.Context(), s)
	assert.Equal(t, 3*time.Minute, timing.P99)
	assert.Equal(t, 10*24*time.Hour, timing.Retention)
	results := LookAtTiming(t.Context(), timing)
	expect(t, results, "timing", "TIMING_LEASE", Warning, "the lease is 30s (the default), and the handler's P99 3m (an estimate, from claim to success in 204 records of store shop)")
	expect(t, results, "timing", "TIMING_RETENTION", OK, "10d")

	said := NewTiming(time.Second, time.Minute, 24*time.Hour)
	said.Learn(t.Context(), s)
	assert.Equal(t, []time.Duration{time.Second, time.Minute, 24 * time.Hour}, []time.Duration{said.P99, said.Lease, said.Retention}, "flags go first")
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id     string
		timing Timing
		status Status
		found  string
	}{
		"a lease that is longer":       {"TIMING_LEASE", Timing{Lease: 30 * time.Second, P99: time.Second}, OK, "30s"},
		"a lease that is as long":      {"TIMING_LEASE", Timing{Lease: 30 * time.Second, P99: 30 * time.Second}, Warning, "the handler's P99 30s"},
		"a lease, and nobody knows":    {"TIMING_LEASE", Timing{Lease: 30 * time.Second}, Unknown, "nobody knows how long"},
		"records that are kept":        {"TIMING_RETENTION", Timing{Retention: time.Hour, Retries: time.Minute, P99: time.Minute}, OK, "1h"},
		"records for four handlers":    {"TIMING_RETENTION", Timing{Retention: 4 * time.Minute, Retries: time.Second, P99: time.Minute}, Error, "P99 is 1m"},
		"records that retries outlive": {"TIMING_RETENTION", Timing{Retention: time.Hour, Retries: time.Hour, P99: time.Second}, Error, "take up to 1h"},
		"retention, and nobody knows":  {"TIMING_RETENTION", Timing{Retention: time.Hour}, Unknown, "nobody knows how long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, LookAtTiming(t.Context(), &c.timing), "timing", c.id, c.status, c.found)
		})
	}
}
