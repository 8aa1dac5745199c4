//go:build unix

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

func (w *world) works(name string, n int, headers ...string) (all []broker.Message) {
	for i := range n {
		all = append(all, w.message(fmt.Sprint(name, i), "", headers...))
	}
	return all
}

// TestChecklistRedisDown: Redis in front of PostgreSQL goes down, forgets all, and comes back. Nothing is rejected
// meanwhile, and what was done before is not done again, before, during and after.
func TestChecklistRedisDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	real := realtest.Redis(t)
	before := newProxy(t, real)
	options, err := goredis.ParseURL(before.url)
	require.NoError(t, err)
	options.MaxRetries = -1
	memory := goredis.NewClient(options)
	t.Cleanup(func() { _ = memory.Close() })
	options, err = goredis.ParseURL(real)
	require.NoError(t, err)
	beside := goredis.NewClient(options)
	t.Cleanup(func() { _ = beside.Close() })
	s := tiered.New(redis.New(memory, redis.Config{}).Hints(), store.Full[pgx.Tx](w.store),
		tiered.Config{Timeout: 500 * time.Millisecond, Failures: 1, Probe: 200 * time.Millisecond, Observer: w.seen, Logger: w.log.logger()})
	w.start(s, w.config(), consumer.Tx(simply))

	const each = 40
	var sent []broker.Message
	phase := func(name string) {
		fresh := w.works(name, each)
		sent = append(sent, fresh...)
		duplicates := w.seen.outcomes(idem.OutcomeDuplicate)
		w.send(fresh...)
		w.untilDone(len(sent))
		w.send(sent...) // all that was ever done
		w.until(func() string {
			if n := w.seen.outcomes(idem.OutcomeDuplicate) - duplicates; n < len(sent) {
				return fmt.Sprintf("%s: %d duplicates of %d", name, n, len(sent))
			}
			return ""
		})
	}
	degraded := func(want float64) {
		w.until(func() string {
			if w.seen.last(observe.StoreDegraded) != want {
				return fmt.Sprintf("the gauge of what is degraded is not %v", want)
			}
			return ""
		})
	}
	size := func() int64 {
		n, err := beside.DBSize(t.Context()).Result()
		require.NoError(t, err)
		return n
	}
	phase("up")
	require.NotZero(t, size(), "Redis was not used")
	before.setDown(true)
	phase("down")
	degraded(1)
	require.NoError(t, beside.FlushDB(t.Context()).Err())
	before.setDown(false)
	w.send(w.works("probe", 1)...) // what asks for Redis again
	w.until(func() string {
		w.send(w.works("probe", 1)...)
		if w.seen.last(observe.StoreDegraded) != 0 {
			return "Redis is not asked again"
		}
		return ""
	})
	sent = append(sent, w.works("probe", 1)...)
	phase("back")
	require.NotZero(t, size(), "Redis is not used again")
	w.judge()
	require.Empty(t, w.letters())
	require.Zero(t, w.count(`SELECT count(*) FROM idem_record WHERE attempts > 1`))
}

// TestChecklistDeadLetterTopicDown: a dead letter that no topic takes is not committed away; others of its partition
// are done meanwhile, and it goes on once the topic is back.
func TestChecklistDeadLetterTopicDown(t *testing.T) {
	t.Parallel()
	type fault struct {
		brokers  func(t testing.TB) []string
		node     int // of the cluster that alone has the topic
		down, up func(w *world, topic string)
	}
	for name, fault := range map[string]fault{
		"deleted": {
			brokers: realtest.Kafka,
			down: func(w *world, topic string) {
				answer, err := w.admin().DeleteTopics(w.Context(), &kafkago.DeleteTopicsRequest{Topics: []string{topic}})
				require.NoError(w, err)
				require.NoError(w, answer.Errors[topic])
			},
			up: func(w *world, topic string) { realtest.CreateTopic(w, w.Brokers, topic, 1) },
		},
		"refused": { // by a cluster that has no leader for it
			brokers: realtest.KafkaCluster, node: 2,
			down: func(w *world, _ string) { realtest.Services(w, "kill", "kafka-cluster:2") },
			up:   func(w *world, _ string) { realtest.Services(w, "restart", "kafka-cluster:2") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, 1, fault.brokers(t), realtest.Postgres(t))
			letters := broker.DeadLetterTopic(w.Topic, w.Group)
			if fault.node > 0 {
				w.createOn(letters, fault.node)
			} else {
				realtest.CreateTopic(t, w.Brokers, letters, 1)
			}
			c := w.config()
			c.Guard.DeadLetterTopic = true
			w.start(w.store, c, consumer.Tx(func(ctx context.Context, tx pgx.Tx, m *work) error {
				if m.GetValue() == "bad" {
					return idem.NonRetryable("NEVER", errors.New("it cannot be done"))
				}
				return effect(ctx, tx, "good")
			}))
			w.send(w.works("before", 5)...)
			w.untilDone(5)
			fault.down(w, letters)
			w.send(w.message("bad", "bad"))
			w.send(w.works("behind", 20)...)
			w.untilDone(25)
			w.untilTold("messages are handled and not yet acknowledged, and none is lost")
			require.Contains(t, w.log.all(), letters)
			require.LessOrEqual(t, w.committed(), int64(5), "the dead letter was committed away")
			require.Equal(t, idem.StateProcessing, w.record("bad").State)
			fault.up(w, letters)
			w.judge(history.DeadLetter{Key: "bad"})
			require.Equal(t, int64(26), w.committed())
			require.Equal(t, idem.StateDead, w.record("bad").State)
			dead := w.read(letters)
			require.NotEmpty(t, dead)
			for _, m := range dead { // one, or copies where an answer was lost
				require.Equal(t, []string{"bad", "NEVER: it cannot be done"}, []string{valueOf(m, "idempotency_key"), valueOf(m, "reject_reason")})
				require.Equal(t, w.message("bad", "bad").Value, m.Value)
			}
		})
	}
}

