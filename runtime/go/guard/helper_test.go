package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

const scope = "payments"

var errDown = errors.New("the database is down")

// faulty is the memory store with faults, and a clock that tests move.
type faulty struct {
	*memory.Store
	clock *clock

	mu        sync.Mutex
	fails     map[string]int // the next n calls fail, and do nothing
	loses     map[string]int // the next n calls are done, and their reply is lost
	calls     []string
	claims    []store.Claim
	recordsOK bool                  // FollowUps is false
	refuses   string                // the key whose row a database does not take
	renewing  func([]store.Renewal) // called as leases are renewed
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newStore() *faulty {
	c := &clock{now: time.Date(2025, 1, 1, 4, 0, 0, 0, time.UTC)}
	return &faulty{
		Store: memory.New(memory.Config{Now: c.Now}), clock: c, fails: map[string]int{}, loses: map[string]int{},
	}
}

// before notes a call and says whether it fails; the second answer, whether its reply is lost.
func (s *faulty) before(call string) (err error, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	if s.fails[call] > 0 {
		s.fails[call]--
		return errDown, false
	}
	if s.loses[call] > 0 {
		s.loses[call]--
		return nil, true
	}
	return nil, false
}

func (s *faulty) FollowUps() bool { return !s.recordsOK }

func (s *faulty) Claim(ctx context.Context, claims []store.Claim) ([]store.Grant, error) {
	s.mu.Lock()
	s.claims = append(s.claims, claims...)
	s.mu.Unlock()
	err, lost := s.before("claim")
	if err != nil {
		return nil, err
	}
	grants, err := s.Store.Claim(ctx, claims)
	if lost {
		return nil, errDown
	}
	return grants, err
}

func (s *faulty) Complete(ctx context.Context, c []store.Completion) ([]bool, error) {
	err, lost := s.before("complete")
	if err != nil {
		return nil, err
	}
	done, err := s.Store.Complete(ctx, c)
	if lost {
		return nil, errDown
	}
	return done, err
}

func (s *faulty) Settle(ctx context.Context, x []store.Settlement) ([]store.Settled, error) {
	err, lost := s.before("settle")
	if err != nil {
		return nil, err
	}
	if s.recordsOK {
		for i := range x {
			if x[i].Retry != nil || x[i].DeadLetter != nil {
				return nil, errors.New("a store of records alone has no follow-ups")
			}
		}
	}
	for i := range x {
		if s.refuses != "" && x[i].Lease.Key == s.refuses {
			return nil, sqlError{"22021"}
		}
	}
	done, err := s.Store.Settle(ctx, x)
	if lost {
		return nil, errDown
	}
	return done, err
}

func (s *faulty) Renew(ctx context.Context, x []store.Renewal) ([]bool, error) {
	err, _ := s.before("renew")
	if err != nil {
		return nil, err
	}
	if s.renewing != nil {
		s.renewing(x)
	}
	return s.Store.Renew(ctx, x)
}

func (s *faulty) InTx(ctx context.Context, fn func(ctx context.Context, tx *memory.Tx) error) error {
	err, lost := s.before("tx")
	if err != nil {
		return err
	}
	err = s.Store.InTx(ctx, fn)
	if err == nil && lost {
		return errDown
	}
	return err
}

func (s *faulty) Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	err, _ := s.before("records")
	if err != nil {
		return nil, err
	}
	return s.Store.Records(ctx, scope, keys)
}

func (s *faulty) record(t *testing.T, key string) *store.Record {
	t.Helper()
	records, err := s.Store.Records(t.Context(), scope, []string{key})
	require.NoError(t, err)
	return records[0]
}

// due is the rows that fall due within d from now.
func (s *faulty) due(t *testing.T, d time.Duration) []store.Retry {
	t.Helper()
	s.clock.add(d)
	rows, err := s.ClaimDue(t.Context(), "scheduler", 100, time.Minute)
	require.NoError(t, err)
	return rows
}

func (s *faulty) deadLetters(t *testing.T) []store.DeadLetter {
	t.Helper()
	letters, err := s.ListDeadLetters(t.Context(), store.DeadLetterFilter{}, 0, 100)
	require.NoError(t, err)
	return letters
}

// topics is a publisher that keeps what it confirmed, and fails as often as it is told to.
type topics struct {
	mu       sync.Mutex
	fails    int
	limit    int // the most bytes of headers; 0: any
	messages []broker.Message
	before   func() // called as a publication begins
}

