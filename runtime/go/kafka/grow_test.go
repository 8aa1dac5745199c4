package kafka

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

// tables are what a database would have left.
type tables struct {
	mu            sync.Mutex
	outbox        int64
	retries, lane int64
	asked         [][]string
}

func (f *tables) Outbox(_ context.Context, topics []string) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, topics)
	return f.outbox, nil
}

func (f *tables) Retries(_ context.Context, topics, scopes []string) (int64, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, append(slices.Clone(topics), scopes...))
	return f.retries, f.lane, nil
}

func (f *tables) set(outbox, retries, lanes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outbox, f.retries, f.lane = outbox, retries, lanes
}

// growing is a move under test, and what it has reported.
type growing struct {
	*Grow
	mu   sync.Mutex
	said []string
}

func (g *growing) saying(part string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.said, func(text string) bool { return strings.Contains(text, part) })
}

func move(b *Broker, old string, to int32, groups ...string) *growing {
	g := &growing{}
	g.Grow = &Grow{Broker: b, Old: old, New: old + "-2", Partitions: to, Poll: 50 * time.Millisecond, Settle: 100 * time.Millisecond,
		Report: func(text string) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.said = append(g.said, text)
		}}
	for _, name := range groups {
		g.Groups = append(g.Groups, GrowGroup{Name: name})
	}
	return g
}

// deleteTopics cleans up what a move has made.
func deleteTopics(t *testing.T, b *Broker, names ...string) {
	t.Cleanup(func() {
		_, _ = b.client.DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: names})
	})
}

func TestGrowKeepsTheOrderOfEachKey(t *testing.T) {
	t.Parallel()
	b, old := onKafka(t, 2)
	g := move(b, old, 6, "payments-"+old)
	retry := broker.RetryTopic(old, "payments-"+old)
	realtest.CreateTopic(t, realtest.Kafka(t), retry, 1)
	deleteTopics(t, b, g.New, broker.RetryTopic(g.New, "payments-"+old))
	rows := &tables{}
	g.Tables = rows
	var saved []GrowState
	g.Save = func(s GrowState) error { saved = append(saved, s); return nil }

	first := numbered(old, 300, 30)
	publish(t, b, first...)
	seen := newConsumer()
	group := member(t, b, "payments-"+old, old, retry)
	ctx, cancel := context.WithCancel(t.Context())
	consumed := make(chan struct{})
	defer func() { cancel(); <-consumed }()
	rows.set(1, 2, 1)

	moved := make(chan error, 1)
	go func() { moved <- g.Run(t.Context()) }()
	eventually(t, 20*time.Second, "the outbox holds it up", func() bool { return g.saying("the outbox has 1 messages") })
	errs := b.Publish(t.Context(), []broker.Message{{Topic: old, Key: []byte("key-1"), Value: []byte("late")}})
	if len(errs) != 1 || !errors.Is(errs[0], errFenced) || errors.Is(errs[0], broker.ErrTooLarge) {
		t.Errorf("publishing to the fenced topic gives %v", errs)
	}
	rows.set(0, 2, 1)
	eventually(t, 20*time.Second, "producers may go on", func() bool { return g.saying("producers may write") })
	second := numbered(g.New, 300, 30)
	for i := range second {
		second[i].Value = fmt.Appendf(nil, "new-%d", i)
	}
	publish(t, b, second...)
	eventually(t, 20*time.Second, "the group holds it up", func() bool { return g.saying("group payments-" + old + " is at offset 0") })
	go func() { defer close(consumed); seen.run(ctx, group) }()
	eventually(t, 30*time.Second, "retries hold it up", func() bool { return g.saying("2 retries and 1 parked lanes") })
	// A retry is published, and so there is no row any more, but a message.
	publish(t, b, broker.Message{Topic: retry, Key: []byte("key-1"), Value: []byte("again")})
	rows.set(0, 0, 0)
	select {
	case err := <-moved:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("it does not end; it said %q", g.said)
	}
	if seen.count() != 301 {
		t.Errorf("it ended when %d of 301 messages of the old topic were read", seen.count())
	}
	if !slices.ContainsFunc(rows.asked, func(asked []string) bool {
		return reflect.DeepEqual(asked, []string{old, retry, "payments-" + old})
	}) {
		t.Errorf("the tables were asked for %q", rows.asked)
	}
	counts, err := b.Partitions(t.Context(), g.New, broker.RetryTopic(g.New, "payments-"+old))
	if err != nil || counts[g.New] != 6 {
		t.Errorf("the new topics have %v, %v", counts, err)
	}
	var steps []GrowStep
	for _, s := range saved {
		steps = append(steps, s.Step)
	}
	if want := []GrowStep{"created", "created", "fenced", "sent", "drained", "done"}; !reflect.DeepEqual(steps, want) {
		t.Errorf("saved are steps %q, want %q", steps, want)
	}
	if got := orderOf(read(t, b, g.New, 300)); !reflect.DeepEqual(got, orderOf(second)) {
		t.Error("the new topic has another order within keys")
	}
	if err := g.Run(t.Context()); err != nil {
		t.Errorf("once more: %v", err)
	}
}

