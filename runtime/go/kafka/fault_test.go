package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"reflect"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

// breaker breaks connections: the next `lose` produce requests reach the broker, and their answers nobody;
// the next `drop` do not reach it.
type breaker struct {
	lose, drop atomic.Int32
	away       atomic.Bool // nobody answers
}

func (b *breaker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if b.away.Load() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &brokenConn{Conn: conn, breaker: b}, nil
}

type brokenConn struct {
	net.Conn
	breaker *breaker
	lost    atomic.Bool
}

// Write sees the head of a request: its size, and the number of its API, which is 0 for produce.
func (c *brokenConn) Write(p []byte) (int, error) {
	if c.breaker.away.Load() {
		return 0, syscall.ECONNRESET
	}
	if len(p) >= 8 && binary.BigEndian.Uint16(p[4:]) == 0 {
		if c.breaker.drop.Add(-1) >= 0 {
			return 0, io.ErrClosedPipe
		}
		if c.breaker.lose.Add(-1) >= 0 {
			c.lost.Store(true)
		}
	}
	return c.Conn.Write(p)
}

// Read waits for the answer that it loses, so that the request has been done.
func (c *brokenConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.lost.Load() && err == nil {
		_ = c.Conn.Close() // kafka-go reads on after an error
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// kafka-go's Writer reports an error and the message arrives all the same (#1427), asks for no
// acknowledgement by default, and gives up what failed in part (#1152); a single synchronous write waits a
// second for its batch.
func TestFault04LostAnswersAreAskedForAgain(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	topic := realtest.Topic(t, brokers, 3)
	breaker := &breaker{}
	b, err := open(Config{Brokers: brokers, MaxBatchBytes: 2000, Logger: slog.New(slog.DiscardHandler)}, breaker.dial)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	sent := numbered(topic, 300, 30)
	breaker.lose.Store(5)
	publish(t, b, sent[:150]...)
	breaker.drop.Store(5)
	publish(t, b, sent[150:]...)
	eventually(t, 10*time.Second, "all messages", func() bool { return breaker.lose.Load() < 0 && breaker.drop.Load() < 0 })
	total := int64(0)
	bounds, err := b.bounds(t.Context(), map[string][]int32{topic: {0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bound := range bounds {
		total += bound.last
	}
	if total <= 300 {
		t.Errorf("there are %d messages: no answer was lost", total)
	}
	if got := orderOf(read(t, b, topic, int(total))); !reflect.DeepEqual(got, orderOf(sent)) {
		t.Error("some are missing, or a key's first arrivals are in another order")
	}

	// What is not confirmed in time fails by its index, and nothing behind it in its key is confirmed.
	b.config.RetryFor = 300 * time.Millisecond
	breaker.drop.Store(1 << 20)
	errs := b.Publish(t.Context(), sent[:60])
	for i, err := range errs {
		if err == nil {
			t.Errorf("message %d is confirmed without an answer", i)
		}
	}
	if len(errs) != 60 || !errors.Is(errs[0], errOutcomeUnknown) {
		t.Errorf("errors are %d, the first %v", len(errs), errs[0])
	}
	breaker.drop.Store(0)

	start := time.Now()
	for range 10 {
		publish(t, b, broker.Message{Topic: topic, Key: []byte("k"), Value: []byte("x")})
	}
	if took := time.Since(start) / 10; took > 300*time.Millisecond {
		t.Errorf("a single message takes %v", took)
	}
}

func TestOnePartitionThatFailsLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	topic := realtest.Topic(t, brokers, 8)
	breaker := &breaker{}
	b, err := open(Config{Brokers: brokers, Logger: slog.New(slog.DiscardHandler)}, breaker.dial)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	sent := numbered(topic, 200, 50)
	publish(t, b, sent...) // a new topic's partitions fail for reasons of their own
	b.config.RetryFor = time.Nanosecond
	breaker.drop.Store(1)
	errs := b.Publish(t.Context(), sent)
	if len(errs) != len(sent) {
		t.Fatalf("%d errors", len(errs))
	}
	failed := map[int32]int{}
	for i, err := range errs {
		if err != nil {
			failed[broker.PartitionOf(sent[i].Key, 8)]++
		}
	}
	if len(failed) != 1 {
		t.Errorf("partitions %v failed, want one: %v", failed, errors.Join(errs...))
	}
}

// While no broker answers, kafka-go knows of no topic. It is there all the same.
func TestAnOutageIsNotTakenForAnUnknownTopic(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	topic := realtest.Topic(t, brokers, 2)
	breaker := &breaker{}
	b, err := open(Config{Brokers: brokers, UnknownTopicFor: time.Millisecond, RequestTimeout: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)}, breaker.dial)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	publish(t, b, numbered(topic, 10, 4)...)
	n := join(t, member(t, b, topic, topic))

	breaker.away.Store(true)
	back := time.AfterFunc(2*time.Second, func() { breaker.away.Store(false) })
	defer back.Stop()
	publish(t, b, numbered(topic, 10, 4)...)

	breaker.away.Store(true)
	b.config.RetryFor = 200 * time.Millisecond
	errs := b.Publish(t.Context(), numbered(topic, 1, 1))
	if len(errs) != 1 || errs[0] == nil || errors.Is(errs[0], broker.ErrUnknownTopic) {
		t.Fatalf("publish gives %v", errs)
	}
	contains(t, "publish", errs[0].Error(), "check that Kafka runs")
	if _, err := n.Fetch(t.Context(), at(topic, 0), 0, 1000); err == nil || unknownTopic(err) {
		t.Errorf("fetch gives %v", err)
	}
	if _, err := b.Lag(t.Context(), topic, topic); err == nil || errors.Is(err, broker.ErrUnknownTopic) {
		t.Errorf("lag gives %v", err)
	}
}

// The broker that leads the partitions is killed and comes back, in the middle of it all.
func TestBrokersDieAndNothingConfirmedIsLost(t *testing.T) {
	brokers := realtest.KafkaCluster(t)
	topic := realtest.Topic(t, brokers, 6)
	b := opened(t, Config{Brokers: brokers, RetryFor: time.Minute, HeartbeatInterval: 300 * time.Millisecond})
	c := newConsumer()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	g := member(t, b, topic, topic)
	go func() { defer close(done); c.run(ctx, g) }()
	defer func() { cancel(); <-done }()

	var confirmed atomic.Int32
	produced := make(chan struct{})
	const total = 3000
	go func() {
		defer close(produced)
		sent := numbered(topic, total, 60)
		for i := 0; i < total; i += 30 {
			for j, err := range b.Publish(ctx, sent[i:i+30]) {
				if err != nil {
					t.Errorf("message %d: %v", i+j, err)
				}
			}
			confirmed.Add(30)
			time.Sleep(20 * time.Millisecond) // so that there are some before, during and after
		}
	}()
	for i, node := range []string{"kafka-cluster:1", "kafka-cluster:2"} {
		eventually(t, time.Minute, "messages before the kill", func() bool { return confirmed.Load() >= int32(300+i*900) })
		realtest.Services(t, "kill", node)
		eventually(t, time.Minute, "messages after the kill", func() bool { return confirmed.Load() >= int32(900+i*900) })
		realtest.Services(t, "restart", node)
	}
	within(t, 2*time.Minute, "the producer", produced)
	eventually(t, time.Minute, "all messages", func() bool { return c.count() == total })
	if len(c.back) > 0 {
		t.Errorf("offsets went back: %v", c.back)
	}
}

// With fewer replicas in sync than the topic asks for nothing is confirmed: acks are all.
func TestNothingIsConfirmedWithoutReplicas(t *testing.T) {
	brokers := realtest.KafkaCluster(t)
	topic := realtest.Topic(t, brokers, 1)
	b := opened(t, Config{Brokers: brokers, RetryFor: 3 * time.Second, RequestTimeout: 3 * time.Second})
	publish(t, b, broker.Message{Topic: topic, Value: []byte("before")})
	realtest.Services(t, "pause", "kafka-cluster:2")
	realtest.Services(t, "pause", "kafka-cluster:3")
	errs := b.Publish(t.Context(), []broker.Message{{Topic: topic, Value: []byte("during")}})
	if len(errs) != 1 || errs[0] == nil {
		t.Errorf("one of three brokers confirms: %v", errs)
	}
	realtest.Services(t, "resume", "kafka-cluster:2")
	realtest.Services(t, "resume", "kafka-cluster:3")
	b.config.RetryFor = time.Minute
	publish(t, b, broker.Message{Topic: topic, Value: []byte("after")})
}
