package kafka

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/observe"
)

func TestLagIsByPartitionWithTheAgeOfTheOldest(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 2)
	start := time.Now()
	publish(t, b, numbered(topic, 100, 30)...)
	n := join(t, member(t, b, topic, topic))
	first, err := n.Fetch(t.Context(), at(topic, 0), 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{at(topic, 0): first.End}); err != nil {
		t.Fatal(err)
	}
	lags, err := b.Lag(t.Context(), topic, topic)
	if err != nil || len(lags) != 2 {
		t.Fatalf("lag is %+v, %v", lags, err)
	}
	if l := lags[0]; l.Behind != 0 || l.Oldest != 0 || l.Committed != first.End {
		t.Errorf("the partition that was read is %+v", l)
	}
	if l := lags[1]; l.Behind != 100-first.End || l.Committed != 0 || l.Oldest <= 0 || l.Oldest > time.Since(start)+time.Second {
		t.Errorf("the other is %+v, %v after the first message", l, time.Since(start))
	}
	if _, err := b.Lag(t.Context(), topic, "nobody-made-it"); err == nil {
		t.Error("an unknown topic has a lag")
	}
}

// readings keeps the last value of each.
type readings struct {
	observe.None
	mu     sync.Mutex
	values map[observe.Metric]map[observe.Labels]float64
}

func (r *readings) Measure(m observe.Metric, l observe.Labels, v float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.values[m] == nil {
		r.values[m] = map[observe.Labels]float64{}
	}
	r.values[m][l] = v
}

func TestLagMeterTellsLagGrowthAndAge(t *testing.T) {
	t.Parallel()
	seen := &readings{values: map[observe.Metric]map[observe.Labels]float64{}}
	m := LagMeter{Group: "payments", Observer: seen}
	now := time.Now()
	p := at("orders", 3)
	m.report([]Lag{{TopicPartition: p, Behind: 100, Oldest: 2 * time.Second}}, now)
	labels := observe.Labels{Scope: "payments", Topic: "orders", Partition: 3}
	if got := seen.values[observe.ConsumerLagGrowth][labels]; got != 0 {
		t.Errorf("the first growth is %v", got)
	}
	m.report([]Lag{{TopicPartition: p, Behind: 40, Oldest: time.Second}}, now.Add(30*time.Second))
	for metric, want := range map[observe.Metric]float64{observe.ConsumerLag: 40, observe.ConsumerLagGrowth: -2, observe.ConsumerOldest: 1} {
		if got := seen.values[metric][labels]; got != want {
			t.Errorf("%v is %v, want %v", metric, got, want)
		}
	}

	b, topic := onKafka(t, 1)
	publish(t, b, numbered(topic, 7, 1)...)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	meter := &LagMeter{Broker: b, Group: topic, Topics: []string{topic}, Scope: "s", Observer: seen, Interval: time.Hour}
	go func() { defer close(done); meter.Run(ctx) }()
	eventually(t, 10*time.Second, "the lag", func() bool {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		return seen.values[observe.ConsumerLag][observe.Labels{Scope: "s", Topic: topic}] == 7
	})
	cancel()
	<-done
}