func TestGrowGoesOnWhereItWasStopped(t *testing.T) {
	t.Parallel()
	b, old := onKafka(t, 1)
	alter(t, b, old, "max.message.bytes", "500000")
	alter(t, b, old, "retention.ms", "7200000")
	publish(t, b, numbered(old, 50, 5)...)
	var state GrowState
	for _, until := range []GrowStep{StepCreated, StepFenced, StepSent} {
		g := move(b, old, 3, "g-"+old)
		deleteTopics(t, b, g.New)
		g.State = state
		ctx, cancel := context.WithCancel(t.Context())
		g.Save = func(s GrowState) error {
			state = s
			if s.Step == until {
				cancel() // it is killed here
				return context.Canceled
			}
			return nil
		}
		if err := g.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %s it gives %v", until, err)
		}
		cancel()
	}
	if state.Limit == nil || *state.Limit != "500000" {
		t.Errorf("the limit before the fence is %v", state.Limit)
	}
	g := move(b, old, 3, "g-"+old)
	g.State = state
	if err := move(b, old, 4, "g-"+old).withState(state).prepare(); err == nil {
		t.Error("another move takes the state")
	}
	n := join(t, member(t, b, "g-"+old, old))
	if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{at(old, 0): 50}); err != nil {
		t.Fatal(err)
	}
	_ = n.Close()
	if err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	config, err := g.topicConfig(t.Context(), g.New)
	if want := map[string]string{"max.message.bytes": "500000", "retention.ms": "7200000"}; err != nil || !reflect.DeepEqual(config, want) {
		t.Errorf("the new topic is configured as %v, %v; want %v", config, err, want)
	}
	committed, err := b.committed(t.Context(), "g-"+old, map[string][]int32{g.New: {0, 1, 2}})
	if want := (map[broker.TopicPartition]int64{at(g.New, 0): 0, at(g.New, 1): 0, at(g.New, 2): 0}); err != nil || !reflect.DeepEqual(committed, want) {
		t.Errorf("the group begins the new topic at %v, %v; want %v", committed, err, want)
	}
}

func (g *growing) withState(s GrowState) *Grow {
	g.State = s
	return g.Grow
}

func alter(t *testing.T, b *Broker, topic, name, value string) {
	t.Helper()
	answer, err := b.client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: name, Value: value}}}}})
	if err != nil || answer.Resources[0].Error != nil {
		t.Fatal(err, answer)
	}
}

