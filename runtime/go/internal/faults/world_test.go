//go:build unix

package faults

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// patience is how long a test waits for what has to come. The servers and the machine may be busy.
const patience = 3 * time.Minute

// work stands for a generated message: a text that tells a handler what to do.
type work struct{ wrapperspb.StringValue }

func (*work) IdemEventType() string { return "work" }

// place is where a test's messages and effects are: what a child has to know of it.
type place struct {
	Brokers      []string
	Topic, Group string
	Database     string
}

// world is a place, and what was seen there.
type world struct {
	*testing.T
	place
	pool     *pgxpool.Pool
	store    *postgres.Store
	kafka    *kafka.Broker
	seen     *witness
	log      *lines
	produced []history.Produced
	guest    string // a role of the database, where the test has one

	mu      sync.Mutex
	commits []history.Commit
	calls   []history.Call
	unwatch func()
}

// newWorld is a topic with its retry topic, and a database with the tables of idem and one of effects.
func newWorld(t *testing.T, partitions int) *world {
	return newWorldOn(t, partitions, realtest.Kafka(t), realtest.Postgres(t))
}

func newWorldOn(t *testing.T, partitions int, brokers []string, database string) *world {
	t.Helper()
	w := &world{T: t, seen: new(witness), log: new(lines)}
	w.Brokers, w.Database = brokers, database
	w.Topic = realtest.Topic(t, w.Brokers, partitions)
	w.Group = w.Topic
	realtest.CreateTopic(t, w.Brokers, broker.RetryTopic(w.Topic, w.Group), partitions)
	w.pool = w.connect(w.Database)
	w.store = storeOf(t, w.pool)
	require.NoError(t, w.store.Migrate(t.Context()))
	w.exec(`CREATE TABLE effect (id bigserial, key text NOT NULL, worker text NOT NULL)`)
	w.kafka = w.open()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("the end of the consumers' logs:\n" + w.log.tail(40))
		}
	})
	w.watch()
	return w
}

func storeOf(t testing.TB, pool *pgxpool.Pool) *postgres.Store {
	s, err := postgres.New(pool, postgres.Config{})
	require.NoError(t, err)
	return s
}

func (w *world) connect(url string) *pgxpool.Pool {
	w.Helper()
	c, err := pgxpool.ParseConfig(url)
	require.NoError(w, err)
	c.MaxConns = 12 // so that handlers that hold theirs leave some to the store
	pool, err := pgxpool.NewWithConfig(context.Background(), c)
	require.NoError(w, err)
	w.Cleanup(pool.Close)
	return pool
}

func (w *world) open() *kafka.Broker {
	w.Helper()
	b, err := kafka.Open(kafkaConfig(w.Brokers, w.log.logger()))
	require.NoError(w, err)
	w.Cleanup(func() { _ = b.Close() })
	return b
}

func kafkaConfig(brokers []string, log *slog.Logger) kafka.Config {
	return kafka.Config{Brokers: brokers, SessionTimeout: 6 * time.Second, HeartbeatInterval: 200 * time.Millisecond, MaxWait: 100 * time.Millisecond, Logger: log}
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	_, err := w.pool.Exec(w.Context(), sql, args...)
	require.NoError(w, err)
}

// message is one of work. Its headers are the key, the type, and what is given, name by name.
func (w *world) message(key, text string, headers ...string) broker.Message {
	payload, err := proto.Marshal(wrapperspb.String(text))
	require.NoError(w, err)
	return broker.Message{Topic: w.Topic, Key: []byte(key), Value: payload, Headers: append(idem.Headers{
		{Name: "idempotency_key", Value: []byte(key)}, {Name: "event_type", Value: []byte("work")},
	}, pairs(headers...)...)}
}

func pairs(headers ...string) (all idem.Headers) {
	for i := 0; i < len(headers); i += 2 {
		all = append(all, idem.Header{Name: headers[i], Value: []byte(headers[i+1])})
	}
	return all
}

// send has messages confirmed. Each has to come to an end.
func (w *world) send(messages ...broker.Message) {
	w.Helper()
	require.Nil(w, w.kafka.Publish(w.Context(), messages))
	for i := range messages {
		key := header(messages[i].Headers, "idempotency_key")
		if key != "" && !slices.ContainsFunc(w.produced, func(p history.Produced) bool { return p.Key == key }) {
			w.produced = append(w.produced, history.Produced{Key: key, Acknowledged: true})
		}
	}
}

