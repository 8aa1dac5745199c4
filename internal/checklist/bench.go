package checklist

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// bench is a service on the workbench, and all that it talks to.
type bench struct {
	adapter *Adapter
	options Options
	values  values
	maker   maker
	logs    string

	kafka   *kafka.Broker
	admin   *kafkago.Client
	db      *database
	redis   *proxy
	down    *downstream
	letters letters
	offsets *offsets
	unwatch func()

	service []*instance
	beside  []*instance
	named   int // instances so far
	ownEnds int // processes that ended by themselves
}

// newBench makes what the service needs, and starts nothing yet.
func newBench(ctx context.Context, a *Adapter, o Options) (*bench, error) {
	b := &bench{adapter: a, options: o, values: values{"run": o.run, "dir": a.dir, "group": ""}}
	b.values["group"] = b.values.fill(a.Group)
	b.maker = maker{adapter: a, set: o.Schema, values: b.values}
	// Numbers that no earlier run had, for services whose ids are numbers.
	b.maker.next = time.Now().Unix() % 1e9 * 1000
	if err := b.open(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) open(ctx context.Context) error {
	b.logs = filepath.Join(b.options.Logs, b.adapter.Name)
	if err := os.MkdirAll(b.logs, 0o700); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{b.openKafka, b.openTopics, b.openDatabase, b.openRedis} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if b.adapter.Downstream != nil {
		var err error
		if b.down, err = newDownstream(*b.adapter.Downstream); err != nil {
			return err
		}
		b.values["downstream"] = b.down.url
	}
	b.openLetters()
	if b.adapter.Build != "" {
		if err := shell(ctx, b.adapter, b.adapter.Build, b.values); err != nil {
			return &StartError{Service: b.adapter.Name, Err: fmt.Errorf("build: %w", err)}
		}
	}
	return nil
}

func (b *bench) openKafka(context.Context) error {
	config := b.options.Kafka
	config.Brokers = strings.Split(b.adapter.Kafka.Brokers, ",")
	b.values["brokers"] = b.adapter.Kafka.Brokers
	var err error
	if b.kafka, err = kafka.Open(config); err != nil {
		return err
	}
	b.admin = &kafkago.Client{Addr: kafkago.TCP(config.Brokers...), Timeout: 30 * time.Second, Transport: &kafkago.Transport{TLS: config.TLS}}
	return nil
}

// openTopics makes the topics that are missing.
func (b *bench) openTopics(ctx context.Context) error {
	b.offsets = &offsets{kafka: b.kafka, group: b.values["group"], last: map[broker.TopicPartition]int64{}}
	topics := map[string]int32{}
	for _, m := range b.adapter.messages() {
		topics[b.values.fill(m.Topic)] = 4
	}
	for topic := range topics {
		b.offsets.topics = append(b.offsets.topics, topic)
	}
	for topic, partitions := range b.adapter.Topics {
		topic = b.values.fill(topic)
		topics[topic] = partitions
		if origin, ok := broker.OriginOf(topic, b.values["group"]); ok && slices.Contains(b.offsets.topics, origin) {
			b.offsets.topics = append(b.offsets.topics, topic)
		}
	}
	if l := b.adapter.DeadLetters; l != nil && l.Topic != "" {
		if topic := b.values.fill(l.Topic); topics[topic] == 0 {
			topics[topic] = 1
		}
	}
	for topic, partitions := range topics {
		if _, err := b.kafka.CreateTopic(ctx, topic, partitions, 0); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) openDatabase(ctx context.Context) error {
	if b.adapter.Postgres == nil {
		return nil
	}
	var err error
	if b.db, err = openDatabase(ctx, b.adapter, b.adapter.Postgres.URL, b.values); err != nil {
		return err
	}
	b.values["dsn"] = b.db.dsn
	return nil
}

func (b *bench) openRedis(context.Context) error {
	if b.adapter.Redis == nil {
		return nil
	}
	u, err := url.Parse(b.adapter.Redis.URL)
	if err != nil || u.Host == "" {
		return errors.New("redis: it takes a URL, redis://host:6379/0")
	}
	host := u.Host
	if u.Port() == "" {
		host += ":6379"
	}
	if b.redis, err = newProxy(host); err != nil {
		return err
	}
	b.values["redis"] = b.redis.before(*u)
	return nil
}

func (b *bench) openLetters() {
	switch l := b.adapter.DeadLetters; {
	case l == nil:
	case l.Table != "":
		b.letters = &tableLetters{b, *l}
	default:
		b.letters = &topicLetters{b: b, topic: b.values.fill(l.Topic), next: map[broker.TopicPartition]int64{}, found: map[string][][]byte{}}
	}
}

// close ends the processes and gives back what was made.
func (b *bench) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if b.unwatch != nil {
		b.unwatch()
	}
	for _, i := range append(slices.Clone(b.service), b.beside...) {
		continueGroup(i.command.Process)
		i.end(10 * time.Second)
	}
	if b.down != nil {
		b.down.close()
	}
	if b.redis != nil {
		b.redis.close()
	}
	if b.db != nil {
		b.db.close(ctx)
	}
	if b.kafka != nil {
		b.dropTopics(ctx)
		_ = b.kafka.Close()
	}
}

// dropTopics deletes those whose names were of this run alone.
func (b *bench) dropTopics(ctx context.Context) {
	if b.offsets == nil {
		return
	}
	names := slices.Clone(b.offsets.topics)
	for topic := range b.adapter.Topics {
		names = append(names, b.values.fill(topic))
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, b.options.run) })
	if len(names) > 0 {
		_, _ = b.admin.DeleteTopics(ctx, &kafkago.DeleteTopicsRequest{Topics: names}) // what is left harms nobody
	}
}

