package retry_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// On Kafka's own server: two forwarders, the first of which leaves half way.
func TestForwarderOnKafka(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	own := realtest.Topic(t, brokers, 1)
	b, err := kafka.Open(kafka.Config{Brokers: brokers, Logger: quiet, HeartbeatInterval: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	d, err := retry.NewDelayTopics(b, retry.DelayConfig{Scope: scope, Origins: []string{own}, Buckets: []time.Duration{time.Second, 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range d.Topics() {
		realtest.CreateTopic(t, brokers, name, 2)
	}
	retries := broker.RetryTopic(own, scope)
	realtest.CreateTopic(t, brokers, retries, 2)

	const rows = 60
	var all []store.Retry
	for n := range rows {
		r := dueRow(n, time.Duration(n)*100*time.Millisecond)
		r.Topic = retries
		all = append(all, r)
	}
	publishRetries(t, d, all...)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first, leave := context.WithTimeout(ctx, 2*time.Second)
	defer leave()
	ended := make(chan error, 2)
	for _, c := range []context.Context{first, ctx} {
		f, err := retry.NewForwarder(b, d, retry.ForwarderConfig{Group: own, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		go func() { ended <- f.Run(c) }()
	}
	got := read(ctx, t, b, retries, rows)
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for n := range rows {
		if key := fmt.Sprintf("key-%d", n); !slices.Contains(got, key) {
			t.Errorf("%s is lost", key)
		}
	}
}

// read reads a topic until there are n different keys, and checks that none is early.
func read(ctx context.Context, t *testing.T, b broker.Broker, topic string, n int) (keys []string) {
	t.Helper()
	g, err := b.Group(ctx, topic+".reader", []string{topic})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	generation, err := g.Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer generation.Close()
	offsets := map[broker.TopicPartition]int64{}
	for len(keys) < n && ctx.Err() == nil {
		for _, a := range generation.Assignments() {
			batch, err := generation.Fetch(ctx, a.TopicPartition, max(a.Offset, offsets[a.TopicPartition]), 1<<20)
			if err != nil {
				t.Error(err)
				return keys
			}
			for _, m := range batch.Messages {
				offsets[a.TopicPartition] = m.Offset + 1
				if early := dueAt(t, &m).Sub(m.Time); early > 5*time.Millisecond {
					t.Errorf("%s came %v early", m.Headers[0].Value, early)
				}
				if key := string(m.Headers[0].Value); !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
		}
	}
	return keys
}