func header(headers idem.Headers, name string) string {
	for _, h := range headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}

// config is a consumer's, of this world.
func (p *place) config(log *slog.Logger, o observe.Observer) consumer.Config {
	return consumer.Config{Group: p.Group, Topics: []string{p.Topic}, CommitInterval: 200 * time.Millisecond, RebalanceTimeout: time.Second,
		Log: log, Observer: o}
}

func (w *world) config() consumer.Config { return w.place.config(w.log.logger(), w.seen) }

// start runs a consumer on a connection of its own until stop, or the test's end.
func (w *world) start(s store.Store, c consumer.Config, handlers ...consumer.Handler) (stop func()) {
	w.Helper()
	_, stop = w.startConsumer(s, c, handlers...)
	return stop
}

func (w *world) startConsumer(s store.Store, c consumer.Config, handlers ...consumer.Handler) (*consumer.Consumer, func()) {
	w.Helper()
	k, err := consumer.New(plantedBroker(w.open()), plantedStore(s), c, handlers...)
	require.NoError(w, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		require.NoError(w, <-ended)
	})
	w.Cleanup(stop)
	return k, stop
}

// effect is what handlers do.
func effect(ctx context.Context, tx pgx.Tx, worker string) error {
	_, err := tx.Exec(ctx, `INSERT INTO effect (key, worker) VALUES ($1, $2)`, guard.KeyOf(ctx), worker)
	return err
}

// simply has the effect.
func simply(ctx context.Context, tx pgx.Tx, _ *work) error { return effect(ctx, tx, "simply") }

// noted is simply, a little slower, and noted: no two calls of a key may run under one live lease.
func (w *world) noted(ctx context.Context, tx pgx.Tx, _ *work) error {
	call := history.Call{Key: guard.KeyOf(ctx), Worker: "noted", Start: time.Now(), Lease: guard.DefaultHandlerTimeout + guard.LeaseMargin}
	err := effect(ctx, tx, "noted")
	time.Sleep(30 * time.Millisecond)
	call.End = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
	return err
}

func (w *world) count(sql string, args ...any) (n int) {
	w.Helper()
	require.NoError(w, w.pool.QueryRow(w.Context(), sql, args...).Scan(&n))
	return n
}

// effects are the keys of the effects that are there.
func (w *world) effects() (keys []string) {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), `SELECT key FROM effect ORDER BY id`)
	require.NoError(w, err)
	keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w, err)
	return keys
}

func (w *world) letters() []store.DeadLetter {
	w.Helper()
	letters, err := w.store.ListDeadLetters(w.Context(), store.DeadLetterFilter{Scope: w.Group}, 0, 1000)
	require.NoError(w, err)
	return letters
}

// until waits for a condition, which says what is missing.
func (w *world) until(condition func() (missing string)) {
	w.Helper()
	missing, deadline := "", time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if missing = condition(); missing == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.Fatalf("after %v: %s", patience, missing)
}

// untilTold waits for a line of a log.
func (w *world) untilTold(text string) {
	w.Helper()
	w.until(func() string {
		if strings.Contains(w.log.all(), text) {
			return ""
		}
		return "no log line has: " + text
	})
}

func (w *world) lags() []kafka.Lag {
	w.Helper()
	lags, err := w.kafka.Lag(w.Context(), w.Group, w.Topic, broker.RetryTopic(w.Topic, w.Group))
	require.NoError(w, err)
	return lags
}

// committed is the sum of the group's offsets in the topic.
func (w *world) committed() (sum int64) {
	for _, l := range w.lags() {
		if l.Topic == w.Topic {
			sum += l.Committed
		}
	}
	return sum
}

// watch writes down each change of a committed offset.
func (w *world) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		last := map[broker.TopicPartition]int64{}
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			lags, err := w.kafka.Lag(ctx, w.Group, w.Topic, broker.RetryTopic(w.Topic, w.Group))
			if err != nil {
				continue // the next one sees what it was
			}
			w.mu.Lock()
			for _, l := range lags {
				if before, there := last[l.TopicPartition]; !there || before != l.Committed {
					last[l.TopicPartition] = l.Committed
					w.commits = append(w.commits, history.Commit{Group: w.Group, Topic: l.Topic, Partition: l.Partition, Offset: l.Committed})
				}
			}
			w.mu.Unlock()
		}
	})
	w.unwatch = sync.OnceFunc(func() { cancel(); watching.Wait() })
	w.Cleanup(w.unwatch)
}

