package broker_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory makes a broker with one topic.
func memory(t *testing.T, config broker.MemoryConfig, topic string, partitions int32) *broker.Memory {
	t.Helper()
	m := broker.NewMemory(config)
	if err := m.CreateTopic(topic, partitions); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func publish(t *testing.T, b broker.Publisher, messages ...broker.Message) {
	t.Helper()
	for _, err := range b.Publish(t.Context(), messages) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func member(t *testing.T, m *broker.Memory, group string, topics ...string) broker.Group {
	t.Helper()
	g, err := m.Group(t.Context(), group, topics)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func join(t *testing.T, g broker.Group) broker.Generation {
	t.Helper()
	n, err := g.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func offsets(n broker.Generation) map[broker.TopicPartition]int64 {
	all := map[broker.TopicPartition]int64{}
	for _, a := range n.Assignments() {
		all[a.TopicPartition] = a.Offset
	}
	return all
}

func at(topic string, partition int32) broker.TopicPartition {
	return broker.TopicPartition{Topic: topic, Partition: partition}
}

func over(n broker.Generation) bool {
	select {
	case <-n.Done():
		return true
	default:
		return false
	}
}

func TestMemoryKeepsBytesAsTheyWere(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{}, "orders", 1)
	value := []byte("paid")
	headers := idem.Headers{{Name: "a", Value: []byte{}}, {Name: "b"}, {Name: "a", Value: []byte{0, 255}}}
	publish(t, m,
		broker.Message{Topic: "orders", Value: value, Headers: headers},
		broker.Message{Topic: "orders", Key: []byte{}, Value: []byte{}},
		broker.Message{Topic: "orders"})
	value[0], headers[2].Value[1] = 'X', 7

	n := join(t, member(t, m, "payments", "orders"))
	batch, err := n.Fetch(t.Context(), at("orders", 0), 0, 1<<20)
	if err != nil || len(batch.Messages) != 3 || batch.End != 3 {
		t.Fatalf("fetch gives %+v, %v", batch, err)
	}
	first, second, third := batch.Messages[0], batch.Messages[1], batch.Messages[2]
	want := idem.Headers{{Name: "a", Value: []byte{}}, {Name: "b"}, {Name: "a", Value: []byte{0, 255}}}
	if string(first.Value) != "paid" || first.Key != nil || !reflect.DeepEqual(first.Headers, want) {
		t.Errorf("the first is %+v", first)
	}
	if second.Key == nil || second.Value == nil || third.Key != nil || third.Value != nil {
		t.Errorf("empty and null are mixed up: %+v, %+v", second, third)
	}
	if second.Offset != 1 || third.Offset != 2 {
		t.Errorf("offsets are %d and %d", second.Offset, third.Offset)
	}
}

func TestMemoryKeepsOrderWithinAKeyAndSpreadsTheRest(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{}, "orders", 4)
	var messages []broker.Message
	for i := range 400 {
		messages = append(messages, broker.Message{
			Topic: "orders", Key: fmt.Appendf(nil, "o-%d", i%20), Value: fmt.Append(nil, i)})
	}
	publish(t, m, messages...)
	last := map[string]int{}
	for _, message := range m.Messages("orders") {
		var i int
		if _, err := fmt.Sscan(string(message.Value), &i); err != nil {
			t.Fatal(err)
		}
		if want, _ := idem.KafkaPartition(string(message.Key), 4); message.Partition != want {
			t.Errorf("%s is in partition %d, want %d", message.Key, message.Partition, want)
		}
		if before, ok := last[string(message.Key)]; ok && before >= i {
			t.Errorf("%s: %d comes after %d", message.Key, i, before)
		}
		last[string(message.Key)] = i
	}
	used := map[int32]bool{}
	for range 8 {
		publish(t, m, broker.Message{Topic: "orders", Value: []byte("no key")})
	}
	for _, message := range m.Messages("orders") {
		if message.Key == nil {
			used[message.Partition] = true
		}
	}
	if len(used) != 4 {
		t.Errorf("messages without a key are in %d of 4 partitions", len(used))
	}
}

func TestMemoryFetchWakesAtOnceAndGivesUpAfterMaxWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t, broker.MemoryConfig{MaxWait: time.Second}, "orders", 1)
		n := join(t, member(t, m, "payments", "orders"))
		start := time.Now()
		batch, err := n.Fetch(t.Context(), at("orders", 0), 0, 1<<20)
		if err != nil || len(batch.Messages) != 0 || time.Since(start) != time.Second {
			t.Errorf("an empty fetch gives %+v, %v after %v", batch, err, time.Since(start))
		}
		go func() {
			time.Sleep(300 * time.Millisecond)
			m.Publish(t.Context(), []broker.Message{{Topic: "orders", Value: []byte("x")}})
		}()
		start = time.Now()
		batch, err = n.Fetch(t.Context(), at("orders", 0), 0, 1<<20)
		if err != nil || len(batch.Messages) != 1 || time.Since(start) != 300*time.Millisecond {
			t.Errorf("a fetch gives %+v, %v after %v", batch, err, time.Since(start))
		}
		go func() {
			time.Sleep(300 * time.Millisecond)
			m.Rebalance("payments")
		}()
		start = time.Now()
		if _, err = n.Fetch(t.Context(), at("orders", 0), 1, 1<<20); !errors.Is(err, broker.ErrGenerationOver) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("a fetch of a generation that ends gives %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = n.Close()
		n = join(t, member(t, m, "other", "orders"))
		if _, err = n.Fetch(ctx, at("orders", 0), 9, 1<<20); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled fetch gives %v", err)
		}
	})
}