// start starts the service and what runs beside it, and begins to watch its offsets.
func (b *bench) start(ctx context.Context) error {
	if err := b.unshared(ctx); err != nil {
		return err
	}
	for n, what := range b.adapter.Beside {
		if err := b.startBeside(ctx, n, what); err != nil {
			return err
		}
	}
	if _, err := b.startService(ctx); err != nil {
		return err
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.unwatch = cancel
	go b.offsets.watch(watching)
	return nil
}

func (b *bench) startBeside(ctx context.Context, n int, what Process) error {
	b.named++
	i, err := launch(b.adapter, what, fmt.Sprintf("beside-%d-%d", n+1, b.named), b.logs, b.values)
	if err != nil {
		return &StartError{Service: b.adapter.Name, Err: err}
	}
	b.beside = append(b.beside, i)
	if what.Ready == "" {
		return nil
	}
	return b.await(ctx, i, func() bool { return false })
}

// startService starts an instance and waits until it consumes.
func (b *bench) startService(ctx context.Context) (*instance, error) {
	before := map[string]bool{}
	if b.adapter.Service.Ready == "" {
		for _, m := range b.members(ctx) {
			before[m] = true
		}
	}
	b.named++
	i, err := launch(b.adapter, b.adapter.Service, b.adapter.Name+"-"+strconv.Itoa(b.named), b.logs, b.values)
	if err != nil {
		return nil, &StartError{Service: b.adapter.Name, Err: err}
	}
	b.service = append(b.service, i)
	return i, b.await(ctx, i, func() bool {
		return slices.ContainsFunc(b.members(ctx), func(m string) bool { return !before[m] })
	})
}

// members are the members of the group, once it is stable.
func (b *bench) members(ctx context.Context) []string {
	d, err := b.kafka.DescribeGroup(ctx, b.values["group"])
	if err != nil || d.State != "Stable" {
		return nil
	}
	names := make([]string, len(d.Members))
	for i, m := range d.Members {
		names[i] = m.ID
	}
	return names
}

// await waits until a process is ready.
func (b *bench) await(ctx context.Context, i *instance, member func() bool) error {
	limit := time.After(i.what.StartTimeout.Duration)
	for {
		select {
		case <-i.ready:
			return nil
		case <-i.ended:
			return &StartError{b.adapter.Name, fmt.Errorf("its process ended: %v", i.command.ProcessState), i.tail(15)}
		case <-limit:
			what := "the group " + b.values["group"] + " has no new member"
			if i.what.Ready != "" {
				what = fmt.Sprintf("it has not said %q", i.what.Ready)
			}
			return &StartError{b.adapter.Name, fmt.Errorf("after %v %s", i.what.StartTimeout, what), i.tail(15)}
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
			if i.what.Ready == "" && member() {
				return nil
			}
		}
	}
}

// one leaves one instance of the service, and starts one where there is none.
func (b *bench) one(ctx context.Context) (*instance, error) {
	b.service = slices.DeleteFunc(b.service, func(i *instance) bool { return !i.alive() })
	for len(b.service) > 1 {
		last := b.service[len(b.service)-1]
		last.end(20 * time.Second)
		b.service = b.service[:len(b.service)-1]
	}
	if len(b.service) == 1 {
		return b.service[0], nil
	}
	return b.startService(ctx)
}

// keep starts again what has ended by itself, as a supervisor does.
func (b *bench) keep(ctx context.Context) error {
	for _, i := range slices.Clone(b.service) {
		if i.unwanted() {
			b.ownEnds++
			b.service = slices.DeleteFunc(b.service, func(other *instance) bool { return other == i })
			if _, err := b.startService(ctx); err != nil {
				return err
			}
		}
	}
	for n, i := range slices.Clone(b.beside) {
		if i.unwanted() {
			b.ownEnds++
			b.beside = slices.DeleteFunc(b.beside, func(other *instance) bool { return other == i })
			if err := b.startBeside(ctx, n, i.what); err != nil {
				return err
			}
		}
	}
	return nil
}

// Options are of a run.
type Options struct {
	// Schema is what messages are of; nil where all are bytes.
	Schema *schema.Set
	// Kafka is how to reach the brokers; their addresses are the adapter's.
	Kafka kafka.Config
	// Only are the faults to inject; empty: all.
	Only []string
	// Outage is how long the outage is.
	Outage time.Duration
	// Logs is a directory for what the services say.
	Logs string
	// Progress is told what is under way: a step, and where that takes long how far it is within.
	Progress func(step, within string)

	run string
}
