package kafka

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/segmentio/kafka-go/protocol"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

// kafka-go has no DeleteRecords; this is version 1 of it.
type deleteRecords struct {
	Topics    []deleteRecordsTopic `kafka:"min=v0,max=v1"`
	TimeoutMs int32                `kafka:"min=v0,max=v1"`
}

type deleteRecordsTopic struct {
	Name       string                   `kafka:"min=v0,max=v1"`
	Partitions []deleteRecordsPartition `kafka:"min=v0,max=v1"`
}

type deleteRecordsPartition struct {
	Partition int32 `kafka:"min=v0,max=v1"`
	Offset    int64 `kafka:"min=v0,max=v1"`
}

type deletedRecords struct {
	ThrottleTimeMs int32                 `kafka:"min=v0,max=v1"`
	Topics         []deletedRecordsTopic `kafka:"min=v0,max=v1"`
}

type deletedRecordsTopic struct {
	Name       string                    `kafka:"min=v0,max=v1"`
	Partitions []deletedRecordsPartition `kafka:"min=v0,max=v1"`
}

type deletedRecordsPartition struct {
	Partition    int32 `kafka:"min=v0,max=v1"`
	LowWatermark int64 `kafka:"min=v0,max=v1"`
	ErrorCode    int16 `kafka:"min=v0,max=v1"`
}

func (*deleteRecords) ApiKey() protocol.ApiKey  { return protocol.DeleteRecords }
func (*deletedRecords) ApiKey() protocol.ApiKey { return protocol.DeleteRecords }

func init() { protocol.Register(&deleteRecords{}, &deletedRecords{}) }

// What retention removes before a group reads it is lost, and somebody has to be told.
func TestMessagesThatRetentionRemovedAreTold(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	topic := realtest.Topic(t, brokers, 1)
	var log bytes.Buffer
	b := opened(t, Config{Brokers: brokers, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	publish(t, b, numbered(topic, 10, 1)...)
	n := join(t, member(t, b, topic, topic))
	answer, err := b.transport.RoundTrip(t.Context(), b.addr, &deleteRecords{TimeoutMs: 5000,
		Topics: []deleteRecordsTopic{{topic, []deleteRecordsPartition{{0, 4}}}}})
	if err != nil || answer.(*deletedRecords).Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(err, answer)
	}
	batch, err := n.Fetch(t.Context(), at(topic, 0), 1, 1<<20)
	if err != nil || len(batch.Messages) != 6 || batch.Messages[0].Offset != 4 {
		t.Fatalf("fetch gives %d messages, %v", len(batch.Messages), err)
	}
	contains(t, "the log", log.String(), "retention.ms", `"lost_from":1`, `"lost_to":4`, topic)

	lags, err := b.Lag(t.Context(), topic+"-new", topic)
	if err != nil || lags[0].Committed != 4 || lags[0].Behind != 6 {
		t.Errorf("a group that has committed nothing is behind by %+v, %v", lags, err)
	}
	if _, err := b.Lag(t.Context(), topic, topic+"-none"); err == nil || errors.Is(err, errFenced) {
		t.Errorf("an unknown topic gives %v", err)
	}
}