func TestMemoryFetchStopsAtMaxBytesAfterTheFirstAndPassesGaps(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{}, "orders", 1)
	big := make([]byte, 1000)
	publish(t, m, broker.Message{Topic: "orders", Value: big}, broker.Message{Topic: "orders", Value: big})
	if err := m.Skip(at("orders", 0), 5); err != nil {
		t.Fatal(err)
	}
	publish(t, m, broker.Message{Topic: "orders", Value: big})
	n := join(t, member(t, m, "payments", "orders"))
	for _, c := range []struct {
		offset   int64
		maxBytes int
		want     []int64
	}{
		{0, 10, []int64{0}},
		{0, 2100, []int64{0, 1}},
		{1, 1 << 20, []int64{1, 7}},
		{2, 10, []int64{7}},
		{6, 10, []int64{7}},
	} {
		batch, err := n.Fetch(t.Context(), at("orders", 0), c.offset, c.maxBytes)
		var got []int64
		for _, message := range batch.Messages {
			got = append(got, message.Offset)
		}
		if err != nil || !reflect.DeepEqual(got, c.want) || batch.End != 8 {
			t.Errorf("fetch at %d of %d bytes: offsets %v, end %d, %v; want %v", c.offset, c.maxBytes, got, batch.End, err, c.want)
		}
	}
	if err := m.Truncate(at("orders", 0), 2); err != nil {
		t.Fatal(err)
	}
	if got := offsets(join(t, member(t, m, "new", "orders"))); got[at("orders", 0)] != 2 {
		t.Errorf("a new group begins at %v, want the earliest, 2", got)
	}
}

func TestMemoryRebalancesWhenMembersComeAndGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t, broker.MemoryConfig{}, "orders", 4)
		one, two := member(t, m, "payments", "orders"), member(t, m, "payments", "orders")
		first := join(t, one)
		if len(first.Assignments()) != 4 {
			t.Fatalf("the only member has %v", first.Assignments())
		}
		if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{at("orders", 1): 7}); err != nil {
			t.Fatal(err)
		}

		var second broker.Generation
		var wait sync.WaitGroup
		wait.Go(func() { second = join(t, two) })
		<-first.Done()
		synctest.Wait()
		if second != nil {
			t.Fatal("the second member has a share before the first gave back its own")
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
		if want := (map[broker.TopicPartition]int64{at("orders", 0): 0, at("orders", 1): 7, at("orders", 2): 0, at("orders", 3): 0}); !reflect.DeepEqual(all, want) {
			t.Errorf("together they have %v, want %v", all, want)
		}
		if len(again.Assignments()) != 2 {
			t.Errorf("the first member has %d of 4 partitions", len(again.Assignments()))
		}

		_ = two.Close()
		if !over(again) {
			t.Error("a member left, and the generation goes on")
		}
		_ = again.Close()
		if last := join(t, one); len(last.Assignments()) != 4 {
			t.Errorf("the member that stayed has %v", last.Assignments())
		}
	})
}

