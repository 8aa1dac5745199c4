package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	"github.com/idem-spec/idem/runtime/go/internal/seam"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// errFault is what a call returns that fails.
var errFault = errors.New("connection reset by peer")

// process is a process of the schedule: a consumer, or a producer.
type process struct {
	w      *world
	name   string
	chance *chance
	rates  rates
	store  store.Full[*memory.Tx]
	broker broker.Broker
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan error
	// Of a consumer:
	consumer *consumer.Consumer
	box      *outbox.Outbox

	// Under the world's lock:
	luck        map[string]*chance // of each operation
	dead        bool
	pausedUntil time.Time
	grants      map[string][]time.Time // by key, when the claims that no call has begun under run out
}

// rates are how often something goes wrong at a step: once in so many, 0 for never.
type rates struct {
	fail, kill, pause int // a step
	slow              int // a commit
}

// newProcess makes one that does nothing yet.
func (w *world) newProcess(name string, r rates) *process {
	p := &process{
		w: w, name: name, chance: newChance(w.seed, name), rates: r, ended: make(chan error, 1),
		grants: make(map[string][]time.Time), luck: make(map[string]*chance),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.store = seam.Store(watchStore{plant.Store[*memory.Tx](w.bug, slowStore{w.store, p}, w.hint), p}, p.step)
	b := broker.Broker(watchBroker{w.broker, p})
	b = seam.Broker(plant.Broker(w.bug, b), p.step)
	p.broker = publishing{b, plant.Publisher(w.bug, b)}
	w.mu.Lock()
	w.processes = append(w.processes, p)
	w.mu.Unlock()
	w.note(name, "starts")
	return p
}

// go_ runs the process's work.
func (p *process) run(work func(ctx context.Context) error) {
	go func() { p.ended <- work(p.ctx) }()
}

// stop asks the process to end, and waits for it.
func (p *process) stop() error {
	p.cancel()
	err := <-p.ended
	p.ended <- err
	return err
}

// kill ends the process: from now on nothing that it does has an effect.
func (p *process) kill(at string) {
	p.w.mu.Lock()
	p.dead = true
	p.w.mu.Unlock()
	p.w.note(p.name, "is killed %s", at)
	p.w.reach("killed")
	p.cancel()
}

func (p *process) isDead() bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.dead
}

// pause stops the process for a while; it does not know.
func (p *process) pause(d time.Duration) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.pausedUntil = time.Now().Add(d)
}

// step is each step of the process.
func (p *process) step(_ context.Context, s seam.Step) error {
	if p.w.isHot(p, s) {
		time.Sleep(time.Second) // so that there is an end
	}
	if err := p.wait(); err != nil {
		return err
	}
	side := "before"
	if s.After {
		side = "after"
	}
	if len(s.Keys) > 0 {
		p.w.note(p.name, "  %s %s %v", side, s.Op, s.Keys)
	}
	if p.w.isCalm() {
		return nil
	}
	if p.w.isDown(s.Op) {
		return fmt.Errorf("%s: %w", s.Op, errFault)
	}
	c := p.luckOf(s.Op.String())
	switch {
	case c.one(p.rates.fail):
		p.w.note(p.name, "%s %s fails %v", side, s.Op, s.Keys)
		return fmt.Errorf("%s: %w", s.Op, errFault)
	case c.one(p.rates.kill):
		p.kill(fmt.Sprintf("%s %s %v", side, s.Op, s.Keys))
		return errFault
	case c.one(p.rates.pause):
		p.w.note(p.name, "stops %s %s %v", side, s.Op, s.Keys)
		p.pause(5*time.Second + c.upTo(25*time.Second))
		return p.wait()
	}
	return nil
}

// hot is how many steps there may be at one instant. More are a loop that does not wait.
const hot = 20000

func (w *world) isHot(p *process, s seam.Step) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); !now.Equal(w.instant) {
		w.instant, w.steps = now, 0
	}
	w.steps++
	if w.steps > hot && w.hot == "" {
		w.hot = fmt.Sprintf("%d steps at %v, and on and on: %s, %s", w.steps, w.instant.Sub(start), p.name, s.Op)
	}
	return w.steps > hot
}

// luckOf is a stream for each operation: so what goes wrong with one does not depend on how the goroutines of the
// others take their turns.
func (p *process) luckOf(what string) *chance {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c := p.luck[what]
	if c == nil {
		c = newChance(p.w.seed, p.name+" "+what)
		p.luck[what] = c
	}
	return c
}

// wait waits while the process is stopped; an error says that it is dead.
func (p *process) wait() error {
	for {
		p.w.mu.Lock()
		dead, wait := p.dead, time.Until(p.pausedUntil)
		if p.w.calm {
			wait = min(wait, time.Second)
			p.pausedUntil = time.Time{}
		}
		p.w.mu.Unlock()
		if dead {
			return errFault
		}
		if wait <= 0 {
			return nil
		}
		time.Sleep(wait)
	}
}

// publishing is a broker with another publisher.
type publishing struct {
	broker.Broker
	p broker.Publisher
}

func (b publishing) Publish(ctx context.Context, messages []broker.Message) []error {
	return b.p.Publish(ctx, messages)
}
