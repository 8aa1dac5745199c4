package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

func TestBytesArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	sent := []broker.Message{
		{Key: []byte("k"), Value: all, Headers: idem.Headers{
			{Name: "idempotency_key", Value: []byte("orders.created:v1:o-17")},
			{Name: "empty", Value: []byte{}}, {Name: "null"}, {Name: "bytes", Value: all},
			{Name: "twice", Value: []byte("1")}, {Name: "twice", Value: []byte("2")}, {Name: "", Value: []byte("no name")},
			{Name: "größe", Value: []byte("ü")},
		}},
		{Key: []byte{}, Value: []byte{}},
		{},
	}
	for i := range sent {
		sent[i].Topic = topic
	}
	publish(t, b, sent...)
	before := time.Now()
	for i, got := range read(t, b, topic, len(sent)) {
		if age := before.Sub(got.Time); age < -time.Minute || age > time.Minute {
			t.Errorf("message %d has time %v", i, got.Time)
		}
		want := sent[i]
		want.Offset, want.Time = int64(i), got.Time
		if !reflect.DeepEqual(got, want) {
			t.Errorf("message %d is %#v, want %#v", i, got, want)
		}
	}
}

func TestEachCompressionKeepsPartitionAndOrder(t *testing.T) {
	t.Parallel()
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			brokers := realtest.Kafka(t)
			topic := realtest.Topic(t, brokers, 4)
			b := opened(t, Config{Brokers: brokers, Compression: codec, MaxBatchBytes: 4000})
			sent := numbered(topic, 2000, 37)
			publish(t, b, sent...)
			got := read(t, b, topic, len(sent))
			if want := orderOf(sent); !reflect.DeepEqual(orderOf(got), want) {
				t.Error("the order within a key is another one")
			}
			for _, m := range got {
				// kafka-go's own copy of the Java partitioner is the other opinion.
				if want := (kafka.Murmur2Balancer{}).Balance(kafka.Message{Key: m.Key}, 0, 1, 2, 3); int(m.Partition) != want {
					t.Fatalf("%s is in partition %d, want %d", m.Key, m.Partition, want)
				}
			}
		})
	}
}

func TestMessagesWithoutAKeyUseAllPartitions(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 3)
	for i := range 30 {
		publish(t, b, broker.Message{Topic: topic, Value: fmt.Append(nil, i)})
	}
	used := map[int32]bool{}
	for _, m := range read(t, b, topic, 30) {
		used[m.Partition] = true
		if m.Key != nil {
			t.Errorf("a key came from nowhere: %q", m.Key)
		}
	}
	if len(used) != 3 {
		t.Errorf("they are in %d of 3 partitions", len(used))
	}
}

func TestAMessageThatIsTooLargeFailsAloneAndHoldsItsKeyBack(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	huge := make([]byte, 2<<20)
	for i := range huge {
		huge[i] = byte(rand.Uint32()) // not to be compressed
	}
	errs := b.Publish(t.Context(), []broker.Message{
		{Topic: topic, Key: []byte("a"), Value: []byte("a-1")},
		{Topic: topic, Key: []byte("a"), Value: huge},
		{Topic: topic, Key: []byte("b"), Value: []byte("b-1")},
		{Topic: topic, Key: []byte("a"), Value: []byte("a-3")},
		{Topic: topic, Value: []byte("no key")},
	})
	if len(errs) != 5 || errs[0] != nil || errs[2] != nil || errs[4] != nil {
		t.Fatalf("errors are %v", errs)
	}
	var large *TooLargeError
	if !errors.Is(errs[1], broker.ErrTooLarge) || !errors.As(errs[1], &large) {
		t.Fatalf("the large one gives %v", errs[1])
	}
	if large.Size < 2<<20 || large.Size > 2<<20+200 || large.Limit != 1048588 {
		t.Errorf("size %d, limit %d; the topic's default is 1048588", large.Size, large.Limit)
	}
	contains(t, "the error", errs[1].Error(), topic, "1048588", "max.message.bytes")
	if !errors.Is(errs[3], broker.ErrBehindFailed) {
		t.Errorf("the one behind it gives %v", errs[3])
	}
	want := map[string][]string{"a": {"a-1"}, "b": {"b-1"}, "": {"no key"}}
	if got := orderOf(read(t, b, topic, 3)); !reflect.DeepEqual(got, want) {
		t.Errorf("there is %v, want %v", got, want)
	}

	b.config.MaxMessageBytes = 1000
	errs = b.Publish(t.Context(), []broker.Message{{Topic: topic, Value: huge[:2000]}})
	if len(errs) != 1 || !errors.As(errs[0], &large) || large.Limit != 1000 {
		t.Errorf("MaxMessageBytes gives %v", errs)
	}
}