func (p *topics) Publish(_ context.Context, messages []broker.Message) []error {
	if p.before != nil {
		p.before()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	errs := make([]error, len(messages))
	failed := false
	for i, m := range messages {
		if p.fails > 0 {
			p.fails--
			errs[i], failed = errors.New("leader not available"), true
			continue
		}
		size := 0
		for _, h := range m.Headers {
			size += len(h.Name) + len(h.Value)
		}
		if p.limit > 0 && size > p.limit {
			errs[i], failed = fmt.Errorf("%d bytes of headers, the limit is %d: %w", size, p.limit, broker.ErrTooLarge), true
			continue
		}
		p.messages = append(p.messages, m)
	}
	if !failed {
		return nil
	}
	return errs
}

// delays publishes retries at once: it is the delay topics of a broker without delay.
type delays struct{ *topics }

func (d delays) PublishRetries(ctx context.Context, rows []store.Retry) []error {
	messages := make([]broker.Message, len(rows))
	for i, r := range rows {
		messages[i] = broker.Message{Topic: r.Topic, Key: r.MessageKey, Value: r.Payload, Headers: r.Headers}
	}
	return d.Publish(ctx, messages)
}

// told is an observer that keeps what it is told.
type told struct {
	mu         sync.Mutex
	deliveries []observe.Delivery
	measured   map[observe.Metric]float64
}

func (o *told) Delivery(_ context.Context, d *observe.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deliveries = append(o.deliveries, *d)
}

func (o *told) Measure(m observe.Metric, _ observe.Labels, v float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.measured == nil {
		o.measured = map[observe.Metric]float64{}
	}
	o.measured[m] += v
}

// world is a guard over a store with faults.
type world struct {
	*guard.Guard
	store  *faulty
	topics *topics
	told   *told
	log    *lines
}

// lines is a log that may be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t testing.TB, change func(s *faulty, p *topics, c *guard.Config)) *world {
	t.Helper()
	s, p, o, l := newStore(), &topics{}, &told{}, &lines{}
	c := guard.Config{
		Scope: scope, Now: s.clock.Now, Observer: o,
		Log: slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(s, p, &c)
	}
	g, err := guard.New(s, c)
	require.NoError(t, err)
	return &world{Guard: g, store: s, topics: p, told: o, log: l}
}

func records(s *faulty, p *topics, c *guard.Config) {
	s.recordsOK, c.Publisher, c.Delays = true, p, delays{p}
}

var offsets struct {
	sync.Mutex
	next int64
}

// message is one of topic orders, at an offset of its own, with headers in pairs of name and value.
func message(pairs ...string) *broker.Message {
	offsets.Lock()
	defer offsets.Unlock()
	offsets.next++
	m := &broker.Message{Topic: "orders", Partition: 3, Offset: offsets.next, Key: []byte("o-17"), Value: []byte("payload")}
	for i := 0; i < len(pairs); i += 2 {
		m.Headers = append(m.Headers, idem.Header{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return m
}

func keyed(key string, more ...string) *broker.Message {
	return message(append([]string{"idempotency_key", key, "event_type", "payments.failed", "backoff_jitter", "0"}, more...)...)
}

// again is a row as the scheduler publishes it.
func published(r store.Retry) *broker.Message {
	m := message()
	m.Topic, m.Key, m.Value, m.Headers = r.Topic, r.MessageKey, r.Payload, r.Headers
	return m
}

var nothing = func(context.Context) error { return nil }

// through takes a message through all steps in mode Idempotent.
func (w *world) through(t *testing.T, m *broker.Message, r *guard.Rules, fn func(context.Context) error) *guard.Delivery {
	t.Helper()
	d := w.claimed(t, m, r)
	w.Run(t.Context(), d, fn)
	require.NoError(t, w.Settle(t.Context(), []*guard.Delivery{d}))
	return d
}

func (w *world) claimed(t *testing.T, m *broker.Message, r *guard.Rules) *guard.Delivery {
	t.Helper()
	d := new(guard.Delivery)
	w.Open(d, m, r)
	require.NoError(t, w.Claim(t.Context(), []*guard.Delivery{d}))
	return d
}

func header(t *testing.T, headers idem.Headers, name string) string {
	t.Helper()
	value, n := "", 0
	for _, h := range headers {
		if h.Name == name {
			value = string(h.Value)
			n++
		}
	}
	require.LessOrEqual(t, n, 1, "header %s comes %d times", name, n)
	return value
}
