// Package worker runs what the tables of services need beside their consumers: the scheduler of retries, the relay of
// the outbox, and the cleaner. Each store has its own of each, so that one that is down hinders no other. Any number
// of workers may run on a store.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store/cleaner"
)

// Config says what to run.
type Config struct {
	Scheduler, Relay, Cleaner bool
	// Publisher is for the scheduler and the relay.
	Publisher broker.Publisher
	// Alias is where messages of a topic go that has moved.
	Alias map[string]string
	// Observer gets the metrics; nil: none.
	Observer observe.Observer
	Log      *slog.Logger
}

// Worker runs the parts. Make it with New.
type Worker struct {
	parts    []*part
	draining atomic.Bool
}

// New makes a worker on stores that are open and stay the caller's.
func New(stores []*connect.Store, c Config) (*Worker, error) {
	w := &Worker{}
	for _, s := range stores {
		add := func(runs bool, name string, make func(*part) (func(context.Context) error, error)) error {
			if !runs {
				return nil
			}
			p := &part{store: s.Place(), dsn: s.DSN, name: name, log: c.Log.With("store", s.Place(), "part", name)}
			var err error
			p.run, err = make(p)
			w.parts = append(w.parts, p)
			return err
		}
		err := errors.Join(
			add(c.Scheduler, "retry scheduler", func(p *part) (func(context.Context) error, error) { return scheduler(s, c, p) }),
			add(c.Relay, "outbox relay", func(p *part) (func(context.Context) error, error) { return relay(s, c, p) }),
			add(c.Cleaner, "cleaner", func(p *part) (func(context.Context) error, error) { return clean(s, c, p), nil }),
			add(c.Observer != nil, "watch of dead letters", func(p *part) (func(context.Context) error, error) { return watch(s, c, p) }),
		)
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Run runs all parts until ctx ends, and then each until its round is over.
func (w *Worker) Run(ctx context.Context) {
	drain := func() { w.draining.Store(true) }
	defer drain() // it may be over before the other one has begun
	defer context.AfterFunc(ctx, drain)()
	var all sync.WaitGroup
	for _, p := range w.parts {
		all.Go(func() { p.keepRunning(ctx) })
	}
	all.Wait()
}

func scheduler(s *connect.Store, c Config, p *part) (func(context.Context) error, error) {
	return loop(retry.NewScheduler(s.Tables, c.Publisher, retry.Config{
		Alias: c.Alias, StoreName: label(s), Observer: c.Observer, Trouble: p.hindered, Log: p.log,
	}))
}

func relay(s *connect.Store, c Config, p *part) (func(context.Context) error, error) {
	return loop(outbox.NewRelay(s.Tables, c.Publisher, outbox.RelayConfig{
		Alias: c.Alias, StoreName: label(s), Observer: c.Observer, Trouble: p.hindered, Log: p.log,
	}))
}

func watch(s *connect.Store, c Config, p *part) (func(context.Context) error, error) {
	return loop(deadletter.NewWatch(s.Tables, deadletter.WatchConfig{Observer: c.Observer, Log: p.log}))
}

// loop is the Run of what was made.
func loop[R interface{ Run(context.Context) error }](r R, err error) (func(context.Context) error, error) {
	if err != nil {
		return nil, err
	}
	return r.Run, nil
}

func clean(s *connect.Store, c Config, p *part) func(context.Context) error {
	observer := observe.Safe(c.Observer)
	return func(ctx context.Context) error {
		return cleaner.Run(ctx, s.Tables, func(n int) {
			observer.Measure(observe.RecordsCleaned, observe.Labels{Store: label(s)}, float64(n))
		}, p.hindered)
	}
}

// label is what metrics call a store: its name in the context, or what it is.
func label(s *connect.Store) string {
	if s.Name != "" {
		return s.Name
	}
	return s.Kind()
}
