package idemtest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Config is what a World is made of. Handlers or Setup are needed; all else has a default.
type Config struct {
	// Handlers are the routes of the consumer.
	Handlers []consumer.Handler
	// Setup, if any, is called when a world begins, and gives more handlers: those that need the world's store, for
	// an outbox, or a state of their own.
	Setup func(w *World) []consumer.Handler
	// Store is where records, retries and dead letters are kept, and what the handler's transactions are of.
	// Default: Memory().
	Store Store
	// Consumer is the consumer's configuration. Its Group is "idemtest" and its Topics are those that messages are
	// published to, where they are not given.
	Consumer consumer.Config
	// Partitions is how many each topic has. Default: 3.
	Partitions int32
	// Limit is how long Run lets time pass before it says that the world does not come to rest. Default: 24 h.
	Limit time.Duration
	// Pause is how long a fault of kind Pause lasts; it has to be longer than a lease. Default: 2 min.
	Pause time.Duration
}

// World is a broker, a store and the processes of one consumer group. New makes one.
type World struct {
	t      *testing.T
	config Config
	broker *broker.Memory
	store  *opened
	routes []consumer.Handler
	log    logBuffer

	mu        sync.Mutex
	topics    []string
	processes []*process
	faults    []*armed
	seen      []observe.Delivery
	closed    bool
	failure   error // of a process that could not be made
}

// New makes a world. It has to be called in a bubble of testing/synctest, and ends with t.
func New(t *testing.T, c Config) *World {
	t.Helper()
	// A bubble's time begins at the turn of the millennium; outside, leases would take their time.
	if time.Now().Year() > 2015 {
		t.Fatal("idemtest: New is called outside of a bubble: call it in synctest.Test(t, func(t *testing.T) { ... })")
	}
	c.Partitions, c.Limit, c.Pause = cmp.Or(c.Partitions, 3), cmp.Or(c.Limit, 24*time.Hour), cmp.Or(c.Pause, 2*time.Minute)
	c.Consumer.Group = cmp.Or(c.Consumer.Group, "idemtest")
	c.Consumer.Scope = cmp.Or(c.Consumer.Scope, c.Consumer.Group)
	if c.Store.open == nil {
		c.Store = Memory()
	}
	w := &World{t: t, config: c}
	w.broker = broker.NewMemory(broker.MemoryConfig{Partitions: c.Partitions})
	s, err := c.Store.open(t)
	if err != nil {
		t.Fatalf("idemtest: open the store: %v", err)
	}
	w.store = s
	t.Cleanup(w.close)
	w.routes = slices.Clone(c.Handlers)
	if c.Setup != nil {
		w.routes = append(w.routes, c.Setup(w)...)
	}
	for _, topic := range c.Consumer.Topics {
		w.topic(topic)
	}
	return w
}

// topic makes a topic, which the consumer reads where its Topics were not given.
func (w *World) topic(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.topics, name) {
		return
	}
	if len(w.processes) > 0 && len(w.config.Consumer.Topics) == 0 {
		w.t.Fatalf("idemtest: publish to %q: the consumer runs by now: publish to it before Run, or name it in Config.Consumer.Topics", name)
	}
	w.topics = append(w.topics, name)
	for _, name := range []string{name, broker.RetryTopic(name, w.config.Consumer.Scope), broker.DeadLetterTopic(name, w.config.Consumer.Scope)} {
		if err := w.broker.CreateTopic(name, w.config.Partitions); err != nil {
			w.t.Fatalf("idemtest: %v", err)
		}
	}
}

// Store is the world's store, as no fault touches it. It is a store.Transactor of the type of transactions that the
// store was made with.
func (w *World) Store() Full { return w.store.store }

// Broker is the world's broker, as no fault touches it.
func (w *World) Broker() *broker.Memory { return w.broker }

// Publish publishes messages, confirmed.
func (w *World) Publish(messages ...broker.Message) {
	w.t.Helper()
	for i := range messages {
		w.topic(messages[i].Topic)
	}
	for i, err := range w.broker.Publish(w.t.Context(), messages) {
		if err != nil {
			w.t.Fatalf("idemtest: publish message %d: %v", i, err)
		}
	}
}

// Arm has a fault happen at its point, the next times that a delivery is there.
func (w *World) Arm(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, &armed{Fault: f, left: max(f.Times, 1)})
}

// Hits is how many faults have happened.
func (w *World) Hits() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		n += f.hits
	}
	return n
}

// Start starts one more process of the group. Run starts the first one.
func (w *World) Start() {
	w.t.Helper()
	w.start()
	w.check()
}

// Run lets time pass until nothing is left to do: all messages are acknowledged, and no retry, parked message or
// message of the outbox waits.
func (w *World) Run() {
	w.t.Helper()
	if err := w.run(); err != nil {
		w.t.Fatalf("idemtest: %v", err)
	}
}

func (w *World) run() error {
	w.mu.Lock()
	none := len(w.processes) == 0
	w.mu.Unlock()
	if none {
		w.start()
	}
	step := 50 * time.Millisecond
	for began := time.Now(); ; step = min(step*3/2, time.Minute) {
		w.Advance(step)
		w.mu.Lock()
		failure := w.failure
		w.mu.Unlock()
		if failure != nil {
			return failure
		}
		left, err := w.left()
		if err != nil || left == "" {
			return err
		}
		if time.Since(began) > w.config.Limit {
			return fmt.Errorf("the world does not come to rest within %v: %s", w.config.Limit, left)
		}
	}
}

