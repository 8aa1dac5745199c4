package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

func TestMain(m *testing.M) {
	// kafka-go ends its goroutines when their connections notice, which may be after the last test.
	goleak.VerifyTestMain(m)
}

// opened is a broker that is closed with the test.
func opened(t *testing.T, config Config) *Broker {
	t.Helper()
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	b, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// onKafka is a broker with a topic of its own.
func onKafka(t *testing.T, partitions int) (*Broker, string) {
	t.Helper()
	brokers := realtest.Kafka(t)
	topic := realtest.Topic(t, brokers, partitions)
	return opened(t, Config{Brokers: brokers, PartitionWatchInterval: 200 * time.Millisecond, HeartbeatInterval: 200 * time.Millisecond}), topic
}

func publish(t *testing.T, b broker.Publisher, messages ...broker.Message) {
	t.Helper()
	for _, err := range b.Publish(t.Context(), messages) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// numbered are n messages with keys in turn.
func numbered(topic string, n, keys int) []broker.Message {
	messages := make([]broker.Message, n)
	for i := range messages {
		messages[i] = broker.Message{Topic: topic, Key: fmt.Appendf(nil, "key-%d", i%keys), Value: fmt.Append(nil, i)}
	}
	return messages
}

func member(t *testing.T, b *Broker, name string, topics ...string) broker.Group {
	t.Helper()
	g, err := b.Group(t.Context(), name, topics)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func join(t *testing.T, g broker.Group) broker.Generation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	n, err := g.Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func at(topic string, partition int32) broker.TopicPartition {
	return broker.TopicPartition{Topic: topic, Partition: partition}
}

func offsets(n broker.Generation) map[broker.TopicPartition]int64 {
	all := map[broker.TopicPartition]int64{}
	for _, a := range n.Assignments() {
		all[a.TopicPartition] = a.Offset
	}
	return all
}

// within waits for the channel, and fails the test where it takes too long.
func within(t *testing.T, d time.Duration, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("%s: nothing within %v", what, d)
	}
}

// read fetches from the start of each partition until there are n messages, and gives them in the order of
// each partition.
func read(t *testing.T, b *Broker, topic string, n int) []broker.Message {
	t.Helper()
	generation := join(t, member(t, b, "read-"+topic, topic))
	defer func() { _ = generation.Close() }()
	var all []broker.Message
	next := offsets(generation)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for len(all) < n {
		for p, offset := range next {
			batch, err := generation.Fetch(ctx, p, offset, 1<<20)
			if err != nil {
				t.Fatalf("after %d of %d messages: %v", len(all), n, err)
			}
			all = append(all, batch.Messages...)
			if len(batch.Messages) > 0 {
				next[p] = batch.Messages[len(batch.Messages)-1].Offset + 1
			}
			if len(all) >= n {
				break
			}
		}
	}
	return all
}

// orderOf is the values of each key, first arrivals alone.
func orderOf(messages []broker.Message) map[string][]string {
	order, seen := map[string][]string{}, map[string]bool{}
	for _, m := range messages {
		if !seen[string(m.Value)] {
			seen[string(m.Value)] = true
			order[string(m.Key)] = append(order[string(m.Key)], string(m.Value))
		}
	}
	return order
}

// consumer reads and commits in a loop, over rebalances, until it is stopped.
type consumer struct {
	mu        sync.Mutex
	seen      map[string]int
	committed map[broker.TopicPartition]int64 // the highest
	back      []string                        // offsets that went back
	joins     int
}

func newConsumer() *consumer {
	return &consumer{seen: map[string]int{}, committed: map[broker.TopicPartition]int64{}}
}

func (c *consumer) run(ctx context.Context, g broker.Group) {
	for ctx.Err() == nil {
		n, err := g.Join(ctx)
		if err != nil {
			continue
		}
		c.mu.Lock()
		c.joins++
		for _, a := range n.Assignments() {
			if a.Offset < c.committed[a.TopicPartition] {
				c.back = append(c.back, fmt.Sprintf("%v after %d", a, c.committed[a.TopicPartition]))
			}
		}
		c.mu.Unlock()
		var wait sync.WaitGroup
		for _, a := range n.Assignments() {
			wait.Go(func() { c.partition(ctx, n, a) })
		}
		wait.Wait()
		<-either(ctx.Done(), n.Done())
		_ = n.Close()
	}
	_ = g.Close()
}

func either(a, b <-chan struct{}) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-a:
		case <-b:
		}
	}()
	return done
}

func (c *consumer) partition(ctx context.Context, n broker.Generation, a broker.Assignment) {
	offset := a.Offset
	for ctx.Err() == nil {
		batch, err := n.Fetch(ctx, a.TopicPartition, offset, 64<<10)
		select {
		case <-n.Done():
			return
		default:
		}
		if err != nil || len(batch.Messages) == 0 {
			continue
		}
		c.mu.Lock()
		for _, m := range batch.Messages {
			c.seen[string(m.Value)]++
			offset = m.Offset + 1
		}
		c.mu.Unlock()
		if err := n.Commit(ctx, map[broker.TopicPartition]int64{a.TopicPartition: offset}); err == nil {
			c.mu.Lock()
			c.committed[a.TopicPartition] = max(c.committed[a.TopicPartition], offset)
			c.mu.Unlock()
		}
	}
}

func (c *consumer) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

func (c *consumer) shares() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.joins
}

// eventually looks until it holds.
func eventually(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q does not say %q", what, text, part)
		}
	}
}
