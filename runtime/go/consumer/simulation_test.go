package consumer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// chance is a source of chance for several goroutines.
type chance struct {
	mu sync.Mutex
	*rand.Rand
}

func (c *chance) one(in int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.IntN(in) == 0
}

func (c *chance) upTo(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.IntN(n)
}

// shaky is a process's connection to the store: calls fail before or after they are done, and once the process is
// dead all do.
type shaky struct {
	store.Full[*memory.Tx]
	c    *chance
	calm *bool
	mu   *sync.Mutex
	dead bool
}

var errShaky = errors.New("connection reset by peer")

func (s *shaky) fails() (before, after bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return true, false
	}
	if *s.calm {
		return false, false
	}
	return s.c.one(60), s.c.one(60)
}

func shake[A, B any](s *shaky, do func(context.Context, A) (B, error), ctx context.Context, a A) (B, error) {
	var none B
	before, after := s.fails()
	if before {
		return none, errShaky
	}
	b, err := do(ctx, a)
	if after {
		return none, errShaky
	}
	return b, err
}

func (s *shaky) Claim(ctx context.Context, a []store.Claim) ([]store.Grant, error) {
	return shake(s, s.Full.Claim, ctx, a)
}
func (s *shaky) Complete(ctx context.Context, a []store.Completion) ([]bool, error) {
	return shake(s, s.Full.Complete, ctx, a)
}
func (s *shaky) Settle(ctx context.Context, a []store.Settlement) ([]store.Settled, error) {
	return shake(s, s.Full.Settle, ctx, a)
}
func (s *shaky) Renew(ctx context.Context, a []store.Renewal) ([]bool, error) {
	return shake(s, s.Full.Renew, ctx, a)
}
func (s *shaky) InTx(ctx context.Context, fn func(ctx context.Context, tx *memory.Tx) error) error {
	_, err := shake(s, func(ctx context.Context, fn func(ctx context.Context, tx *memory.Tx) error) (bool, error) {
		return true, s.Full.InTx(ctx, fn)
	}, ctx, fn)
	return err
}
func (s *shaky) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	if before, _ := s.fails(); before {
		return nil, errShaky
	}
	return s.Full.ClaimDue(ctx, token, limit, lease)
}

// process is one consumer that can be stopped, or killed: then nothing that it does comes through.
type process struct {
	s      *shaky
	k      *Consumer
	cancel context.CancelFunc
	ended  chan error
	dead   sync.Once
}

func (p *process) kill() {
	p.s.mu.Lock()
	p.s.dead = true
	p.s.mu.Unlock()
	p.cancel()
}

// deadBroker is the broker as a process sees it: nothing once it is dead.
type deadBroker struct {
	broker.Broker
	s *shaky
}

func (b deadBroker) Group(ctx context.Context, name string, topics []string) (broker.Group, error) {
	g, err := b.Broker.Group(ctx, name, topics)
	return deadGroup{g, b.s}, err
}

func (b deadBroker) Publish(ctx context.Context, ms []broker.Message) []error {
	if before, _ := b.s.fails(); before {
		errs := make([]error, len(ms))
		for i := range errs {
			errs[i] = errShaky
		}
		return errs
	}
	return b.Broker.Publish(ctx, ms)
}

type deadGroup struct {
	broker.Group
	s *shaky
}

func (g deadGroup) Join(ctx context.Context) (broker.Generation, error) {
	n, err := g.Group.Join(ctx)
	return deadGeneration{n, g.s}, err
}

type deadGeneration struct {
	broker.Generation
	s *shaky
}

func (g deadGeneration) Commit(ctx context.Context, offsets map[broker.TopicPartition]int64) error {
	if before, _ := g.s.fails(); before {
		return errShaky
	}
	return g.Generation.Commit(ctx, offsets)
}

// TestSimulation runs schedules of chance: processes that start, stop and die, rebalances, calls that fail before or
// after they were done, handlers that fail, panic and are slow. No effect is there twice, nothing is lost, keys are in
// order where the route says so, and offsets never go back. SIMULATE=n runs n schedules, from SEED on.
func TestSimulation(t *testing.T) {
	t.Parallel()
	n, seed := 30, 1
	if text := os.Getenv("SIMULATE"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	if text := os.Getenv("SEED"); text != "" {
		seed, _ = strconv.Atoi(text)
	}
	if testing.Short() {
		n = min(n, 5)
	}
	for i := range n {
		t.Run(fmt.Sprint("seed ", seed+i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if wrong, state := simulate(t, uint64(seed+i), ""); wrong != nil {
					t.Fatalf("seed %d: %v%s", seed+i, wrong, state)
				}
			})
		})
	}
}

// TestSimulationFindsPlantedBugs: each of them within so many schedules, or the simulation proves nothing.
func TestSimulationFindsPlantedBugs(t *testing.T) {
	t.Parallel()
	for _, bug := range plant.Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(400) {
				var wrong error
				synctest.Test(t, func(t *testing.T) { wrong, _ = simulate(t, seed, bug) })
				if wrong != nil {
					t.Logf("seed %d: %v", seed, wrong)
					return
				}
			}
			t.Fatal("not found")
		})
	}
}