func TestMemoryFencesCommitsOfAnOldGeneration(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{}, "orders", 1)
	one := member(t, m, "payments", "orders")
	first := join(t, one)
	p := at("orders", 0)
	if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{p: 5}); err != nil {
		t.Fatal(err)
	}
	m.Rebalance("payments")
	if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{p: 9}); !errors.Is(err, broker.ErrGenerationOver) {
		t.Errorf("a late commit gives %v", err)
	}
	_ = first.Close()
	second := join(t, one)
	if err := first.Commit(t.Context(), map[broker.TopicPartition]int64{p: 1}); !errors.Is(err, broker.ErrGenerationOver) {
		t.Errorf("a commit of the generation before gives %v", err)
	}
	if got, _ := m.Committed("payments", p); got != 5 || offsets(second)[p] != 5 {
		t.Errorf("committed is %d and the member goes on at %d, want 5", got, offsets(second)[p])
	}
	if err := second.Commit(t.Context(), map[broker.TopicPartition]int64{at("orders", 3): 1}); err == nil {
		t.Error("a commit for somebody else's partition passes")
	}
}

func TestMemoryGoesOnWithoutAMemberThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t, broker.MemoryConfig{RebalanceTimeout: 3 * time.Second}, "orders", 2)
		zombie, other := member(t, m, "payments", "orders"), member(t, m, "payments", "orders")
		stuck := join(t, zombie)
		start := time.Now()
		n := join(t, other)
		if len(n.Assignments()) != 2 || time.Since(start) != 3*time.Second {
			t.Errorf("the other has %v after %v", n.Assignments(), time.Since(start))
		}
		if err := stuck.Commit(t.Context(), map[broker.TopicPartition]int64{at("orders", 0): 1}); !errors.Is(err, broker.ErrGenerationOver) {
			t.Errorf("the zombie's commit gives %v", err)
		}
		if _, err := zombie.Join(t.Context()); err == nil {
			t.Error("it joins while its generation is not closed")
		}
	})
}

func TestMemorySeesNewPartitionsFromTheEarliest(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{}, "orders", 1)
	one := member(t, m, "payments", "orders")
	first := join(t, one)
	if err := m.CreateTopic("orders", 3); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		publish(t, m, broker.Message{Topic: "orders", Value: []byte("x")})
	}
	if !over(first) {
		t.Fatal("the partitions became more, and the generation goes on")
	}
	_ = first.Close()
	second := join(t, one)
	if got := offsets(second); len(got) != 3 || got[at("orders", 2)] != 0 {
		t.Errorf("assignments are %v", got)
	}
	if batch, err := second.Fetch(t.Context(), at("orders", 2), 0, 1<<20); err != nil || len(batch.Messages) == 0 {
		t.Errorf("the new partition gives %v, %v", batch, err)
	}
	if m.CreateTopic("orders", 2) == nil {
		t.Error("partitions become fewer")
	}
}

func TestMemoryTellsOfUnknownTopics(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{}, "orders", 1)
	if _, err := m.Group(t.Context(), "g", []string{"orders", "lost"}); !errors.Is(err, broker.ErrUnknownTopic) {
		t.Errorf("group gives %v", err)
	}
	if _, err := m.Partitions(t.Context(), "orders", "lost"); !errors.Is(err, broker.ErrUnknownTopic) {
		t.Errorf("partitions gives %v", err)
	}
	errs := m.Publish(t.Context(), []broker.Message{{Topic: "lost"}, {Topic: "orders"}})
	if len(errs) != 2 || !errors.Is(errs[0], broker.ErrUnknownTopic) || errs[1] != nil {
		t.Errorf("publish gives %v", errs)
	}
	lenient := broker.NewMemory(broker.MemoryConfig{Partitions: 3})
	publish(t, lenient, broker.Message{Topic: "lost"})
	if got, err := lenient.Partitions(t.Context(), "lost"); err != nil || got["lost"] != 3 {
		t.Errorf("a topic made by its use has %v, %v", got, err)
	}
}

