package deadletter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/eventtype"
	"github.com/idem-spec/idem/runtime/go/internal/names"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// WatchConfig configures a Watch. Observer is required.
type WatchConfig struct {
	// Every is how often dead letters are counted. Default 15 seconds.
	Every time.Duration
	// Timeout limits each query. Default 10 seconds.
	Timeout time.Duration
	// Observer gets DeadLetters and DeadLetterOldest, by scope and event type.
	Observer observe.Observer
	// Now is for the age of the oldest. Default time.Now.
	Now func() time.Time
	// Log gets what fails. Nil: slog.Default().
	Log *slog.Logger
}

// Watch counts the dead letters that wait, for alerts. One in each deployment is enough. Run and Step are
// for one goroutine.
type Watch struct {
	letters store.DeadLetters
	config  WatchConfig
	tell    tell.Teller
	// shown are the gauges that are not 0: they have to go back to it.
	shown map[observe.Labels]bool
	// named are the event types of each scope that have gauges of their own.
	named map[string]map[string]bool
}

// NewWatch makes a Watch.
func NewWatch(letters store.DeadLetters, c WatchConfig) (*Watch, error) {
	switch {
	case letters == nil:
		return nil, errors.New("watch dead letters: no store: give one that has the table dead_letter")
	case c.Observer == nil:
		return nil, errors.New("watch dead letters: Observer is nil: give what the numbers are for, such as package prometheus")
	case c.Every < 0 || c.Timeout < 0:
		return nil, fmt.Errorf("watch dead letters: Every %v, Timeout %v: each has to be positive, or 0 for the default", c.Every, c.Timeout)
	}
	c.Every = cmp.Or(c.Every, 15*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Watch{
		letters: letters, config: c, tell: tell.Teller{Observer: c.Observer, Log: c.Log},
		shown: map[observe.Labels]bool{}, named: map[string]map[string]bool{},
	}, nil
}

// Run counts until ctx is done, and returns nil then.
func (w *Watch) Run(ctx context.Context) error {
	for {
		if err := w.Step(ctx); err != nil && ctx.Err() == nil {
			w.tell.Error(ctx, "watch dead letters: not counted, going on", slog.Any("error", err))
		}
		if !wait.For(ctx, w.config.Every) {
			return nil
		}
	}
}

// Step counts once.
func (w *Watch) Step(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.config.Timeout)
	defer cancel()
	stats, err := w.letters.DeadLetterStats(ctx)
	if err != nil {
		return fmt.Errorf("count dead letters: %w", err)
	}
	now := w.config.Now()
	shown := make(map[observe.Labels]bool, len(stats))
	for labels, s := range w.folded(stats) {
		shown[labels] = true
		w.tell.Measure(observe.DeadLetters, labels, float64(s.Count))
		w.tell.Measure(observe.DeadLetterOldest, labels, max(0, now.Sub(s.Oldest)).Seconds())
	}
	for labels := range w.shown {
		if !shown[labels] {
			w.tell.Measure(observe.DeadLetters, labels, 0)
			w.tell.Measure(observe.DeadLetterOldest, labels, 0)
		}
	}
	w.shown = shown
	return nil
}

// folded adds up event types beyond the first ones of a scope, and names that are none: they come from messages.
func (w *Watch) folded(stats []store.DeadLetterStats) map[observe.Labels]store.DeadLetterStats {
	all := make(map[observe.Labels]store.DeadLetterStats, len(stats))
	for _, s := range stats {
		labels := observe.Labels{Scope: s.Scope, EventType: s.EventType}
		if !w.names(s.Scope, s.EventType) {
			labels.EventType = eventtype.Other
		}
		if before, there := all[labels]; there {
			s.Count += before.Count
			if before.Oldest.Before(s.Oldest) {
				s.Oldest = before.Oldest
			}
		}
		all[labels] = s
	}
	return all
}

// names says that an event type has gauges of its own, from now on.
func (w *Watch) names(scope, eventType string) bool {
	named := w.named[scope]
	switch {
	case named[eventType]:
		return true
	case len(named) >= eventtype.Most || !names.Is(eventType):
		return false
	case named == nil:
		named = map[string]bool{}
		w.named[scope] = named
	}
	named[eventType] = true
	return true
}