func TestGrowRefusesWhatWouldBreakTheOrder(t *testing.T) {
	t.Parallel()
	b, old := onKafka(t, 2)
	brokers := realtest.Kafka(t)
	publish(t, b, numbered(old, 10, 3)...)
	reader := join(t, member(t, b, "reader-"+old, old))
	if err := reader.Commit(t.Context(), map[broker.TopicPartition]int64{at(old, 0): 1}); err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	compacted := realtest.Topic(t, brokers, 1)
	alter(t, b, compacted, "cleanup.policy", "compact")
	used := old + ".used"
	realtest.CreateTopic(t, brokers, used, 4)
	publish(t, b, broker.Message{Topic: used, Value: []byte("x")})
	other := old + ".other"
	realtest.CreateTopic(t, brokers, other, 5)
	early := old + ".early"
	realtest.CreateTopic(t, brokers, early, 4)
	_ = join(t, member(t, b, "early-"+old, early)).Close()
	n := join(t, member(t, b, "early-"+old, early))
	defer func() { _ = n.Close() }()

	for _, c := range []struct {
		name   string
		change func(*Grow)
		says   string
	}{
		{"no more partitions", func(g *Grow) { g.Partitions = 2 }, "it needs more"},
		{"the same name", func(g *Grow) { g.New = old }, "the old one's name"},
		{"no group", func(g *Grow) { g.Groups = nil }, "name all that read"},
		{"an unnamed reader", func(g *Grow) { g.Groups = []GrowGroup{{Name: "somebody"}} }, "group reader-" + old + " reads"},
		{"a compacted topic", func(g *Grow) { g.Old = compacted }, "is compacted"},
		{"a new topic in use", func(g *Grow) { g.New = used }, "has messages"},
		{"a new topic of another size", func(g *Grow) { g.New = other }, "5 partitions, not 4"},
		{"an early reader", func(g *Grow) {
			g.New = early
			g.Groups = append(g.Groups, GrowGroup{Name: "early-" + old})
		}, "group early-" + old + " reads " + early + " already"},
		{"no topic", func(g *Grow) { g.Old = "nobody-made-it" }, "unknown topic"},
		{"a name that is none", func(g *Grow) { g.New = "a b" }, "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := move(b, old, 4, "reader-"+old)
			c.change(g.Grow)
			err := g.Run(t.Context())
			if err == nil {
				t.Fatal("it is done")
			}
			contains(t, "the error", err.Error(), c.says)
			if config, err := g.topicConfig(t.Context(), old); err != nil || len(config) != 0 {
				t.Errorf("the old topic is changed: %v, %v", config, err)
			}
		})
	}

	g := move(b, old, 4, "somebody")
	g.Ignore = []string{"reader-" + old}
	plan, err := g.Plan(t.Context())
	if err != nil || len(plan) != 5 {
		t.Fatalf("the plan is %q, %v", plan, err)
	}
	contains(t, "the plan", strings.Join(plan, "\n"), "create "+g.New+" with 4 partitions", "fence "+old, "group somebody", "producers may write")
	if _, err := b.Partitions(t.Context(), g.New); !errors.Is(err, broker.ErrUnknownTopic) {
		t.Errorf("the plan has made the topic: %v", err)
	}
}

func TestGrowNoticesWritesBehindTheFenceAndCanBeUndone(t *testing.T) {
	t.Parallel()
	b, old := onKafka(t, 1)
	publish(t, b, numbered(old, 10, 3)...)
	g := move(b, old, 2, "g-"+old)
	deleteTopics(t, b, g.New)
	ctx, cancel := context.WithCancel(t.Context())
	moved := make(chan error, 1)
	go func() { moved <- g.Run(ctx) }()
	eventually(t, 20*time.Second, "the group holds it up", func() bool { return g.saying("is at offset 0 of 10") })
	// Somebody opens the topic.
	alter(t, b, old, "max.message.bytes", "100000")
	eventually(t, 20*time.Second, "the topic is open", func() bool {
		return b.Publish(t.Context(), []broker.Message{{Topic: old, Value: []byte("x")}}) == nil
	})
	if err := <-moved; err == nil || !strings.Contains(err.Error(), "behind its fence") {
		t.Errorf("it gives %v", err)
	}
	cancel()

	alter(t, b, old, "max.message.bytes", "1")
	if err := g.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the topic is open again", func() bool {
		return b.Publish(t.Context(), []broker.Message{{Topic: old, Value: []byte("x")}}) == nil
	})
	if config, err := g.topicConfig(t.Context(), old); err != nil || len(config) != 0 {
		t.Errorf("the old topic keeps %v, %v", config, err)
	}
	publish(t, b, broker.Message{Topic: g.New, Value: []byte("x")})
	if err := g.Undo(t.Context()); err == nil || !strings.Contains(err.Error(), "has messages already") {
		t.Errorf("undo with messages in the new topic gives %v", err)
	}
}