// Many that are each fine and too much together are sent in several batches.
func TestMoreThanABatchHoldsIsSentInSeveral(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	b.config.MaxBatchBytes = 10 << 20 // more than the topic takes: it has to be halved
	var sent []broker.Message
	for i := range 8 {
		sent = append(sent, broker.Message{Topic: topic, Key: []byte("k"), Value: bytes.Repeat([]byte{byte('a' + i)}, 300_000)})
	}
	publish(t, b, sent...)
	if got := orderOf(read(t, b, topic, 8)); !reflect.DeepEqual(got, orderOf(sent)) {
		t.Error("they are not as they were sent")
	}
}

func TestAnUnknownTopicIsNamed(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	b.config.UnknownTopicFor = 500 * time.Millisecond
	errs := b.Publish(t.Context(), []broker.Message{
		{Topic: "nobody-made-it", Value: []byte("x")}, {Topic: topic, Value: []byte("x")}, {Topic: "a b", Value: []byte("x")}})
	if len(errs) != 3 || !errors.Is(errs[0], broker.ErrUnknownTopic) || errs[1] != nil || errs[2] == nil {
		t.Errorf("publish gives %v", errs)
	} else {
		contains(t, "publish", errs[0].Error(), "nobody-made-it", "create it")
	}
	if _, err := b.Group(t.Context(), "g", []string{topic, "nobody-made-it"}); !errors.Is(err, broker.ErrUnknownTopic) {
		t.Errorf("group gives %v", err)
	}
	if _, err := b.Partitions(t.Context(), "nobody-made-it"); !errors.Is(err, broker.ErrUnknownTopic) {
		t.Errorf("partitions gives %v", err)
	}
	if counts, err := b.Partitions(t.Context(), topic); err != nil || counts[topic] != 1 {
		t.Errorf("partitions gives %v, %v", counts, err)
	}
}

// The outbox has as much time as an unknown topic has.
func TestAnUnknownTopicIsNamedAlsoWhereTheContextEndsFirst(t *testing.T) {
	t.Parallel()
	b, _ := onKafka(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	errs := b.Publish(ctx, []broker.Message{{Topic: "nobody-made-it", Value: []byte("x")}})
	if len(errs) != 1 || !errors.Is(errs[0], broker.ErrUnknownTopic) || !errors.Is(errs[0], context.DeadlineExceeded) {
		t.Fatalf("publish gives %v", errs)
	}
	contains(t, "publish", errs[0].Error(), "topic nobody-made-it: unknown topic: create it, or check its name: ")
}

func TestAnotherServiceThanKafkaIsGivenUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan net.Conn, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			held <- c // and no answer
		}
		close(held)
	}()
	_, err = Open(Config{Brokers: []string{l.Addr().String()}, RequestTimeout: 300 * time.Millisecond})
	var late net.Error
	if !errors.As(err, &late) || !late.Timeout() {
		t.Fatalf("open gives %v", err)
	}
	contains(t, "open", err.Error(), "open kafka at "+l.Addr().String(), "(nothing there answers as Kafka: check host and port)")
	_ = l.Close()
	<-done
	for c := range held {
		_ = c.Close()
	}
}

func TestATopicIsFoundAsSoonAsItIsThere(t *testing.T) {
	t.Parallel()
	b, _ := onKafka(t, 1)
	brokers := realtest.Kafka(t)
	name := realtest.Topic(t, brokers, 1) + "-new"
	done := make(chan []error)
	go func() {
		done <- b.Publish(t.Context(), []broker.Message{{Topic: name, Value: []byte("x")}})
	}()
	realtest.CreateTopic(t, brokers, name, 2)
	if errs := <-done; errs != nil {
		t.Error(errs)
	}
}

func TestPublishEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := b.Publish(ctx, []broker.Message{{Topic: topic, Key: []byte("k"), Value: []byte("x")}})
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("publish gives %v", errs)
	}
	_ = b.Close()
	errs = b.Publish(t.Context(), []broker.Message{{Topic: topic, Value: []byte("x")}})
	if len(errs) != 1 || !errors.Is(errs[0], broker.ErrClosed) {
		t.Errorf("publish after Close gives %v", errs)
	}
}

// Dead letters of a topic with more partitions go by their key.
func TestFault17DeadLetterTopicMayHaveFewerPartitions(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 12)
	letters := topic + ".dlq.payments"
	realtest.CreateTopic(t, realtest.Kafka(t), letters, 2)
	sent := numbered(topic, 200, 40)
	publish(t, b, sent...)
	forwarded := read(t, b, topic, 200)
	for i := range forwarded {
		forwarded[i].Topic = letters // Partition is still that of the origin, up to 11
	}
	publish(t, b, forwarded...)
	got := read(t, b, letters, 200)
	if !reflect.DeepEqual(orderOf(got), orderOf(sent)) {
		t.Error("the dead letters are not in the order of their keys")
	}
	for _, m := range got {
		if want, _ := idem.KafkaPartition(string(m.Key), 2); m.Partition != want {
			t.Fatalf("%s is in partition %d, want %d", m.Key, m.Partition, want)
		}
	}
	if strings.Contains(string(got[0].Topic), ".dlq.") == false {
		t.Errorf("topic is %s", got[0].Topic)
	}
}
