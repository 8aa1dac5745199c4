package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/observe/audit"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Consumer is a process's part of a consumer group. Make one with New; its methods may be called from several
// goroutines. One consumer takes any number of topics and handlers; a process should have one for each store and
// group, since a message that may kill the process runs with nothing else of its own consumer only. (DEDUP-024)
type Consumer struct {
	broker  broker.Broker
	store   store.Store
	config  Config
	guard   *guard.Guard
	routes  []*route
	byType  map[string]*route
	ignored map[string]bool
	engine  *engine
	// scheduler is nil where others have it, or the store has no table.
	scheduler *retry.Scheduler
	// audit is nil where nothing is counted.
	audit *audit.Counter

	mu      sync.Mutex
	started bool
	share   *share // nil between two generations
	phase   string // for Health
	since   time.Time
}

// New makes a consumer of handlers, one for each event type. The error names what is wrong and what would be
// right. It does no I/O.
func New(b broker.Broker, s store.Store, c Config, handlers ...Handler) (*Consumer, error) {
	switch {
	case b == nil:
		return nil, errors.New("consumer: no broker: give one of package kafka, or broker.NewMemory")
	case s == nil:
		return nil, errors.New("consumer: no store: give one of package sqlite, postgres, redis, tiered or memory")
	case len(handlers) == 0:
		return nil, errors.New("consumer: no handlers: give consumer.Tx(fn), consumer.Idempotent(fn) or consumer.Guarded(table, id, nil)")
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	if c.Guard.Publisher == nil {
		c.Guard.Publisher = b
	}
	counter := c.count(s)
	g, err := guard.New(s, c.Guard)
	if err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	if err := c.checkTopics(); err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	k := &Consumer{
		broker: b, store: s, config: c, guard: g, byType: make(map[string]*route, len(handlers)),
		ignored: make(map[string]bool, len(c.Ignore)), phase: "new", since: time.Now(), audit: counter,
	}
	for i := range handlers {
		if err := k.add(&handlers[i]); err != nil {
			name := "route " + handlers[i].eventType
			if handlers[i].eventType == "" {
				name = fmt.Sprintf("handler %d of %d", i+1, len(handlers))
			}
			return nil, fmt.Errorf("consumer: %s: %w", name, err)
		}
	}
	for _, event := range c.Ignore {
		if k.byType[event] != nil {
			return nil, fmt.Errorf("consumer: Ignore has %s, which has a handler: take one of them away", event)
		}
		k.ignored[event] = true
	}
	k.engine = newEngine(k)
	if err := k.schedule(); err != nil {
		return nil, fmt.Errorf("consumer: %w", err)
	}
	if k.scheduler != nil {
		k.engine.rowsDue = k.scheduler.Wake
	}
	return k, nil
}

const defaultBatchSize = 100

// add makes a route of a handler.
func (c *Consumer) add(h *Handler) error {
	if h.bind == nil && h.misuse == nil {
		return errors.New("the Handler is empty: make it with consumer.Tx, consumer.Idempotent or consumer.Guarded")
	}
	if h.misuse != nil {
		return h.misuse
	}
	if c.byType[h.eventType] != nil {
		return errors.New("two handlers for one event type: give one")
	}
	if err := h.route.check(); err != nil {
		return err
	}
	if h.route.Workers > c.config.Workers {
		return fmt.Errorf("Workers is %d, and the consumer has %d: give it at most that, or raise Config.Workers", h.route.Workers, c.config.Workers)
	}
	rules, err := h.rules()
	if err != nil {
		return err
	}
	r := &route{Route: h.route, eventType: h.eventType, index: len(c.routes), fresh: h.fresh, handler: firstGuess}
	r.block = r.Order == guard.Block
	if r.Order == guard.Park && !c.guard.CanPark() {
		return fmt.Errorf("Order is guard.Park, and the store %T has no table where messages could wait: use guard.Block, or a store of package sqlite, postgres or tiered without Guard.Delays", c.store)
	}
	if r.block && c.guard.CanPark() {
		rules.Order = guard.Park // what is blocked for too long parks
	}
	r.rules = rules
	r.breaker.Breaker = r.Route.Breaker
	r.Shadow = r.Shadow || c.config.Shadow
	b := binding{guard: c.guard, store: c.store, route: &r.Route}
	h.bind(&b)
	if b.err != nil {
		return b.err
	}
	r.run, r.batch = b.run, b.batch
	switch {
	case r.batch == nil && r.BatchSize != 0:
		return fmt.Errorf("BatchSize is %d, and the handler takes one message at a time: make it with consumer.TxBatch or consumer.IdempotentBatch, or leave BatchSize out", r.BatchSize)
	case r.BatchSize == 0:
		r.BatchSize = defaultBatchSize
	}
	c.routes = append(c.routes, r)
	c.byType[h.eventType] = r
	return nil
}

// Run consumes until ctx ends; then it drains, leaves the group, and returns nil. Where the broker or the store is
// down it waits, says so in the log, and goes on by itself, also while the tables are missing or of another version: it
// goes on once they are migrated. An error says what has to be mended: a topic that is missing, or handlers that do
// not end. It runs once.
func (c *Consumer) Run(ctx context.Context) error {
	c.mu.Lock()
	started := c.started
	c.started = true
	c.mu.Unlock()
	if started {
		return errors.New("consumer: Run was called before: make another consumer")
	}
	e := c.engine
	e.start(context.WithoutCancel(ctx))
	background, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	err := c.prepare(ctx)
	if err == nil {
		for name, task := range c.backgrounds() {
			beside.Go(func() { c.keepRunning(background, name, task) })
		}
		err = c.consume(ctx)
	}
	stop()
	if !e.halt() && err == nil {
		err = fmt.Errorf("consumer: drain: handlers go on although their contexts have ended %v ago: what they do is not acknowledged, and will be delivered again", haltFor)
	}
	beside.Wait()
	c.lastCounts(ctx)
	c.enter("stopped", nil)
	return err
}

// prepare waits for a store and topics that are as they have to be.
func (c *Consumer) prepare(ctx context.Context) error {
	c.enter("preparing", nil)
	e := c.engine
	for try := 0; ctx.Err() == nil; try++ {
		err := c.store.Check(ctx)
		if err == nil {
			e.outage.over(e, "check")
			break
		}
		if ctx.Err() == nil { // else it is the end of Run that was in the way
			e.outage.begins(e, "check", err)
		}
		sleep(ctx, backoff(try))
	}
	for try := 0; ctx.Err() == nil; try++ {
		err := c.checkTopics(ctx)
		if err == nil {
			e.outage.over(e, "topics")
			break
		}
		if errors.Is(err, broker.ErrUnknownTopic) {
			return fmt.Errorf("consumer: %w", err)
		}
		if ctx.Err() == nil { // else it is the end of Run that was in the way
			e.outage.begins(e, "topics", err)
		}
		sleep(ctx, backoff(try))
	}
	return nil
}

// consume goes from generation to generation.
func (c *Consumer) consume(ctx context.Context) error {
	e := c.engine
	var group broker.Group
	for try := 0; ctx.Err() == nil; try++ {
		c.enter("joining", nil)
		var err error
		if group == nil {
			group, err = c.broker.Group(ctx, c.config.Group, c.readTopics())
		}
		var generation broker.Generation
		if err == nil {
			generation, err = group.Join(ctx)
		}
		if err != nil {
			if ctx.Err() == nil {
				e.outage.begins(e, "join", err)
				sleep(ctx, backoff(try))
			}
			continue
		}
		e.outage.over(e, "join")
		try = 0
		c.generation(ctx, generation)
	}
	if group != nil {
		if err := group.Close(); err != nil {
			e.warn("the group was not left: the others wait for its session to end", "error", err)
		}
	}
	return nil
}

func (c *Consumer) enter(phase string, s *share) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase, c.share, c.since = phase, s, time.Now()
}
