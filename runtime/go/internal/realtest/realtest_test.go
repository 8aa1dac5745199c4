package realtest_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

func TestPostgresGivesEachTestADatabaseAndDropsIt(t *testing.T) {
	t.Parallel()
	var urls []string
	t.Run("both", func(t *testing.T) {
		urls = append(urls, realtest.Postgres(t), realtest.Postgres(t))
		for _, u := range urls {
			execute(t, u, "CREATE TABLE t (i int)")
		}
	})
	for _, u := range urls {
		if conn, err := pgx.Connect(t.Context(), u); err == nil {
			_ = conn.Close(t.Context())
			t.Errorf("%s is still there", u)
		}
	}
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}

func TestRedisGivesEachTestAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 3 {
		options, err := redis.ParseURL(realtest.Redis(t))
		if err != nil {
			t.Fatal(err)
		}
		if options.DB == 0 || seen[options.DB] {
			t.Errorf("database %d is given, after %v", options.DB, seen)
		}
		seen[options.DB] = true
		c := redis.NewClient(options)
		if n, err := c.DBSize(t.Context()).Result(); err != nil || n != 0 {
			t.Errorf("database %d has %d keys, %v", options.DB, n, err)
		}
		if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Error(err)
		}
		_ = c.Close()
	}
}

func TestTopicIsReadyForUse(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	topic := realtest.Topic(t, brokers, 3)
	conn, err := kafka.DialLeader(t.Context(), "tcp", brokers[0], topic, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.WriteMessages(kafka.Message{Value: []byte("x")}); err != nil {
		t.Error(err)
	}
}

// The primary dies; what it confirmed is on the standby.
func TestStandbyHasWhatThePrimaryConfirmed(t *testing.T) {
	url := realtest.Standby(t)
	execute(t, url, "CREATE TABLE t AS SELECT generate_series(1, 1000) AS i")
	realtest.Services(t, "kill", "standby:1")
	realtest.Services(t, "promote")
	execute(t, url, "DO $$ BEGIN ASSERT (SELECT count(*) FROM t) = 1000; END $$")
	execute(t, url, "INSERT INTO t VALUES (1001)")
}

func TestWithoutAServerATestIsSkippedOrFails(t *testing.T) {
	t.Parallel()
	for real, want := range map[string]bool{"0": true, "1": false} {
		command := exec.Command("go", "test", "-count=1", "-run", "TestPostgres", ".")
		command.Env = append(command.Environ(), "DATABASE_URL=", "IDEM_TEST_REAL="+real)
		out, err := command.CombinedOutput()
		if (err == nil) != want {
			t.Errorf("IDEM_TEST_REAL=%s: %v\n%s", real, err, out)
		}
	}
}