func (w *World) check() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil {
		w.t.Fatalf("idemtest: %v", w.failure)
	}
}

// Advance lets an amount of time pass: retries fall due, leases run out.
func (w *World) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// left says what is still to be done; empty: nothing.
func (w *World) left() (string, error) {
	var left []string
	w.mu.Lock()
	topics := slices.Clone(w.topics)
	for _, p := range w.processes {
		if time.Now().Before(p.pausedUntil) {
			left = append(left, fmt.Sprintf("process %d is stopped", p.n))
		}
	}
	w.mu.Unlock()
	for _, origin := range topics {
		for _, topic := range []string{origin, broker.RetryTopic(origin, w.config.Consumer.Scope)} {
			if n := w.unread(topic); n > 0 {
				left = append(left, fmt.Sprintf("%d messages of topic %s are not acknowledged", n, topic))
			}
		}
	}
	counts, err := w.store.store.CountRetries(w.t.Context())
	if err != nil {
		return "", err
	}
	stats, err := w.store.store.OutboxStats(w.t.Context())
	if err != nil {
		return "", err
	}
	for _, c := range []struct {
		n    int64
		what string
	}{{counts.Pending, "retries wait"}, {counts.Parked, "messages are parked"}, {stats.Pending + stats.Failed, "messages are in the outbox"}} {
		if c.n > 0 {
			left = append(left, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(left, ", "), nil
}

func (w *World) unread(topic string) (n int) {
	for _, m := range w.broker.Messages(topic) {
		committed, _ := w.broker.Committed(w.config.Consumer.Group, broker.TopicPartition{Topic: topic, Partition: m.Partition})
		if m.Offset >= committed {
			n++
		}
	}
	return n
}

// Messages is all that was ever published to a topic.
func (w *World) Messages(topic string) []broker.Message { return w.broker.Messages(topic) }

// DeadLetters is the dead letters of the store that nobody has redriven. Those of a topic are its Messages.
func (w *World) DeadLetters() []store.DeadLetter {
	w.t.Helper()
	letters, err := w.store.store.ListDeadLetters(w.t.Context(), store.DeadLetterFilter{}, 0, 10000)
	if err != nil {
		w.t.Fatalf("idemtest: %v", err)
	}
	return letters
}

// Record is the dedup record of a key, nil where there is none.
func (w *World) Record(key string) *store.Record {
	w.t.Helper()
	records, err := w.store.store.Records(w.t.Context(), w.config.Consumer.Scope, []string{key})
	if err != nil {
		w.t.Fatalf("idemtest: %v", err)
	}
	return records[0]
}

// Deliveries is all deliveries that came to an end, in their order.
func (w *World) Deliveries() []observe.Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// Log is what the processes have logged, one line each.
func (w *World) Log() string { return w.log.String() }

// letters are the reasons of the dead letters, in the store and in topics, by their keys, or by their places where
// they have none.
func (w *World) letters() map[string]string {
	w.t.Helper()
	reasons := make(map[string]string)
	for _, l := range w.DeadLetters() {
		reasons[cmp.Or(l.Key, fmt.Sprintf("%s/%d/%d", l.SourceTopic, l.SourcePartition, l.SourceOffset))] = l.Reason
	}
	for _, origin := range w.topics {
		for _, m := range w.Messages(broker.DeadLetterTopic(origin, w.config.Consumer.Scope)) {
			key, reason := fmt.Sprintf("%s/%d/%d", m.Topic, m.Partition, m.Offset), ""
			for _, h := range m.Headers {
				switch h.Name {
				case idem.IdempotencyKey.String():
					key = string(h.Value)
				case idem.RejectReason.String():
					reason = string(h.Value)
				}
			}
			reasons[key] = reason
		}
	}
	return reasons
}

func (w *World) close() {
	w.mu.Lock()
	w.closed = true
	processes := slices.Clone(w.processes)
	w.mu.Unlock()
	for _, p := range processes {
		p.cancel()
	}
	for _, p := range processes {
		<-p.ended
	}
	if err := w.broker.Close(); err != nil {
		w.t.Errorf("idemtest: %v", err)
	}
	if err := w.store.store.Close(); err != nil {
		w.t.Errorf("idemtest: close the store: %v", err)
	}
}

// recorder is the world as an observer.
type recorder struct{ w *World }

func (r recorder) Delivery(ctx context.Context, d *observe.Delivery) {
	r.w.mu.Lock()
	r.w.seen = append(r.w.seen, *d)
	r.w.mu.Unlock()
	if o := r.w.config.Consumer.Observer; o != nil {
		o.Delivery(ctx, d)
	}
}

func (r recorder) Measure(m observe.Metric, labels observe.Labels, value float64) {
	if o := r.w.config.Consumer.Observer; o != nil {
		o.Measure(m, labels, value)
	}
}

// logBuffer is a log of several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

var _ io.Writer = (*logBuffer)(nil)

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
