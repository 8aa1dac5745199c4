package kafka

import (
	"testing"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

func benchmark(b *testing.B) (*Broker, string, []broker.Message) {
	b.Helper()
	brokers := realtest.Kafka(b)
	topic := realtest.Topic(b, brokers, 4)
	k, err := Open(Config{Brokers: brokers})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = k.Close() })
	messages := numbered(topic, 10_000, 1000)
	for i := range messages {
		messages[i].Value = make([]byte, 200)
	}
	return k, topic, messages
}

// One iteration is a message, in batches of 10,000.
func BenchmarkPublish(b *testing.B) {
	k, _, messages := benchmark(b)
	b.ReportAllocs()
	for done := 0; done < b.N; done += len(messages) {
		if errs := k.Publish(b.Context(), messages[:min(len(messages), b.N-done)]); errs != nil {
			b.Fatal(errs)
		}
	}
}

// One iteration is a message that is published alone and confirmed.
func BenchmarkPublishOne(b *testing.B) {
	k, _, messages := benchmark(b)
	b.ReportAllocs()
	for b.Loop() {
		if errs := k.Publish(b.Context(), messages[:1]); errs != nil {
			b.Fatal(errs)
		}
	}
}

// One iteration is a message.
func BenchmarkFetch(b *testing.B) {
	k, topic, messages := benchmark(b)
	for range 20 {
		if errs := k.Publish(b.Context(), messages); errs != nil {
			b.Fatal(errs)
		}
	}
	g, err := k.Group(b.Context(), topic, []string{topic})
	if err != nil {
		b.Fatal(err)
	}
	n, err := g.Join(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		for _, a := range n.Assignments() { // from the start again when all are read
			for offset := a.Offset; done < b.N; {
				batch, err := n.Fetch(b.Context(), a.TopicPartition, offset, 1<<20)
				if err != nil {
					b.Fatal(err)
				}
				done += len(batch.Messages)
				offset += int64(len(batch.Messages))
				if offset >= batch.End {
					break
				}
			}
		}
	}
}
