package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// Options are what a schedule has beside its seed. The zero value is what is searched.
type Options struct {
	// Trace keeps what happened, for a failure that is looked at.
	Trace bool
}

// variant is how a team might have set it up.
type variant struct {
	guarded     bool // it has guarded objects: one in four does, since their database takes its time
	deadTopic   bool // dead letters go to a topic, not to the table
	delayTopics bool // and so do retries; nothing parks then
	grows       bool // the topics get more partitions, which moves keys: so there is no order
}

func variantOf(seed uint64) variant {
	return variant{guarded: seed%4 == 0, deadTopic: seed%5 < 2, delayTopics: seed%7 < 2, grows: seed%11 == 0}
}

// Run runs the schedule of a seed with a planted bug, or with none. It has to be called in a bubble of
// testing/synctest.
func Run(seed uint64, bug plant.Bug, o Options) (*Result, error) {
	w, err := newWorld(seed, bug, o)
	if err != nil {
		return nil, err
	}
	s := &schedule{w: w, chance: newChance(seed, "schedule")}
	defer s.end()
	return s.run()
}

type schedule struct {
	w         *world
	chance    *chance
	of        []*stream
	consumers []*process
	producer  *process
	started   int
	campaigns int // of redriving
}

// rounds are how many times the schedule does something, and lets time pass.
const rounds = 40

func (s *schedule) run() (*Result, error) {
	s.of = streams(s.chance, s.w.variant)
	if err := s.begin(); err != nil {
		return nil, err
	}
	for range rounds {
		time.Sleep(s.chance.upTo(1500 * time.Millisecond))
		if err := s.something(); err != nil {
			return nil, err
		}
	}
	return s.judge()
}

// begin starts the first processes.
func (s *schedule) begin() error {
	for range 2 {
		s.consumers = append(s.consumers, nil)
		if err := s.restart(len(s.consumers) - 1); err != nil {
			return err
		}
	}
	return s.restartProducer()
}

// rates are those of a process: some are unlucky, so that schedules differ in kind too.
func (s *schedule) rates() rates {
	pick := func(n ...int) int { return n[s.chance.below(len(n))] }
	return rates{fail: pick(0, 40, 80, 200), kill: pick(0, 200, 400, 1000), pause: pick(0, 0, 400, 800), slow: pick(0, 15, 60)}
}

func (s *schedule) restart(i int) (err error) {
	s.started++
	s.consumers[i], err = s.w.consume(fmt.Sprintf("c%d", s.started), s.rates())
	return err
}

func (s *schedule) restartProducer() (err error) {
	s.started++
	s.producer, err = s.w.produce(fmt.Sprintf("p%d", s.started), s.of, s.rates())
	return err
}

// something happens, or nothing does. Those who were killed are started again.
func (s *schedule) something() error {
	for i, p := range s.consumers {
		if p.isDead() && s.chance.one(3) {
			if err := s.restart(i); err != nil {
				return err
			}
		}
	}
	if s.producer.isDead() {
		if err := s.restartProducer(); err != nil {
			return err
		}
	}
	i := s.chance.below(len(s.consumers))
	switch s.chance.below(24) {
	case 0, 1:
		s.w.note("schedule", "rebalance")
		s.w.broker.Rebalance(group)
	case 2:
		d := 5*time.Second + s.chance.upTo(60*time.Second)
		s.w.note("schedule", "the store's clock jumps by %v", d)
		s.w.jump(d)
	case 3:
		s.consumers[i].kill("by the schedule")
	case 4:
		s.w.note("schedule", "ends %s", s.consumers[i].name)
		p := s.consumers[i]
		p.cancel() // and it drains while the next one begins
		return s.restart(i)
	case 5:
		s.w.note(s.consumers[i].name, "is stopped")
		s.consumers[i].pause(5*time.Second + s.chance.upTo(25*time.Second))
		s.w.broker.Rebalance(group)
	case 6:
		s.producer.kill("by the schedule")
	case 7:
		of, d := s.chance.below(2), s.chance.upTo(20*time.Second)
		s.w.note("schedule", "%s is down for %v", [2]string{"the store", "the broker"}[of], d)
		s.w.mu.Lock()
		s.w.down[of] = time.Now().Add(d)
		s.w.mu.Unlock()
	case 8, 9:
		return s.flip(s.consumers[i])
	case 10:
		if s.w.variant.grows {
			s.w.note("schedule", "the topics get more partitions")
			for _, name := range slices.Sorted(maps.Keys(s.w.topics)) {
				if err := s.w.broker.CreateTopic(name, partitions+1); err != nil {
					return err
				}
			}
		}
	case 11:
		s.redrive(s.producer.broker, s.producer.store)
	}
	return nil
}