func TestMemoryPublishFaults(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for _, c := range []struct {
		name  string
		fault broker.PublishFault
		errs  []bool   // of a-1, a-2, b-1
		now   []string // there when Publish returns
		later []string
	}{
		{"refused", broker.PublishFault{Err: refused}, []bool{true, true, false}, []string{"b-1"}, []string{"b-1"}},
		{"there all the same", broker.PublishFault{Err: refused, Delivered: true}, []bool{true, true, false}, []string{"a-1", "b-1"}, []string{"a-1", "b-1"}},
		{"there later", broker.PublishFault{Err: refused, Delivered: true, Late: time.Minute}, []bool{true, true, false}, []string{"b-1"}, []string{"b-1", "a-1"}},
		{"twice", broker.PublishFault{Copies: 1}, []bool{false, false, false}, []string{"a-1", "a-1", "a-2", "b-1"}, []string{"a-1", "a-1", "a-2", "b-1"}},
		{"delayed", broker.PublishFault{Delay: time.Hour}, []bool{false, false, false}, []string{"a-1", "a-2", "b-1"}, []string{"a-1", "a-2", "b-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				faults := broker.MemoryFaults{Publish: func(_ context.Context, m *broker.Message) broker.PublishFault {
					if string(m.Value) == "a-1" {
						return c.fault
					}
					return broker.PublishFault{}
				}}
				m := memory(t, broker.MemoryConfig{Faults: faults}, "orders", 1)
				start := time.Now()
				errs := m.Publish(t.Context(), []broker.Message{
					{Topic: "orders", Key: []byte("a"), Value: []byte("a-1")},
					{Topic: "orders", Key: []byte("a"), Value: []byte("a-2")},
					{Topic: "orders", Key: []byte("b"), Value: []byte("b-1")},
				})
				for i, want := range c.errs {
					if got := errs != nil && errs[i] != nil; got != want {
						t.Errorf("message %d: an error is %v, want %v (%v)", i, got, want, errs)
					}
				}
				if c.errs[1] && !errors.Is(errs[1], broker.ErrBehindFailed) {
					t.Errorf("the one behind it gives %v", errs[1])
				}
				if time.Since(start) != c.fault.Delay {
					t.Errorf("it took %v, want %v", time.Since(start), c.fault.Delay)
				}
				if got := values(m); !reflect.DeepEqual(got, c.now) {
					t.Errorf("there is %q, want %q", got, c.now)
				}
				time.Sleep(2 * time.Minute)
				if got := values(m); !reflect.DeepEqual(got, c.later) {
					t.Errorf("later there is %q, want %q", got, c.later)
				}
			})
		})
	}
}

func values(m *broker.Memory) []string {
	var all []string
	for _, message := range m.Messages("orders") {
		all = append(all, string(message.Value))
	}
	return all
}

func TestMemoryCommitFaults(t *testing.T) {
	t.Parallel()
	var fault error
	faults := broker.MemoryFaults{Commit: func(context.Context, string, map[broker.TopicPartition]int64) error { return fault }}
	m := memory(t, broker.MemoryConfig{Faults: faults}, "orders", 1)
	n := join(t, member(t, m, "payments", "orders"))
	p := at("orders", 0)
	fault = errors.New("coordinator away")
	if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{p: 1}); !errors.Is(err, fault) {
		t.Errorf("commit gives %v", err)
	}
	if _, ok := m.Committed("payments", p); ok {
		t.Error("a failed commit is there")
	}
	fault = fmt.Errorf("commit: %w", broker.ErrReplyLost)
	if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{p: 2}); !errors.Is(err, broker.ErrReplyLost) {
		t.Errorf("commit gives %v", err)
	}
	if got, _ := m.Committed("payments", p); got != 2 {
		t.Errorf("committed is %d, want 2: only the reply was lost", got)
	}
}

func TestMemoryJoinCanBeGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory(t, broker.MemoryConfig{RebalanceTimeout: time.Hour}, "orders", 2)
		one, two := member(t, m, "payments", "orders"), member(t, m, "payments", "orders")
		n := join(t, one)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := two.Join(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("join gives %v", err)
		}
		_ = n.Close()
		if again := join(t, one); len(again.Assignments()) != 2 {
			t.Errorf("the one that stayed has %v", again.Assignments())
		}
	})
}

func TestMemoryCloseEndsEverything(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{}, "orders", 1)
	one := member(t, m, "payments", "orders")
	n := join(t, one)
	_ = m.Close()
	if _, err := n.Fetch(t.Context(), at("orders", 0), 0, 1); !errors.Is(err, broker.ErrClosed) && !errors.Is(err, broker.ErrGenerationOver) {
		t.Errorf("fetch gives %v", err)
	}
	_ = n.Close()
	if _, err := one.Join(t.Context()); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("join gives %v", err)
	}
	if errs := m.Publish(t.Context(), []broker.Message{{Topic: "orders"}}); len(errs) != 1 || !errors.Is(errs[0], broker.ErrClosed) {
		t.Errorf("publish gives %v", errs)
	}
}

// Two members come and go while messages flow: nothing is lost, and what is committed is never read again
// before it.
func TestMemoryLosesNothingOverRebalances(t *testing.T) {
	t.Parallel()
	m := memory(t, broker.MemoryConfig{MaxWait: 5 * time.Millisecond}, "orders", 3)
	const total = 3000
	var mu sync.Mutex
	seen := map[string]bool{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wait sync.WaitGroup
	for range 2 {
		g := member(t, m, "payments", "orders")
		wait.Go(func() {
			defer g.Close()
			for ctx.Err() == nil {
				n, err := g.Join(ctx)
				if err != nil {
					return
				}
				consume(ctx, n, func(message *broker.Message) {
					mu.Lock()
					defer mu.Unlock()
					seen[string(message.Value)] = true
					if len(seen) == total {
						cancel()
					}
				})
				_ = n.Close()
			}
		})
	}
	for i := range total {
		publish(t, m, broker.Message{Topic: "orders", Key: fmt.Append(nil, i%50), Value: fmt.Append(nil, i)})
		if i%100 == 0 {
			m.Rebalance("payments")
		}
	}
	wait.Wait()
	if len(seen) != total {
		t.Errorf("%d of %d arrived", len(seen), total)
	}
}

// consume reads all partitions in turn until the generation ends.
func consume(ctx context.Context, n broker.Generation, each func(*broker.Message)) {
	next := offsets(n)
	for ctx.Err() == nil && !over(n) {
		for p, offset := range next {
			batch, err := n.Fetch(ctx, p, offset, 4096)
			if err != nil {
				return
			}
			for i := range batch.Messages {
				each(&batch.Messages[i])
				next[p] = batch.Messages[i].Offset + 1
			}
			if err := n.Commit(ctx, map[broker.TopicPartition]int64{p: next[p]}); err != nil {
				return
			}
		}
	}
}

// One iteration is a message published and fetched, in batches of 500.
func BenchmarkMemory(b *testing.B) {
	m := broker.NewMemory(broker.MemoryConfig{})
	if err := m.CreateTopic("orders", 4); err != nil {
		b.Fatal(err)
	}
	g, _ := m.Group(b.Context(), "payments", []string{"orders"})
	n, err := g.Join(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	batch := make([]broker.Message, 500)
	for i := range batch {
		batch[i] = broker.Message{Topic: "orders", Key: fmt.Appendf(nil, "order-%d", i), Value: make([]byte, 200),
			Headers: idem.Headers{{Name: "idempotency_key", Value: []byte("orders.created:v1:o-17")}, {Name: "event_type", Value: []byte("orders.created")}}}
	}
	next := offsets(n)
	b.ReportAllocs()
	for done := 0; done < b.N; done += len(batch) {
		if errs := m.Publish(b.Context(), batch); errs != nil {
			b.Fatal(errs)
		}
		for p, offset := range next {
			got, err := n.Fetch(b.Context(), p, offset, 1<<20)
			if err != nil {
				b.Fatal(err)
			}
			next[p] = got.End
			if err := m.Truncate(p, got.End); err != nil {
				b.Fatal(err)
			}
		}
	}
}