// hints is what processes share in Redis.
type hints struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (h *hints) Set(scope, key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys[scope+"/"+key] = true
}

func (h *hints) Has(scope, key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys[scope+"/"+key]
}

// simulate runs one schedule, and says what was wrong in the end.
func simulate(t *testing.T, seed uint64, bug plant.Bug) (wrong error, state string) {
	c := &chance{Rand: rand.New(rand.NewPCG(seed, 16))}
	order := guard.Order(seed % 3)
	calm := false
	var calmMu sync.Mutex
	m := memory.New(memory.Config{})
	w := &world{T: t, store: m, seen: new(recorder)}
	w.broker = broker.NewMemory(broker.MemoryConfig{Faults: broker.MemoryFaults{
		Publish: func(_ context.Context, message *broker.Message) broker.PublishFault {
			if message.Topic == "payments" {
				return broker.PublishFault{}
			}
			if c.one(40) {
				return broker.PublishFault{Err: errShaky, Delivered: c.one(2)}
			}
			return broker.PublishFault{Copies: c.upTo(20) / 19}
		},
	}})
	w.topic("payments", 3)
	b := watch(t, w.broker)
	b.fail = func(string, ...any) {} // a planted bug may, and what is committed is looked at in the end
	if bug == "" {
		b.fail = t.Errorf
	}
	planted := plant.Store[*memory.Tx](bug, m, &hints{keys: map[string]bool{}})

	var mu sync.Mutex
	effects, done := map[string]int{}, map[string][]int{} // by biz key, in the order of the commits
	calls := map[string]time.Time{}                       // that are on their way under a live lease, by their begin
	overlap := ""
	const timeout = 3 * time.Second
	handle := func(ctx context.Context, tx *memory.Tx, v string) error {
		if c.one(map[bool]int{true: 15, false: 60}[bug == plant.NoFence]) {
			time.Sleep(20 * time.Second) // deaf, and longer than its lease
		}
		if c.one(10) {
			select {
			case <-time.After(time.Duration(c.upTo(4000)) * time.Millisecond):
			case <-ctx.Done():
			}
		}
		switch {
		case strings.HasSuffix(v, "/13"):
			return idem.NonRetryable("GONE", errDown)
		case c.one(12):
			return errDown
		case c.one(50):
			panic("out of cheese")
		case order == guard.Unordered && c.one(30):
			return idem.OutOfOrder(errDown)
		}
		tx.Do(func() {
			mu.Lock()
			defer mu.Unlock()
			effects[v]++
			bizKey, n, _ := strings.Cut(v, "/")
			i, _ := strconv.Atoi(n)
			done[bizKey] = append(done[bizKey], i)
		})
		return nil
	}
	// call sees to it that a message is not in two handlers at a time: the second finds the claim of the first.
	call := func() func(ctx context.Context, tx *memory.Tx, p *payment) error {
		return func(ctx context.Context, tx *memory.Tx, p *payment) error {
			v, begun := p.GetValue(), time.Now()
			mu.Lock()
			if other, ok := calls[v]; ok && begun.Sub(other) < timeout+guard.LeaseMargin/2 {
				overlap = fmt.Sprintf("%s begins %v after another call of it that goes on", v, begun.Sub(other))
			}
			calls[v] = begun
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				if calls[v].Equal(begun) {
					delete(calls, v)
				}
			}()
			return handle(ctx, tx, v)
		}
	}
	start := func() *process {
		s := &shaky{Full: planted, c: c, calm: &calm, mu: &calmMu}
		config := Config{
			Group: "g", Topics: []string{"payments"}, Observer: w.seen, Workers: 1 + c.upTo(6), Window: 5 + c.upTo(60),
			RebalanceTimeout: time.Duration(1+c.upTo(4000)) * time.Millisecond, DrainTimeout: time.Duration(1+c.upTo(4000)) * time.Millisecond,
			Log: discard(), Batch: 1 + c.upTo(30),
		}
		retries := int32(60)
		config.Guard.Limits = idem.PartialPolicy{MaxRetry: &retries}
		k, err := New(deadBroker{plantedBroker(bug, b), s}, s, config, Tx(call(), Route{
			Order: order, HandlerTimeout: timeout, Hold: time.Duration(c.upTo(20)+1) * time.Second, Breaker: Breaker{Failures: 25},
		}))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		p := &process{s: s, k: k, cancel: cancel, ended: make(chan error, 1)}
		go func() { p.ended <- k.Run(ctx) }()
		return p
	}
	const keys, each = 8, 20
	sent := 0
	processes := []*process{start(), start()}
	for range 60 {
		for range c.upTo(6) {
			if sent < keys*each {
				bizKey, i := "b"+strconv.Itoa(sent%keys), sent/keys
				v := fmt.Sprintf("%s/%d", bizKey, i)
				sent++
				headers := []idem.Header{{Name: "max_retry", Value: []byte("60")}, {Name: "backoff_max", Value: []byte("4")}}
				for range 1 + c.upTo(10)/9 {
					w.send("payments", "payment", v, bizKey, v, headers...)
				}
			}
		}
		time.Sleep(time.Duration(c.upTo(1500)) * time.Millisecond)
		switch c.upTo(12) {
		case 0:
			w.broker.Rebalance("g")
		case 1, 2:
			i := c.upTo(len(processes))
			p := processes[i]
			if c.one(2) {
				p.kill()
				w.broker.Rebalance("g")
			} else {
				p.cancel()
				<-p.ended
				p.ended <- nil
			}
			processes[i] = start()
		}
	}
	calmMu.Lock()
	calm = true
	calmMu.Unlock()
	for ; sent < keys*each; sent++ {
		v := fmt.Sprintf("b%d/%d", sent%keys, sent/keys)
		w.send("payments", "payment", v, "b"+strconv.Itoa(sent%keys), v, idem.Header{Name: "max_retry", Value: []byte("60")}, idem.Header{Name: "backoff_max", Value: []byte("4")})
	}
	for range 40 {
		time.Sleep(time.Minute)
		if counts, _ := m.CountRetries(context.Background()); counts.Pending+counts.Parked == 0 {
			mu.Lock()
			n := len(effects)
			mu.Unlock()
			if n == keys*(each-1) {
				break
			}
		}
	}
	time.Sleep(10 * time.Second)
	for _, p := range processes {
		h, e := p.k.Health(), p.k.engine
		e.mu.Lock()
		state += fmt.Sprintf("\n%+v flight %d alone %v suspects %d settling %d lanes %d", h, e.flight, e.alone, e.suspects.len(), e.settleQ.len(), len(e.lanes.byKey))
		for _, l := range e.lanes.byKey {
			state += fmt.Sprintf("\n  %+v: head %s state %d probe %v alone %v", l.laneKey, l.head.d.Key, l.head.state, l.head.probe, l.head.alone)
		}
		for _, r := range e.routes {
			state += fmt.Sprintf("\n  route runnable %d claiming %d running %d breaker %+v", r.runnable.len(), r.claiming, r.running, r.breaker)
		}
		e.mu.Unlock()
	}
	for _, p := range processes {
		p.cancel()
		<-p.ended
	}
	mu.Lock()
	defer mu.Unlock()
	if overlap != "" {
		return errors.New(overlap), state
	}
	for k := range keys {
		for i := range each {
			v := fmt.Sprintf("b%d/%d", k, i)
			want := 1
			if i == 13 {
				want = 0
			}
			if effects[v] != want {
				counts, _ := m.CountRetries(context.Background())
				records, _ := m.Records(context.Background(), "g", []string{v})
				state += fmt.Sprintf("\n%+v %+v", counts, records[0])
				for _, topic := range []string{"payments", "payments.retry.g"} {
					for _, message := range w.broker.Messages(topic) {
						if string(message.Headers[0].Value) == v {
							state += fmt.Sprintf("\n%s/%d/%d at %v:", topic, message.Partition, message.Offset, message.Time)
							for _, h := range message.Headers {
								state += fmt.Sprintf(" %s=%s", h.Name, h.Value)
							}
						}
					}
				}
				return fmt.Errorf("%d effects of %s: %v", effects[v], v, w.seen.outcomes(v)), state
			}
		}
		if own := done["b"+strconv.Itoa(k)]; order != guard.Unordered && !slices.IsSorted(own) {
			return fmt.Errorf("order %d: b%d in the order %v", order, k, own), state
		}
	}
	letters, err := m.ListDeadLetters(context.Background(), store.DeadLetterFilter{}, 0, 1000)
	require.NoError(t, err)
	dead := map[string]bool{}
	for i := range letters {
		if letters[i].Outcome != idem.OutcomeNonRetryable {
			return fmt.Errorf("dead letter of %s: %s", letters[i].Key, letters[i].Reason), state
		}
		dead[letters[i].Key] = true
	}
	if len(dead) != keys {
		return fmt.Errorf("%d keys in the dead letters, not %d", len(dead), keys), state
	}
	for _, topic := range []string{"payments", "payments.retry.g"} {
		ends := map[int32]int64{}
		for _, message := range w.broker.Messages(topic) {
			ends[message.Partition] = message.Offset + 1
		}
		for p, end := range ends {
			if committed, _ := w.broker.Committed("g", broker.TopicPartition{Topic: topic, Partition: p}); committed != end {
				return fmt.Errorf("%s/%d is committed up to %d of %d", topic, p, committed, end), state
			}
		}
	}
	return nil, state
}

// plantedBroker is a broker with a bug, where it is one of a broker's.
func plantedBroker(bug plant.Bug, b broker.Broker) broker.Broker {
	return publishes{plant.Broker(bug, b), plant.Publisher(bug, b)}
}

type publishes struct {
	broker.Broker
	p broker.Publisher
}

func (b publishes) Publish(ctx context.Context, ms []broker.Message) []error {
	return b.p.Publish(ctx, ms)
}
