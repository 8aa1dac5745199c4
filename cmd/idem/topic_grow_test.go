package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
	spec "github.com/idem-spec/idem/spec/sql"
)

func TestTopicGrowSaysWhatIsMissing(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	t.Setenv("KAFKA_BROKERS", "")
	whole := []string{"topic", "grow", "orders", "--to", "orders-2", "--partitions", "4", "--group", "g", "--state", filepath.Join(t.TempDir(), "s")}
	bad := filepath.Join(t.TempDir(), "bad")
	require.NoError(t, os.WriteFile(bad, []byte("{"), 0o600))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"TOPIC is missing", []string{"topic", "grow"}},
		{"no --to", []string{"topic", "grow", "orders"}},
		{"no --partitions", []string{"topic", "grow", "orders", "--to", "orders-2"}},
		{"no --group", []string{"topic", "grow", "orders", "--to", "orders-2", "--partitions", "4"}},
		{"it is GROUP or GROUP=SCOPE", []string{"topic", "grow", "orders", "--to", "orders-2", "--partitions", "4", "--group", "=s"}},
		{"or say --no-database", whole},
		{"--database 1 of 1", append(whole, "--database", "postgres://u:hunter2@127.0.0.1:1/x")},
		{"--database 1 of 1", append(whole, "--database", "sqlite:/nonexistent/file")},
		{"no --brokers, and KAFKA_BROKERS is not set", append(whole, "--no-database")},
		{"check that Kafka runs at 127.0.0.1:1", append(whole, "--no-database", "--brokers", "127.0.0.1:1")},
		{"--user goes with --sasl", append(whole, "--no-database", "--brokers", "127.0.0.1:1", "--user", "u")},
		{"KAFKA_PASSWORD", append(whole, "--no-database", "--brokers", "127.0.0.1:1", "--sasl", "PLAIN", "--user", "u")},
		{"--ca", append(whole, "--no-database", "--brokers", "127.0.0.1:1", "--ca", "/nonexistent")},
		{"--state", append(whole, "--no-database", "--state", bad)},
	} {
		stdout, stderr, code := invoke(t, c.args...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.NotContains(t, stderr, "hunter2", c.args)
		assert.Empty(t, stdout, c.args)
	}
}

// kafkaBrokers are those of a real cluster.
func kafkaBrokers(t *testing.T) string {
	t.Helper()
	brokers := os.Getenv("KAFKA_BROKERS")
	if brokers == "" {
		if os.Getenv("IDEM_TEST_REAL") == "1" {
			t.Fatal("KAFKA_BROKERS is not set, and IDEM_TEST_REAL=1")
		}
		t.Skip(`KAFKA_BROKERS is not set: scripts/services start kafka && eval "$(scripts/services env)"`)
	}
	return brokers
}

