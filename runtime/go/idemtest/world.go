package idemtest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/observe"
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
	w, err := newWorld(t, c)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	return w
}

func newWorld(t *testing.T, c Config) (*World, error) {
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
		return nil, fmt.Errorf("open the store: %w", err)
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
	return w, nil
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
// store was made with, *sql.Tx by SQLite and *memory.Tx by Memory, which outbox.PublishTx asks for:
//
//	own := w.Store().(store.Transactor[*sql.Tx])
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