// untilDone waits for so many effects.
func (w *world) untilDone(n int) {
	w.Helper()
	w.until(func() string {
		if done := len(w.effects()); done < n {
			return fmt.Sprintf("%d effects of %d", done, n)
		}
		return ""
	})
}

// judge waits until nothing is in flight: all is read and committed, no row waits, and each message is done or a dead
// letter. Then nothing may be lost, done twice, or committed backwards.
func (w *world) judge(letters ...history.DeadLetter) {
	w.Helper()
	w.until(func() string {
		for _, l := range w.lags() {
			if l.Behind > 0 {
				return fmt.Sprintf("%s/%d is committed to %d of %d", l.Topic, l.Partition, l.Committed, l.End)
			}
		}
		if n := w.count(`SELECT count(*) FROM msg_retry`); n > 0 {
			return fmt.Sprintf("%d rows of msg_retry wait", n)
		}
		ended := map[string]bool{}
		for _, key := range w.effects() {
			ended[key] = true
		}
		for _, l := range append(w.deadKeys(), letters...) {
			ended[l.Key] = true
		}
		for _, p := range w.produced {
			if p.Acknowledged && !ended[p.Key] {
				return p.Key + " is neither done nor a dead letter"
			}
		}
		return ""
	})
	w.unwatch()
	h := &history.History{Produced: w.produced, Commits: w.commits, Calls: w.calls, DeadLetters: append(w.deadKeys(), letters...)}
	for i, key := range w.effects() {
		h.Effects = append(h.Effects, history.Effect{Key: key, Order: int64(i)})
	}
	require.NotEmpty(w, h.Produced)
	require.NotEmpty(w, h.Commits)
	require.Empty(w, history.Check(h))
}

// deadKeys are the dead letters whose key they own: a copy with another payload is none of that key's own.
func (w *world) deadKeys() (keys []history.DeadLetter) {
	for _, l := range w.letters() {
		if l.Outcome != idem.OutcomeKeyReused {
			keys = append(keys, history.DeadLetter{Key: l.Key})
		}
	}
	return keys
}

// read is all that a topic has, by partition and offset.
func (w *world) read(topic string) (all []kafkago.Message) {
	w.Helper()
	lags, err := w.kafka.Lag(w.Context(), w.Group+"-reader", topic)
	require.NoError(w, err)
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	for _, l := range lags {
		r := kafkago.NewReader(kafkago.ReaderConfig{Brokers: w.Brokers, Topic: topic, Partition: int(l.Partition), MaxBytes: 10 << 20})
		for at := l.Committed; at < l.End; {
			m, err := r.ReadMessage(ctx)
			require.NoError(w, err)
			all = append(all, m)
			at = m.Offset + 1
		}
		require.NoError(w, r.Close())
	}
	return all
}

// witness remembers what consumers tell of deliveries.
type witness struct {
	mu         sync.Mutex
	deliveries []observe.Delivery
	measured   map[observe.Metric][]float64
}

func (o *witness) Delivery(_ context.Context, d *observe.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deliveries = append(o.deliveries, *d)
}

func (o *witness) Measure(m observe.Metric, _ observe.Labels, value float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.measured == nil {
		o.measured = make(map[observe.Metric][]float64)
	}
	o.measured[m] = append(o.measured[m], value)
}

// last is the last value of a gauge.
func (o *witness) last(m observe.Metric) float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if values := o.measured[m]; len(values) > 0 {
		return values[len(values)-1]
	}
	return -1
}

// of are the deliveries of a key, in their order.
func (o *witness) of(key string) []observe.Delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	var own []observe.Delivery
	for _, d := range o.deliveries {
		if d.Key == key {
			own = append(own, d)
		}
	}
	return own
}

// outcomes counts deliveries.
func (o *witness) outcomes(outcome idem.Outcome) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.deliveries {
		if d.Outcome == outcome && !d.Skipped {
			n++
		}
	}
	return n
}

// lines is a log that is kept.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) tail(n int) string {
	all := strings.Split(strings.TrimSpace(l.all()), "\n")
	return strings.Join(all[max(len(all)-n, 0):], "\n")
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
