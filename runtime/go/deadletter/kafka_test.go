package deadletter_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// Fault 17 on Kafka's own server: one partition of dead letters, five of retries.
func TestFault17_fromATopicOnKafka(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	own := realtest.Topic(t, brokers, 1)
	realtest.CreateTopic(t, brokers, broker.DeadLetterTopic(own, scope), 1)
	realtest.CreateTopic(t, brokers, broker.RetryTopic(own, scope), 5)
	b, err := kafka.Open(kafka.Config{Brokers: brokers, Logger: quiet, HeartbeatInterval: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	var letters []broker.Message
	for n := range 50 {
		m := dead(n)
		m.Topic = broker.DeadLetterTopic(own, scope)
		letters = append(letters, m)
	}
	if errs := b.Publish(t.Context(), letters); errs != nil {
		t.Fatal(errs)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := campaign(deadletter.TopicConfig{Name: own})
	c.Origin, c.Rate = own, -1
	report, err := deadletter.FromTopic(ctx, b, memory.New(memory.Config{}), c)
	if err != nil || report.Redriven != 50 {
		t.Fatalf("%+v %v", report, err)
	}
	if report, err = deadletter.FromTopic(ctx, b, memory.New(memory.Config{}), c); err != nil || report != (deadletter.Report{}) {
		t.Errorf("the same campaign again: %+v %v", report, err)
	}
	g, err := b.Group(ctx, own+".reader", []string{broker.RetryTopic(own, scope)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	n, err := g.Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	var keys []string
	for _, a := range n.Assignments() {
		batch, err := n.Fetch(ctx, a.TopicPartition, a.Offset, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch.Messages {
			keys = append(keys, string(m.Key))
			if want, err := idem.KafkaPartition(string(m.Key), 5); err != nil || m.Partition != want {
				t.Errorf("key %s is in partition %d, want %d", m.Key, m.Partition, want)
			}
		}
	}
	slices.Sort(keys)
	if got := len(slices.Compact(keys)); got != 50 {
		t.Errorf("%d keys in the retry topic", got)
	}
}
