package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// TestOnKafkaAndPostgreSQL: two processes of a group, one of which leaves in the middle, have one effect for each
// key, in the order of each biz key, on the real servers.
func TestOnKafkaAndPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]guard.Order{"Block": guard.Block, "Park": guard.Park} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onKafkaAndPostgreSQL(t, order)
		})
	}
}

func onKafkaAndPostgreSQL(t *testing.T, order guard.Order) {
	brokers, dsn := realtest.Kafka(t), realtest.Postgres(t)
	const partitions, keys, each = 3, 40, 25
	topic := realtest.Topic(t, brokers, partitions)
	realtest.CreateTopic(t, brokers, broker.RetryTopic(topic, topic), partitions)
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s, err := postgres.New(pool, postgres.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	_, err = pool.Exec(t.Context(), `CREATE TABLE effect (id bigserial, biz_key text, n int, tries int)`)
	require.NoError(t, err)

	charge := func(ctx context.Context, tx pgx.Tx, m *PaymentSucceeded) error {
		var bizKey string
		var n int
		if _, err := fmt.Sscanf(m.GetValue(), "%s %d", &bizKey, &n); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO effect (biz_key, n) VALUES ($1, $2)`, bizKey, n)
		if err == nil && n%10 == 3 && time.Now().UnixNano()%2 == 0 {
			return errors.New("downstream is down, now and then")
		}
		return err
	}
	start := func() (stop func()) {
		b, err := kafka.Open(kafka.Config{Brokers: brokers, HeartbeatInterval: 200 * time.Millisecond})
		require.NoError(t, err)
		c, err := consumer.New(b, s, consumer.Config{Group: topic, Topics: []string{topic}, Log: slog.New(slog.DiscardHandler)}, consumer.Tx(charge, consumer.Route{Order: order}))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		return func() {
			cancel()
			require.NoError(t, <-ended)
			require.NoError(t, b.Close())
		}
	}
	publisher, err := kafka.Open(kafka.Config{Brokers: brokers})
	require.NoError(t, err)
	t.Cleanup(func() { _ = publisher.Close() })
	send := func(from, to int) {
		var batch []broker.Message
		for n := from; n < to; n++ {
			for k := range keys {
				bizKey := "b" + strconv.Itoa(k)
				payload, err := proto.Marshal(wrapperspb.String(fmt.Sprintf("%s %d", bizKey, n)))
				require.NoError(t, err)
				m := broker.Message{Topic: topic, Key: []byte(bizKey), Value: payload, Headers: idem.Headers{
					{Name: "idempotency_key", Value: []byte(fmt.Sprintf("pay:v1:%s:%d", bizKey, n))},
					{Name: "event_type", Value: []byte("payments.payment_success")},
					{Name: "biz_key", Value: []byte(bizKey)},
					{Name: "backoff_schedule", Value: []byte("50")}, {Name: "backoff_jitter", Value: []byte("20")}, {Name: "max_retry", Value: []byte("90")},
				}}
				batch = append(batch, m)
				if n%7 == 0 {
					batch = append(batch, m) // a producer that sends twice
				}
			}
		}
		require.Nil(t, publisher.Publish(t.Context(), batch))
	}
	stop1 := start()
	send(0, 8)
	stop2 := start()
	send(8, 16)
	reach := func(least int) {
		t.Helper()
		require.Eventually(t, func() bool {
			var n int
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(DISTINCT (biz_key, n)) FROM effect`).Scan(&n))
			return n >= least
		}, 2*time.Minute, 50*time.Millisecond)
	}
	reach(keys * 9)
	stop1() // in mid-handler
	send(16, each)
	reach(keys * each)
	stop2()

	rows, err := pool.Query(t.Context(), `SELECT biz_key, n FROM effect ORDER BY id`)
	require.NoError(t, err)
	got := map[string][]int{}
	var bizKey string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&bizKey, &n}, func() error { got[bizKey] = append(got[bizKey], n); return nil })
	require.NoError(t, err)
	want := make([]int, each)
	for i := range want {
		want[i] = i
	}
	require.Len(t, got, keys)
	for bizKey, own := range got {
		require.Equal(t, want, own, "once each, in order: %s", bizKey)
	}
}
