package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// A sweep that has seen a done head may find another one by the time it has the lane's lock: whoever moved the
// lane meanwhile made a head of a message that is not done, and which must not be overtaken. (CONS-015)
func TestASweepLeavesALaneThatAnotherHasMoved(t *testing.T) {
	t.Parallel()
	url := realtest.Postgres(t)
	_, pool := openURL(t, url, postgres.Config{})
	run(t, pool, `INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
		SELECT 'payments', key, state, 1, now(), now(), now() + interval '1 day' FROM (VALUES ('a1', 3), ('b4', 2), ('b5', 3)) v (key, state)`)
	run(t, pool, `INSERT INTO idem_lane (scope, topic, biz_key, head_key) VALUES ('payments', 'orders', 'a', 'a1'), ('payments', 'orders', 'b', 'b4')`)

	// The clock, which the sweep asks for the head that is not done, between its look and its locks, waits for us.
	run(t, pool, "CREATE SCHEMA slow")
	run(t, pool, `CREATE FUNCTION slow.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
		BEGIN
			PERFORM pg_advisory_lock(42);
			PERFORM pg_advisory_unlock(42);
			RETURN pg_catalog.clock_timestamp();
		END $$`)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["search_path"] = "slow,pg_catalog,public"
	slow, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(slow.Close)
	sweeper, err := postgres.New(slow, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	gate, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close(t.Context()) })
	if _, err := gate.Exec(t.Context(), "SELECT pg_advisory_lock(42)"); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		n   int
		err error
	}
	swept := make(chan answer, 1)
	go func() {
		n, err := sweeper.SweepLanes(t.Context(), 10)
		swept <- answer{n, err}
	}()
	for value[int](t, pool, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") == 0 {
	}
	run(t, pool, "UPDATE idem_lane SET head_key = 'b5' WHERE biz_key = 'b'")
	if _, err := gate.Exec(t.Context(), "SELECT pg_advisory_unlock(42)"); err != nil {
		t.Fatal(err)
	}
	if a := <-swept; a.err != nil || a.n != 0 {
		t.Errorf("swept %d lanes, %v; want none", a.n, a.err)
	}
	if heads := value[string](t, pool, "SELECT coalesce(string_agg(head_key, ' ' ORDER BY head_key), 'none') FROM idem_lane"); heads != "a1 b5" {
		t.Errorf("heads: %s, want a1 b5", heads)
	}
}
