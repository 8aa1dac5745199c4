package kafka

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

func TestTwoMembersShareAndTakeOver(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 4)
	one, two := member(t, b, topic, topic), member(t, b, topic, topic)
	first := join(t, one)
	if len(first.Assignments()) != 4 {
		t.Fatalf("the only member has %v", first.Assignments())
	}
	if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{at(topic, 1): 7}); err != nil {
		t.Fatal(err)
	}

	var second broker.Generation
	var wait sync.WaitGroup
	wait.Go(func() { second = join(t, two) })
	within(t, 20*time.Second, "the first member's rebalance", first.Done())
	if _, err := first.Fetch(t.Context(), at(topic, 0), 0, 1000); !errors.Is(err, broker.ErrGenerationOver) {
		t.Errorf("a fetch of the old generation gives %v", err)
	}
	if _, err := one.Join(t.Context()); err == nil {
		t.Error("it joins while its generation is not closed")
	}
	_ = first.Close()
	again := join(t, one)
	wait.Wait()
	all := offsets(again)
	for p, offset := range offsets(second) {
		if _, twice := all[p]; twice {
			t.Errorf("%v belongs to both", p)
		}
		all[p] = offset
	}
	want := map[broker.TopicPartition]int64{at(topic, 0): 0, at(topic, 1): 7, at(topic, 2): 0, at(topic, 3): 0}
	if !reflect.DeepEqual(all, want) || len(again.Assignments()) != 2 {
		t.Errorf("together they have %v, want %v", all, want)
	}

	if err := second.Close(); err != nil { // in force: the member leaves
		t.Error(err)
	}
	if err := second.Close(); err != nil {
		t.Errorf("closing twice gives %v", err)
	}
	within(t, 20*time.Second, "the rebalance after one has left", again.Done())
	_ = again.Close()
	if last := join(t, one); len(last.Assignments()) != 4 {
		t.Errorf("the one that stayed has %v", last.Assignments())
	}
	back := make(chan broker.Generation, 1)
	go func() { n, _ := two.Join(t.Context()); back <- n }()
	_ = one.Close()
	if n := <-back; n == nil || len(n.Assignments()) == 0 {
		t.Error("the one that left does not come back")
	}
}

// kafka-go's Reader: a late commit after a rebalance returns nil and sets the group back (#1308, #1398).
func TestFault01LateCommitIsRefused(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	publish(t, b, numbered(topic, 20, 3)...)
	p := at(topic, 0)
	one, two := member(t, b, topic, topic), member(t, b, topic, topic)
	first := join(t, one).(*generation)
	if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{p: 5}); err != nil {
		t.Fatal(err)
	}
	var second broker.Generation
	var wait sync.WaitGroup
	wait.Go(func() { second = join(t, two) })
	within(t, 20*time.Second, "the rebalance", first.Done())
	if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{p: 9}); !errors.Is(err, broker.ErrGenerationOver) {
		t.Errorf("a commit after the rebalance gives %v", err)
	}
	// The broker's own fence, as for a process that has slept through it all.
	id, memberID := first.kafka.ID, first.kafka.MemberID
	_ = one.Close()
	wait.Wait()
	owner := second
	for len(owner.Assignments()) == 0 {
		within(t, 20*time.Second, "the partition's new owner", owner.Done())
		_ = owner.Close()
		owner = join(t, two)
	}
	if err := owner.Commit(t.Context(), map[broker.TopicPartition]int64{p: 12}); err != nil {
		t.Fatal(err)
	}
	answer, err := b.client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{GroupID: topic, GenerationID: int(id), MemberID: memberID,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: 3}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Topics[topic][0].Error; !generationOver(err) {
		t.Errorf("the broker says %v to a commit of the old generation", err)
	}
	committed, err := b.committed(t.Context(), topic, map[string][]int32{topic: {0}})
	if err != nil || committed[p] != 12 {
		t.Errorf("committed is %v, %v; want 12", committed, err)
	}
}

