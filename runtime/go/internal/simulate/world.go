package simulate

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	"github.com/idem-spec/idem/runtime/go/internal/seam"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/state"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

const (
	group      = "g"
	partitions = 2
)

// world is what processes share, and what is observed of them.
type world struct {
	seed    uint64
	bug     plant.Bug
	options Options
	variant variant
	topics  map[string]string // all that are consumed, and their group

	broker *broker.Memory
	store  *memory.Store
	hint   *hint
	rows   *sql.DB // of the guarded objects; nil where the schedule has none
	table  *state.Table

	mu        sync.Mutex
	skew      time.Duration // of the store's clock
	calm      bool          // nothing goes wrong any more
	healed    bool          // and handlers do not fail
	down      [2]time.Time  // until when the store and the broker are
	processes []*process
	instant   time.Time
	steps     int    // at this instant
	hot       string // what was too many
	effects   int64  // so far, in the order of their commits
	history   history.History
	tries     map[string]int // of a handler, by key
	reached   map[string]int
	trace     []string
}

// newWorld makes one without processes.
func newWorld(seed uint64, bug plant.Bug, o Options) (*world, error) {
	w := &world{
		seed: seed, bug: bug, options: o, variant: variantOf(seed),
		topics: map[string]string{topic: group, broker.RetryTopic(topic, group): group},
		tries:  make(map[string]int), reached: make(map[string]int), hint: &hint{keys: make(map[string]bool)},
	}
	w.history.Unordered = make(map[string]bool)
	w.store = memory.New(memory.Config{Now: w.clock})
	w.broker = broker.NewMemory(broker.MemoryConfig{MaxWait: 2 * time.Second, RebalanceTimeout: 6 * time.Second, Faults: w.brokerFaults()})
	if w.variant.delayTopics {
		d, err := w.delays(w.broker)
		if err != nil {
			return nil, err
		}
		for _, name := range d.Topics() {
			w.topics[name] = group + ".delay"
		}
	}
	for _, name := range append(slices.Sorted(maps.Keys(w.topics)), broker.DeadLetterTopic(topic, group), doneTopic) {
		if err := w.broker.CreateTopic(name, partitions); err != nil {
			return nil, err
		}
	}
	if !w.variant.guarded {
		return w, nil
	}
	return w, w.openRows()
}

// delays are the delay topics, as a process sees them.
func (w *world) delays(p broker.Publisher) (*retry.DelayTopics, error) {
	return retry.NewDelayTopics(p, retry.DelayConfig{
		Scope: group, Origins: []string{topic}, Buckets: []time.Duration{time.Second, 4 * time.Second}, Timeout: 3 * time.Second,
	})
}

// openRows makes the table of the guarded objects, whose every move is an effect that the database itself counts.
func (w *world) openRows() (err error) {
	if w.rows, err = sql.Open("sqlite", "file::memory:?_txlock=immediate"); err != nil {
		return err
	}
	w.rows.SetMaxOpenConns(1)
	w.table = &state.Table{Name: "object", ID: "id", Status: "status", LastKey: "last_key", Creates: state.GuardCreates, Dialect: state.SQLite}
	_, err = w.rows.Exec(`
		CREATE TABLE object (id TEXT PRIMARY KEY, status TEXT NOT NULL, last_key TEXT, call INTEGER);
		CREATE TABLE effect (n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT);
		CREATE TRIGGER created AFTER INSERT ON object BEGIN INSERT INTO effect (key) VALUES (new.last_key); END;
		CREATE TRIGGER moved AFTER UPDATE OF status ON object BEGIN INSERT INTO effect (key) VALUES (new.last_key); END;`)
	return err
}

// brokerFaults are those that are nobody's call: a message that arrives after its error, and one that is there
// twice.
func (w *world) brokerFaults() broker.MemoryFaults {
	c := newChance(w.seed, "broker")
	return broker.MemoryFaults{
		Publish: func(_ context.Context, m *broker.Message) broker.PublishFault {
			if w.isCalm() {
				return broker.PublishFault{}
			}
			switch c.below(60) {
			case 0:
				return broker.PublishFault{Copies: 1}
			case 1:
				w.note("broker", "%s arrives late", seam.KeyOf(m.Headers))
				return broker.PublishFault{Err: errFault, Delivered: true, Late: 1 + c.upTo(5*time.Second)}
			}
			return broker.PublishFault{}
		},
	}
}

// clock is the store's. Leases run on it, and on it calls are observed.
func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.skew)
}

func (w *world) jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skew += d
}

func (w *world) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calm
}

// isDown says that whoever does an operation is not there.
func (w *world) isDown(op seam.Op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := 0
	if op >= seam.Publish {
		of = 1
	}
	return time.Now().Before(w.down[of])
}

// reach counts something that happened.
func (w *world) reach(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached[what]++
}

// note writes a line of the trace.
func (w *world) note(who, format string, args ...any) {
	if !w.options.Trace {
		return
	}
	line := fmt.Sprintf("%10.3f %-8s %s", time.Since(start).Seconds(), who, fmt.Sprintf(format, args...))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, line)
}

// start is when each bubble's time begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// left says what is still to be done; empty: nothing.
func (w *world) left(ctx context.Context) (string, error) {
	var left []string
	for _, name := range slices.Sorted(maps.Keys(w.topics)) {
		n := 0
		for _, m := range w.broker.Messages(name) {
			if committed, _ := w.broker.Committed(w.topics[name], broker.TopicPartition{Topic: name, Partition: m.Partition}); m.Offset >= committed {
				n++
			}
		}
		if n > 0 {
			left = append(left, fmt.Sprintf("%d messages of %s are not committed", n, name))
		}
	}
	counts, err := w.store.CountRetries(ctx)
	if err != nil {
		return "", err
	}
	stats, err := w.store.OutboxStats(ctx)
	if err != nil {
		return "", err
	}
	if counts != (store.RetryCounts{}) || stats.Pending+stats.Failed > 0 {
		left = append(left, fmt.Sprintf("retries %+v, outbox %+v", counts, stats))
	}
	return strings.Join(left, "; "), nil
}

// hint is what processes share in Redis.
type hint struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (h *hint) Set(scope, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys[scope+" "+key] = true
}

func (h *hint) Has(scope, key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys[scope+" "+key]
}