// flip pauses, kills or resumes a route of a consumer.
func (s *schedule) flip(p *process) error {
	kinds := []string{"tx-loose", "tx-batch", "tx-block", "tx-park", "idem-loose", "idem-block", "idem-park"}
	kind := kinds[s.chance.below(len(kinds))]
	what := s.chance.below(4)
	s.w.note("schedule", "%s route %s of %s", [...]string{"pauses", "kills", "resumes", "resumes"}[what], kind, p.name)
	switch what {
	case 0:
		return p.consumer.Pause(kind)
	case 1:
		return p.consumer.Kill(kind)
	}
	return p.consumer.Resume(kind)
}

// redrive brings dead letters back, by a process that may not live to see it.
func (s *schedule) redrive(b broker.Broker, by store.Full[*memory.Tx]) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s.campaigns++
	config := deadletter.Config{Rate: -1, Timeout: 3 * time.Second, Log: slog.New(slog.DiscardHandler)}
	var report deadletter.Report
	var err error
	if s.w.variant.deadTopic {
		report, err = deadletter.FromTopic(ctx, b, by, deadletter.TopicConfig{
			Config: config, Scope: group, Origin: topic, Name: fmt.Sprint("n", s.campaigns),
		})
	} else {
		var r *deadletter.Redriver
		if r, err = deadletter.New(by, by, config); err != nil {
			panic(err)
		}
		report, err = r.Run(ctx, store.DeadLetterFilter{})
	}
	s.w.note("schedule", "redrives %d of %d dead letters: %v", report.Redriven, report.Matched, err)
}

// patience is how long a world may take to come to rest.
const patience = 30 * time.Minute

// rest waits until nothing is left to do, and says what is where it takes too long.
func (s *schedule) rest() (string, error) {
	for began := time.Now(); ; {
		time.Sleep(2 * time.Second)
		synctest.Wait()
		sent := true
		s.w.mu.Lock()
		for _, x := range s.of {
			sent = sent && x.sent == x.size
		}
		s.w.mu.Unlock()
		left, err := s.w.left(context.Background())
		if err != nil || left == "" && sent {
			return "", err
		}
		if time.Since(began) > patience {
			return fmt.Sprintf("%s (all sent: %v)", left, sent), nil
		}
	}
}

// judge lets all come to rest, redrives what is dead, and looks at what happened.
func (s *schedule) judge() (*Result, error) {
	w := s.w
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	w.note("schedule", "calm")
	for i, p := range s.consumers {
		if p.isDead() {
			if err := s.restart(i); err != nil {
				return nil, err
			}
		}
	}
	if s.producer.isDead() {
		if err := s.restartProducer(); err != nil {
			return nil, err
		}
	}
	for _, p := range s.consumers {
		for _, x := range s.of {
			for _, kind := range x.kinds {
				if err := p.consumer.Resume(kind); err != nil {
					return nil, err
				}
			}
		}
	}
	time.Sleep(21 * time.Second) // copies that are on their way
	stuck, err := s.rest()
	if err == nil && stuck == "" {
		w.mu.Lock()
		w.healed = true
		w.mu.Unlock()
		s.redrive(watchBroker{w.broker, s.producer}, watchStore{w.store, s.producer})
		stuck, err = s.rest()
	}
	if err != nil {
		return nil, err
	}
	if err := s.end(); err != nil {
		stuck = strings.TrimPrefix(stuck+"; "+err.Error(), "; ")
	}
	if w.hot != "" {
		stuck = strings.TrimPrefix(stuck+"; "+w.hot, "; ")
	}
	h, err := w.collect(context.Background())
	if err != nil {
		return nil, err
	}
	return &Result{Violations: append(history.Check(h), w.checkDone(h)...), Stuck: stuck, Messages: len(h.Produced), Calls: len(h.Calls), Reached: w.reached, Trace: w.trace}, nil
}

// end stops everything. It may be called twice.
func (s *schedule) end() (err error) {
	w := s.w
	w.mu.Lock()
	processes := w.processes
	w.processes = nil
	w.mu.Unlock()
	for _, p := range processes {
		p.cancel()
	}
	for _, p := range processes {
		// One that was ended before may have had a handler that is deaf.
		if e := p.stop(); e != nil && (p == s.producer || slices.Contains(s.consumers, p)) {
			err = fmt.Errorf("%s ends with %w", p.name, e)
		}
	}
	if processes != nil {
		time.Sleep(time.Minute) // what is deaf, or on its way, ends too
	} else if w.rows != nil {
		return w.rows.Close()
	}
	return err
}