// createOn makes a topic of one partition that one node alone has.
func (w *world) createOn(topic string, node int) {
	w.Helper()
	answer, err := w.admin().CreateTopics(w.Context(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{{
		Topic: topic, NumPartitions: -1, ReplicationFactor: -1,
		ReplicaAssignments: []kafkago.ReplicaAssignment{{Partition: 0, Replicas: []int{node}}},
		ConfigEntries:      []kafkago.ConfigEntry{{ConfigName: "min.insync.replicas", ConfigValue: "1"}},
	}}})
	require.NoError(w, err)
	require.NoError(w, answer.Errors[topic])
	realtest.CreateTopic(w, w.Brokers, topic, 1) // it is there: this waits for its leader
}

func (w *world) admin() *kafkago.Client {
	transport := &kafkago.Transport{}
	w.Cleanup(transport.CloseIdleConnections)
	return &kafkago.Client{Addr: kafkago.TCP(w.Brokers...), Timeout: 30 * time.Second, Transport: transport}
}

// TestChecklistDatabaseFailoverInMidTransaction: the primary is killed while handlers are in their transactions, and
// its synchronous standby promoted.
func TestChecklistDatabaseFailoverInMidTransaction(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, 2, realtest.Kafka(t), realtest.Standby(t))
	const keys = 400
	var done atomic.Int64
	half := make(chan struct{})
	w.start(w.store, w.config(), consumer.Tx(func(ctx context.Context, tx pgx.Tx, _ *work) error {
		if err := effect(ctx, tx, "pair"); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // in the transaction
		if done.Add(1) == keys/3 {
			close(half)
		}
		return nil
	}, consumer.Route{HandlerTimeout: 5 * time.Second}))
	w.send(w.works("k", keys)...)
	select {
	case <-half:
	case <-time.After(patience):
		t.Fatal("a third of the messages were not done in time")
	}
	realtest.Services(t, "kill", "standby:1")
	realtest.Services(t, "promote")
	w.until(func() string {
		w.pool.Reset()
		if err := w.pool.Ping(t.Context()); err != nil {
			return err.Error()
		}
		return ""
	})
	w.judge()
	// A quick failover is over before an outage is told of: then those in flight have met it.
	require.Regexp(t, `works again|NOT_STARTED|reason="commit: `, w.log.all(), "nobody noticed the failover")
	require.Len(t, w.effects(), keys)
	require.Empty(t, w.letters())
	require.Equal(t, keys, w.count(`SELECT count(*) FROM idem_record WHERE state = 2`))
}

// TestChecklistOutageOfEverythingDownstream: what handlers call is down, and then the store too, for longer than all
// retries of a message would last. The breaker opens, no message is given up, and all is done afterwards. (RETRY-031;
// minutes are made seconds by the breaker's pauses.)
func TestChecklistOutageOfEverythingDownstream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	bank, database := newProxy(t, server.URL), newProxy(t, w.Database)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	s := storeOf(t, w.connect(database.url))
	k, _ := w.startConsumer(s, w.config(), consumer.Tx(func(ctx context.Context, tx pgx.Tx, _ *work) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, bank.url, nil)
		if err != nil {
			return err
		}
		request.Header.Set("Idempotency-Key", guard.KeyOf(ctx))
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		return effect(ctx, tx, fmt.Sprint(down.Load()))
	}, consumer.Route{Breaker: consumer.Breaker{Failures: 5, Pause: 200 * time.Millisecond, MaxPause: 800 * time.Millisecond}}))

	policy := []string{"max_retry", "1", "backoff_schedule", "100", "backoff_jitter", "50"}
	w.send(w.works("before", 30, policy...)...)
	w.untilDone(30)
	down.Store(true)
	bank.setDown(true)
	w.send(w.works("during", 150, policy...)...)
	w.until(func() string {
		if k.Health().Routes[0].Breaker == "closed" {
			return "the breaker is closed"
		}
		return ""
	})
	time.Sleep(3 * time.Second) // of outage: twenty times what the retries last
	require.Empty(t, w.letters())
	database.setDown(true)
	w.until(func() string {
		if len(k.Health().Down) == 0 {
			return "nothing is down, by the consumer's health"
		}
		return ""
	})
	w.send(w.works("deep", 50, policy...)...)
	time.Sleep(3 * time.Second) // of outage
	database.setDown(false)
	time.Sleep(2 * time.Second) // of the bank's alone
	require.Len(t, w.effects(), 30, "the bank is down")
	down.Store(false)
	bank.setDown(false)
	w.judge()
	require.Empty(t, w.letters())
	require.Len(t, w.effects(), 230)
	require.Equal(t, "closed", k.Health().Routes[0].Breaker)
	require.Less(t, w.count(`SELECT count(*) FROM effect WHERE worker = 'true'`), 1)
}
