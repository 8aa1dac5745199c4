package consumer

import (
	"context"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/observe"
)

// warn and info write a line; a logger that panics changes no outcome.
func (e *engine) warn(line string, args ...any) { e.say(slog.LevelWarn, line, args...) }
func (e *engine) info(line string, args ...any) { e.say(slog.LevelInfo, line, args...) }

func (e *engine) say(level slog.Level, line string, args ...any) {
	defer func() { _ = recover() }()
	e.log.Log(context.Background(), level, line, append(args, "group", e.config.Group, "scope", e.config.Scope)...)
}

// measure tells the observer; one that panics changes no outcome.
func (e *engine) measure(m observe.Metric, labels observe.Labels, value float64) {
	defer func() { _ = recover() }()
	labels.Scope = e.config.Scope
	e.observer.Measure(m, labels, value)
}

// tell tells the observer of a delivery that the guard knows nothing of.
func (e *engine) tell(d *observe.Delivery) {
	defer func() { _ = recover() }()
	e.observer.Delivery(e.base, d)
}

// routeOpen tells that a route rests, or works again. The caller holds the lock, so it is told beside it.
func (e *engine) routeOpen(r *route, open bool, cause error) {
	pause := r.breaker.pause
	e.side.Add(1)
	go func() {
		defer e.side.Done()
		value := 0.0
		if open {
			value = 1
			e.warn("route rests: failures of different keys follow each other; its messages wait, and it is probed", "event_type", r.eventType, "pause", pause, "error", cause)
		} else {
			e.info("route works again", "event_type", r.eventType)
		}
		e.measure(observe.RouteOpen, observe.Labels{EventType: r.eventType}, value)
	}()
}

// gauges measures what there is of a share.
func (e *engine) gauges(s *share, since time.Duration) {
	type reading struct {
		p           *partition
		lag, growth int64
		oldest      time.Time
	}
	var readings []reading
	e.mu.Lock()
	for _, p := range s.parts {
		r := reading{p: p, lag: max(p.end-p.mark.offset, 0)}
		r.growth, p.lag = r.lag-p.lag, r.lag
		if t := p.mark.oldest(); t != nil && t.d.Message != nil {
			r.oldest = t.d.Message.Time
		}
		readings = append(readings, r)
	}
	flight := e.flight
	e.mu.Unlock()
	now := time.Now()
	for _, r := range readings {
		labels := observe.Labels{Topic: r.p.Topic, Partition: r.p.Partition}
		e.measure(observe.ConsumerLag, labels, float64(r.lag))
		if since > 0 {
			e.measure(observe.ConsumerLagGrowth, labels, float64(r.growth)/since.Seconds())
		}
		age := 0.0
		if !r.oldest.IsZero() {
			age = max(now.Sub(r.oldest).Seconds(), 0)
		}
		e.measure(observe.ConsumerOldest, labels, age)
	}
	e.measure(observe.InFlight, observe.Labels{}, float64(flight))
}