// The whole move on real servers: a row of msg_retry holds it up, an interruption does not.
func TestTopicGrowMovesATopic(t *testing.T) {
	t.Parallel()
	brokers := kafkaBrokers(t)
	dsn := freshDatabase(t)
	_, stderr, code := invoke(t, "migrate", "up", "--dsn", dsn)
	require.Equal(t, exitOK, code, stderr)
	old := fmt.Sprintf("idem-cli-%d", time.Now().UnixNano())
	b := withTopic(t, brokers, old, 2)

	args := []string{"topic", "grow", old, "--to", old + "-2", "--partitions", "5", "--group", old + "=s", "--brokers", brokers,
		"--database", dsn, "--state", filepath.Join(t.TempDir(), "state.json")}
	stdout, stderr, code := invoke(t, append(args, "--dry-run")...)
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "create "+old+"-2 with 5 partitions; "+old+" has 2")

	group, err := b.Group(t.Context(), old, []string{old})
	require.NoError(t, err)
	read, err := group.Join(t.Context())
	require.NoError(t, err)
	offsets := map[broker.TopicPartition]int64{}
	for _, a := range read.Assignments() {
		batch, err := read.Fetch(t.Context(), a.TopicPartition, 0, 1<<20)
		require.NoError(t, err)
		offsets[a.TopicPartition] = batch.End
	}
	require.NoError(t, read.Commit(t.Context(), offsets))
	require.NoError(t, group.Close())

	insert := `INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope,
		idempotency_key, source_topic, status, action, topic, headers) VALUES (now(), 0, 0, 0, 1, 0, 's', 'k', '` + old + `', 'PENDING', 'RETRY', 'x', '[]')`
	execute(t, dsn, insert)
	ctx, cancel := context.WithCancel(t.Context())
	var out lockedBuffer
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, streams{in: strings.NewReader(""), out: &out, err: &out}) }()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "1 retries and 0 parked lanes") }, 30*time.Second, 50*time.Millisecond, out.String())
	cancel()
	assert.Equal(t, exitInterrupted, <-ended, out.String())
	execute(t, dsn, "DELETE FROM msg_retry")
	stdout, stderr, code = invoke(t, args...)
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "Start the consumers on "+old+"-2")
	assert.NotContains(t, stdout, "created", "it goes on where it was")
	stdout, _, code = invoke(t, append(args, "--dry-run")...)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "nothing: "+old+" has moved")
	_, stderr, code = invoke(t, append(args, "--undo")...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "has moved already")
	_, stderr, code = invoke(t, append(args, "--partitions", "6")...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "the state is of another move")
}

// lockedBuffer can be read while a command writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// withTopic makes a topic with some messages.
func withTopic(t *testing.T, brokers, topic string, partitions int) *kafka.Broker {
	t.Helper()
	b, err := kafka.Open(kafka.Config{Brokers: strings.Split(brokers, ",")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	client := &kafkago.Client{Addr: kafkago.TCP(strings.Split(brokers, ",")...)}
	answer, err := client.CreateTopics(t.Context(), &kafkago.CreateTopicsRequest{
		Topics: []kafkago.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: -1}}})
	require.NoError(t, err)
	require.NoError(t, answer.Errors[topic])
	t.Cleanup(func() {
		_, _ = client.DeleteTopics(context.Background(), &kafkago.DeleteTopicsRequest{Topics: []string{topic, topic + "-2"}})
	})
	var messages []broker.Message
	for i := range 20 {
		messages = append(messages, broker.Message{Topic: topic, Key: fmt.Append(nil, i), Value: fmt.Append(nil, i)})
	}
	require.Nil(t, b.Publish(t.Context(), messages))
	return b
}

func execute(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), statement)
	require.NoError(t, err)
}

func TestGrowDatabasesCountSQLiteToo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	for _, migration := range spec.SQLiteMigrations() {
		_, err := db.Exec(migration.Up)
		require.NoError(t, err)
	}
	_, err = db.Exec(`INSERT INTO outbox (topic, headers, created_at) VALUES ('orders', '[]', 0), ('orders.retry.s', '[]', 0), ('other', '[]', 0)`)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO idem_lane VALUES ('s', 'orders', 'o-17', 'k', 0), ('s', 'other', 'o-17', 'k', 0), ('x', 'orders', 'o-17', 'k', 0)`)
	require.NoError(t, err)

	all, err := openGrowDatabases(t.Context(), []string{"sqlite:" + file, "sqlite:" + file})
	require.NoError(t, err)
	defer all.close()
	unsent, err := all.Outbox(t.Context(), []string{"orders", "orders.retry.s"})
	require.NoError(t, err)
	assert.EqualValues(t, 4, unsent, "both databases")
	rows, lanes, err := all.Retries(t.Context(), []string{"orders", "orders.retry.s"}, []string{"s"})
	require.NoError(t, err)
	assert.EqualValues(t, 0, rows)
	assert.EqualValues(t, 2, lanes)
}
