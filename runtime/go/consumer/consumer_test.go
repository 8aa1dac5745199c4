package consumer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// payment and refund stand for generated messages.
type payment struct{ wrapperspb.StringValue }

func (*payment) IdemEventType() string      { return "payment" }
func (p *payment) IdemKey() (string, error) { return "payment:v1:" + p.GetValue(), nil }
func (*payment) IdemPolicy() idem.Policy {
	return idem.Policy{MaxRetry: 5, MaxHold: 20, BackoffBase: 1, BackoffMax: 300}
}

type refund struct{ wrapperspb.StringValue }

func (*refund) IdemEventType() string { return "refund" }

// world is a broker and a store in memory, within a bubble of fake time.
type world struct {
	*testing.T
	broker *broker.Memory
	store  *memory.Store
	seen   *recorder
	log    *bytes.Buffer
	logMu  sync.Mutex
	sent   int
}

// recorder is an observer that remembers.
type recorder struct {
	mu         sync.Mutex
	deliveries []observe.Delivery
	gauges     map[string]float64
}

func (r *recorder) Delivery(_ context.Context, d *observe.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deliveries = append(r.deliveries, *d)
}

func (r *recorder) Measure(m observe.Metric, l observe.Labels, v float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gauges == nil {
		r.gauges = map[string]float64{}
	}
	r.gauges[fmt.Sprint(m, l)] += v
}

// outcomes are those of the deliveries of a key, in their order.
func (r *recorder) outcomes(key string) (outcomes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.deliveries {
		if d.Key == key {
			outcomes = append(outcomes, d.Outcome.String()+"/"+d.Action.String())
		}
	}
	return outcomes
}

func (r *recorder) count(is func(*observe.Delivery) bool) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.deliveries {
		if is(&r.deliveries[i]) {
			n++
		}
	}
	return n
}

// inWorld runs a test in a bubble, where time passes while everything waits.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, broker: broker.NewMemory(broker.MemoryConfig{}), store: memory.New(memory.Config{}), seen: new(recorder), log: new(bytes.Buffer)}
		w.topic("payments", 1)
		test(w)
	})
}

func (w *world) topic(name string, partitions int32) {
	require.NoError(w, w.broker.CreateTopic(name, partitions))
	require.NoError(w, w.broker.CreateTopic(broker.RetryTopic(name, "g"), partitions))
}

func (w *world) Write(p []byte) (int, error) {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	return w.log.String()
}

func (w *world) config() Config {
	return Config{
		Group: "g", Topics: []string{"payments"}, Observer: w.seen,
		Log: slog.New(slog.NewTextHandler(io.Writer(w), &slog.HandlerOptions{Level: slog.LevelInfo})),
	}
}

// run starts a consumer. stop ends it and waits.
func (w *world) run(c Config, handlers ...Handler) (k *Consumer, stop func()) {
	w.Helper()
	return w.runOn(w.broker, w.store, c, handlers...)
}

func (w *world) runOn(b broker.Broker, s store.Store, c Config, handlers ...Handler) (k *Consumer, stop func()) {
	w.Helper()
	k, err := New(b, s, c, handlers...)
	require.NoError(w, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			require.NoError(w, <-ended)
		})
	}
	w.Cleanup(stop)
	return k, stop
}

// send publishes a message of a type with headers of its own.
func (w *world) send(topic, event, key, bizKey, value string, more ...idem.Header) {
	w.Helper()
	payload, err := proto.Marshal(wrapperspb.String(value))
	require.NoError(w, err)
	w.sendRaw(topic, event, key, bizKey, payload, more...)
}

func (w *world) sendRaw(topic, event, key, bizKey string, payload []byte, more ...idem.Header) {
	w.Helper()
	m := broker.Message{Topic: topic, Value: payload}
	for _, h := range [][2]string{{"idempotency_key", key}, {"event_type", event}, {"biz_key", bizKey}} {
		if h[1] != "" {
			m.Headers = append(m.Headers, idem.Header{Name: h[0], Value: []byte(h[1])})
		}
	}
	if bizKey != "" {
		m.Key = []byte(bizKey)
	}
	m.Headers = append(m.Headers, more...)
	w.sent++
	require.Nil(w, w.broker.Publish(context.Background(), []broker.Message{m}))
}

// pay publishes the payments of numbers, each with a biz key of its own.
func (w *world) pay(from, to int) {
	w.Helper()
	for i := from; i < to; i++ {
		n := strconv.Itoa(i)
		w.send("payments", "payment", "k"+n, "b"+n, n)
	}
}

// settleDown lets time pass until everything waits, and d more.
func settleDown(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) committed(topic string) int64 {
	w.Helper()
	offset, _ := w.broker.Committed("g", broker.TopicPartition{Topic: topic})
	return offset
}

// tally counts calls by value.
type tally struct {
	mu    sync.Mutex
	n     map[string]int
	order []string
}

func (c *tally) add(v string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[v]++
	c.order = append(c.order, v)
	return c.n[v]
}

func (c *tally) of(v string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[v]
}

func (c *tally) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.order...)
}

var errDown = errors.New("downstream is down")

func TestTxHasOneEffectForEachKey(t *testing.T) {
	inWorld(t, func(w *world) {
		var effects tally
		_, stop := w.run(w.config(), Tx(func(_ context.Context, tx *memory.Tx, m *payment) error {
			v := m.GetValue()
			tx.Do(func() { effects.add(v) })
			return nil
		}))
		w.pay(0, 500)
		w.pay(0, 500) // again
		settleDown(3 * time.Second)
		for i := range 500 {
			require.Equal(t, 1, effects.of(strconv.Itoa(i)))
		}
		require.Equal(t, 500, w.seen.count(func(d *observe.Delivery) bool { return d.Outcome == idem.OutcomeDuplicate }))
		require.EqualValues(t, 1000, w.committed("payments"))
		stop()
	})
}

func TestIdempotentRetriesUntilItSucceeds(t *testing.T) {
	inWorld(t, func(w *world) {
		var calls tally
		w.run(w.config(), Idempotent(func(_ context.Context, m *payment) error {
			if calls.add(m.GetValue()) < 3 {
				return errDown
			}
			return nil
		}))
		w.pay(0, 1)
		settleDown(10 * time.Second)
		require.Equal(t, 3, calls.of("0"))
		require.Equal(t, []string{"RETRYABLE/RETRY", "RETRYABLE/RETRY", "OK/ACK"}, w.seen.outcomes("k0"))
		require.EqualValues(t, 1, w.committed("payments"))
		require.EqualValues(t, 2, w.committed("payments.retry.g"))
	})
}