// Commits that overtake each other: the offset never goes back (kafka-go#202).
func TestFault02CommittedOffsetNeverGoesBack(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	n := join(t, member(t, b, topic, topic))
	p := at(topic, 0)
	for _, offset := range []int64{4, 9, 3, 8} {
		if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{p: offset}); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for offset := int64(1); offset < 40; offset++ {
		wait.Go(func() { _ = n.Commit(t.Context(), map[broker.TopicPartition]int64{p: offset}) })
	}
	wait.Wait()
	committed, err := b.committed(t.Context(), topic, map[string][]int32{topic: {0}})
	if err != nil || committed[p] != 39 {
		t.Errorf("committed is %v, %v; want 39", committed, err)
	}
	if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{at(topic, 5): 1}); err == nil {
		t.Error("a commit for somebody else's partition passes")
	}
}

// A commit under way when the generation ends is not lost (kafka-go#711), partitions that are added are seen
// (#732, #1262), and read from their first message (sarama#1739). (CONS-007)
func TestFault03AddedPartitionsAreReadFromTheEarliest(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	one := member(t, b, topic, topic)
	first := join(t, one)
	if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{at(topic, 0): 3}); err != nil {
		t.Fatal(err)
	}
	answer, err := b.client.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: 3}}})
	if err != nil || answer.Errors[topic] != nil {
		t.Fatal(err, answer)
	}
	// Messages come before the group has seen the partitions.
	eventually(t, 10*time.Second, "producers see the partitions", func() bool {
		b.refresh()
		counts, err := b.Partitions(t.Context(), topic)
		return err == nil && counts[topic] == 3
	})
	publish(t, b, numbered(topic, 300, 60)...)
	within(t, 20*time.Second, "the rebalance", first.Done())
	_ = first.Close()
	second := join(t, one)
	want := map[broker.TopicPartition]int64{at(topic, 0): 3, at(topic, 1): 0, at(topic, 2): 0}
	if got := offsets(second); !reflect.DeepEqual(got, want) {
		t.Fatalf("assignments are %v, want %v", got, want)
	}
	for _, p := range []int32{1, 2} {
		batch, err := second.Fetch(t.Context(), at(topic, p), 0, 1<<20)
		if err != nil || len(batch.Messages) == 0 || batch.Messages[0].Offset != 0 {
			t.Errorf("partition %d begins with %v, %v", p, batch.Messages, err)
		}
	}
}

func TestMembersComeAndGoAndNothingIsLost(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 6)
	c := newConsumer()
	var wait sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer wait.Wait()
	defer cancel()
	start := func(ctx context.Context) {
		g := member(t, b, topic, topic)
		wait.Go(func() { c.run(ctx, g) })
	}
	start(ctx)
	short, end := context.WithCancel(ctx)
	defer end()
	start(short)
	const total = 4000
	sent := numbered(topic, total, 100)
	for i := 0; i < total; i += 200 {
		publish(t, b, sent[i:i+200]...)
		switch i {
		case 400:
			eventually(t, 30*time.Second, "both members", func() bool { return c.shares() >= 2 })
		case 1000:
			start(ctx)
			eventually(t, 30*time.Second, "the third member", func() bool { return c.shares() >= 5 })
		case 2000:
			end()
		}
	}
	eventually(t, time.Minute, "all messages", func() bool { return c.count() == total })
	if len(c.back) > 0 {
		t.Errorf("offsets went back: %v", c.back)
	}
}

