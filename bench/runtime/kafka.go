package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"google.golang.org/protobuf/proto"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	idemkafka "github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// kafkaLoop is end to end on Kafka's own server: join, fetch, claim, decode, handle, complete, commit. All read the
// same topic, each round as a group that was never there. A round begins with its first message, since who joins waits
// for the server alone.
func kafkaLoop(ctx context.Context, s size) (report, error) {
	brokers := os.Getenv("KAFKA_BROKERS")
	if brokers == "" {
		return report{}, errors.New(`KAFKA_BROKERS is not set: eval "$(scripts/services env kafka postgres)"`)
	}
	d, err := open(ctx, callers+handlers, postgres.Config{})
	if err != nil {
		return report{}, err
	}
	defer d.drop()
	k := &kafkaTopic{brokers: strings.Split(brokers, ","), name: fmt.Sprintf("idem-bench-%d", os.Getpid())}
	defer k.remove()
	if err := k.fill(ctx, s.of(100_000)); err != nil {
		return report{}, err
	}
	s.rounds = max(s.rounds/2, 1)
	c, err := compare(ctx, "end to end on Kafka", "messages", s, 100_000, []side{
		{name: "idem, records in PostgreSQL", round: k.consume(func() store.Store { return d.store }, d.cpu)},
		{name: "idem, records in memory", round: k.consume(func() store.Store { return memory.New(memory.Config{}) }, nil)},
		{name: "kafka-go: ConsumerGroup, a reader a partition, commit each second", round: k.bare},
	})
	return report{Comparisons: c}, err
}

type kafkaTopic struct {
	brokers []string
	name    string
	groups  int
	created []string
}

func (k *kafkaTopic) client() *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(k.brokers...), Timeout: 30 * time.Second}
}

func (k *kafkaTopic) create(ctx context.Context, names ...string) error {
	request := &kafka.CreateTopicsRequest{}
	for _, name := range names {
		request.Topics = append(request.Topics, kafka.TopicConfig{Topic: name, NumPartitions: partitions, ReplicationFactor: -1})
	}
	answer, err := k.client().CreateTopics(ctx, request)
	if err != nil {
		return err
	}
	for name, err := range answer.Errors {
		if err != nil {
			return fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	k.created = append(k.created, names...)
	return nil
}

func (k *kafkaTopic) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, _ = k.client().DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: k.created})
}

// fill publishes what all are going to read.
func (k *kafkaTopic) fill(ctx context.Context, n int) error {
	if err := k.create(ctx, k.name); err != nil {
		return err
	}
	b, err := idemkafka.Open(idemkafka.Config{Brokers: k.brokers})
	if err != nil {
		return err
	}
	defer b.Close()
	all := messages(n)
	for i := range all {
		all[i].Topic = k.name
	}
	for len(all) > 0 {
		some := all[:min(len(all), 10_000)]
		if err := errors.Join(b.Publish(ctx, some)...); err != nil {
			return err
		}
		all = all[len(some):]
	}
	return nil
}

func (k *kafkaTopic) group() string {
	k.groups++
	return fmt.Sprintf("%s.%d", k.name, k.groups)
}

// first starts a measurement when a round's first message is handled.
type first struct {
	once    sync.Once
	servers func() time.Duration
	m       *meter
}

func (f *first) seen() { f.once.Do(func() { f.m = start(f.servers) }) }

func (k *kafkaTopic) consume(open func() store.Store, servers func() time.Duration) func(ctx context.Context, n int) (usage, error) {
	return func(ctx context.Context, n int) (usage, error) {
		group := k.group()
		if err := k.create(ctx, broker.RetryTopic(k.name, group)); err != nil {
			return usage{}, err
		}
		b, err := idemkafka.Open(idemkafka.Config{Brokers: k.brokers})
		if err != nil {
			return usage{}, err
		}
		defer b.Close()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		begin := first{servers: servers}
		count := countdown(n, cancel, more)
		c, err := consumer.New(b, open(), consumer.Config{Group: group, Topics: []string{k.name}},
			consumer.Idempotent(func(context.Context, *refundsv1.RefundAsked) error { begin.seen(); count(); return nil }))
		if err != nil {
			return usage{}, err
		}
		if err := c.Run(ctx); err != nil {
			return usage{}, err
		}
		return begin.m.stop(n), nil
	}
}

// bare does no more than a loop has to: it forgets what it has seen, and commits what it has handled.
func (k *kafkaTopic) bare(ctx context.Context, n int) (usage, error) {
	g, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: k.group(), Brokers: k.brokers, Topics: []string{k.name}, StartOffset: kafka.FirstOffset, JoinGroupBackoff: 200 * time.Millisecond,
	})
	if err != nil {
		return usage{}, err
	}
	defer g.Close()
	generation, err := g.Next(ctx)
	if err != nil {
		return usage{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var begin first
	count := countdown(n, cancel, more)
	var wait sync.WaitGroup
	errs := make([]error, partitions)
	for i, at := range generation.Assignments[k.name] {
		wait.Go(func() { errs[i] = k.read(ctx, generation, at, func() { begin.seen(); count() }) })
	}
	wait.Wait()
	return begin.m.stop(n), errors.Join(errs...)
}

func (k *kafkaTopic) read(ctx context.Context, generation *kafka.Generation, at kafka.PartitionAssignment, handle func()) error {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: k.brokers, Topic: k.name, Partition: at.ID, MaxWait: 500 * time.Millisecond, MaxBytes: 1 << 20})
	defer r.Close()
	if err := r.SetOffset(max(at.Offset, 0)); err != nil {
		return err
	}
	committed := time.Now()
	for {
		m, err := r.ReadMessage(ctx)
		over := ctx.Err() != nil
		if err != nil && !over {
			return err
		}
		if err == nil {
			if err := proto.Unmarshal(m.Value, new(refundsv1.RefundAsked)); err != nil {
				return err
			}
			handle()
			at.Offset = m.Offset + 1
		}
		if over || time.Since(committed) > time.Second {
			committed = time.Now()
			if err := generation.CommitOffsets(map[string]map[int]int64{k.name: {at.ID: at.Offset}}); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
	}
}
