package kafka

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// LagMeter measures a group's lag, its growth and the age of its oldest message, each by partition: an
// average hides the one that is stuck. One process of a group is enough.
type LagMeter struct {
	Broker *Broker
	Group  string
	Topics []string
	// Scope is the label of the metrics. Default: Group.
	Scope    string
	Observer observe.Observer
	// Interval is the time between two looks. Default 15 s.
	Interval time.Duration
	// Logger gets the looks that failed. Default slog.Default().
	Logger *slog.Logger

	before map[broker.TopicPartition]reading
}

// reading is what a look has found.
type reading struct {
	behind int64
	at     time.Time
}

// Run looks until ctx is done.
func (m *LagMeter) Run(ctx context.Context) {
	interval := cmp.Or(m.Interval, 15*time.Second)
	log := cmp.Or(m.Logger, slog.Default())
	for {
		if err := m.Measure(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "kafka: lag not measured", slog.String("group", m.Group), slog.Any("error", err))
		}
		if !wait.For(ctx, interval) {
			return
		}
	}
}

// Measure looks once. The growth is that since the look before, and 0 at the first.
func (m *LagMeter) Measure(ctx context.Context) error {
	lags, err := m.Broker.Lag(ctx, m.Group, m.Topics...)
	if err != nil {
		return err
	}
	m.report(lags, time.Now())
	return nil
}

func (m *LagMeter) report(lags []Lag, now time.Time) {
	if m.before == nil {
		m.before = map[broker.TopicPartition]reading{}
	}
	for _, l := range lags {
		labels := observe.Labels{Scope: cmp.Or(m.Scope, m.Group), Topic: l.Topic, Partition: l.Partition}
		growth := 0.0
		if last, ok := m.before[l.TopicPartition]; ok && now.After(last.at) {
			growth = float64(l.Behind-last.behind) / now.Sub(last.at).Seconds()
		}
		m.before[l.TopicPartition] = reading{l.Behind, now}
		m.Observer.Measure(observe.ConsumerLag, labels, float64(l.Behind))
		m.Observer.Measure(observe.ConsumerLagGrowth, labels, growth)
		m.Observer.Measure(observe.ConsumerOldest, labels, l.Oldest.Seconds())
	}
}