// A partition that was not fetched for a while, which is how it is paused, goes on after a rebalance
// (spring-kafka#2525).
func TestFault17PausedPartitionGoesOnAfterARebalance(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 2)
	one := member(t, b, topic, topic)
	first := join(t, one)
	publish(t, b, numbered(topic, 100, 20)...)
	if batch, err := first.Fetch(t.Context(), at(topic, 0), 0, 1<<20); err != nil || len(batch.Messages) == 0 {
		t.Fatal(batch, err)
	}
	two := member(t, b, topic, topic) // comes, and goes before it has a share
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() { defer close(gone); _, _ = two.Join(ctx) }()
	within(t, 20*time.Second, "the rebalance", first.Done())
	cancel()
	_ = first.Close()
	<-gone
	_ = two.Close()
	second := join(t, one)
	for len(second.Assignments()) < 2 {
		within(t, 30*time.Second, "the other's end", second.Done())
		_ = second.Close()
		second = join(t, one)
	}
	if batch, err := second.Fetch(t.Context(), at(topic, 1), 0, 1<<20); err != nil || len(batch.Messages) == 0 {
		t.Errorf("the paused partition gives %v, %v", batch.Messages, err)
	}
}

func TestAMemberMayReadSeveralTopicsAndHaveNoShare(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	retry := topic + ".retry.payments"
	realtest.CreateTopic(t, realtest.Kafka(t), retry, 1)
	one := member(t, b, topic, topic, retry)
	n := join(t, one)
	want := map[broker.TopicPartition]int64{at(topic, 0): 0, at(retry, 0): 0}
	if got := offsets(n); !reflect.DeepEqual(got, want) {
		t.Errorf("assignments are %v, want %v", got, want)
	}
	_ = n.Close()
	// More members than partitions: somebody has nothing, which is a share too.
	groups := []broker.Group{one, member(t, b, topic, topic, retry), member(t, b, topic, topic, retry)}
	var mu sync.Mutex
	sizes := map[int]int{}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	for i, g := range groups {
		wait.Go(func() {
			for ctx.Err() == nil {
				n, err := g.Join(ctx)
				if err != nil {
					return
				}
				mu.Lock()
				sizes[i] = len(n.Assignments())
				mu.Unlock()
				<-either(ctx.Done(), n.Done())
				_ = n.Close()
			}
		})
	}
	eventually(t, 30*time.Second, "three shares of two partitions", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(sizes) == 3 && sizes[0]+sizes[1]+sizes[2] == 2
	})
}

func TestFetchSaysWhenTheLogWasCut(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	n := join(t, member(t, b, topic, topic))
	publish(t, b, numbered(topic, 5, 1)...)
	_, err := n.Fetch(t.Context(), at(topic, 0), 99, 1000)
	if !errors.Is(err, kafka.OffsetOutOfRange) {
		t.Fatalf("an offset behind the end gives %v", err)
	}
	contains(t, "the error", err.Error(), "ends at 5", "--reset-offsets")
	start := time.Now()
	batch, err := n.Fetch(t.Context(), at(topic, 0), 5, 1000)
	if err != nil || len(batch.Messages) != 0 || batch.End != 5 {
		t.Errorf("at the end it gives %+v, %v", batch, err)
	}
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("it does not wait: %v", took)
	}
	// A batch begins before the offset asked for.
	if batch, err = n.Fetch(t.Context(), at(topic, 0), 3, 1000); err != nil || len(batch.Messages) != 2 || batch.Messages[0].Offset != 3 {
		t.Errorf("at offset 3 it gives %+v, %v", batch, err)
	}
	if _, err = n.Fetch(t.Context(), at(topic, 7), 0, 1000); err == nil {
		t.Error("a fetch of somebody else's partition passes")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = n.Fetch(ctx, at(topic, 0), 5, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled fetch gives %v", err)
	}
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	g := member(t, b, topic, topic)
	n := join(t, g)
	fetched := make(chan error)
	go func() {
		_, err := n.Fetch(context.Background(), at(topic, 0), 0, 1000)
		for err == nil {
			_, err = n.Fetch(context.Background(), at(topic, 0), 0, 1000)
		}
		fetched <- err
	}()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-fetched; !errors.Is(err, broker.ErrGenerationOver) {
		t.Errorf("the fetch gives %v", err)
	}
	if _, err := g.Join(t.Context()); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("join gives %v", err)
	}
	if _, err := b.Group(t.Context(), "g", []string{topic}); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("group gives %v", err)
	}
}
