package idemtest

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/internal/seam"
	"github.com/idem-spec/idem/runtime/go/outbox"
)

// process is one incarnation of the consumer.
type process struct {
	w      *World
	n      int
	cancel context.CancelFunc
	ended  chan struct{}
	// Under the world's lock:
	dead        bool
	pausedUntil time.Time
}

// start starts a process.
func (w *World) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{w: w, n: len(w.processes) + 1, cancel: cancel, ended: make(chan struct{})}
	w.processes = append(w.processes, p)
	run, err := p.make()
	if err != nil {
		cancel()
		close(p.ended)
		w.failure = err
		return
	}
	go func() {
		defer close(p.ended)
		err := run(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil && !p.dead && !w.closed {
			w.failure = err
		}
	}()
}

// make makes the consumer, with a relay of the outbox beside it. The caller holds the lock.
func (p *process) make() (func(context.Context) error, error) {
	w := p.w
	c := w.config.Consumer
	if len(c.Topics) == 0 {
		c.Topics = w.topics
	}
	if len(c.Topics) == 0 {
		return nil, fmt.Errorf("nothing to consume: Publish before Run, or name the topics in Config.Consumer.Topics")
	}
	c.Observer = recorder{w}
	if c.Log == nil {
		c.Log = w.log.logger()
	}
	s, b := w.store.process(p.step), seam.Broker(w.broker, p.step)
	if o, ok := s.(Full); ok {
		relay, err := outbox.NewRelay(o, b, outbox.RelayConfig{Log: c.Log, Poll: 5 * time.Second})
		if err != nil {
			return nil, err
		}
		c.Background = append(c.Background[:len(c.Background):len(c.Background)], relay.Run)
	}
	k, err := consumer.New(b, s, c, w.routes...)
	if err != nil {
		return nil, err
	}
	return k.Run, nil
}

// step is each step of the process: what a dead one does has no effect, and one that is stopped waits.
func (p *process) step(ctx context.Context, s seam.Step) error {
	if err := p.wait(); err != nil {
		return err
	}
	point := pointOf(s)
	if point == "" {
		return nil
	}
	keys := s.Keys
	if key := guard.KeyOf(ctx); len(keys) == 0 && key != "" {
		keys = []string{key}
	}
	for _, key := range keys {
		kind, hit := p.w.visit(p, point, key)
		if !hit {
			continue
		}
		if kind != Fail {
			p.w.start()
		}
		if kind == Pause {
			p.w.broker.Rebalance(p.w.config.Consumer.Group)
			return p.wait()
		}
		return ErrFault
	}
	return nil
}

// wait waits while the process is stopped; an error says that it is dead.
func (p *process) wait() error {
	for {
		p.w.mu.Lock()
		dead, wait := p.dead, time.Until(p.pausedUntil)
		p.w.mu.Unlock()
		if dead {
			return ErrFault
		}
		if wait <= 0 {
			return nil
		}
		time.Sleep(wait)
	}
}

// visit says what happens at a point, if anything.
func (w *World) visit(p *process, at Point, key string) (Kind, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead || w.closed {
		return 0, false
	}
	for _, f := range w.faults {
		if f.left == 0 || f.At != at || f.Key != "" && f.Key != key {
			continue
		}
		f.left--
		f.hits++
		switch f.Kind {
		case Kill:
			p.dead = true
			p.cancel()
		case Pause:
			p.pausedUntil = time.Now().Add(w.config.Pause)
		}
		return f.Kind, true
	}
	return 0, false
}
