package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// A stock transactional producer aborts some of what it writes. What it aborted is not delivered, and its
// markers, which take offsets, do not hold the group up.
func TestAbortedTransactionsAreNotDelivered(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	producer := beginTransactions(t, b, topic)
	producer.write(t, "one", true)
	producer.write(t, "two aborted", false)
	publish(t, b, broker.Message{Topic: topic, Value: []byte("three")})
	producer.write(t, "four aborted", false)
	producer.write(t, "five", true)
	producer.write(t, "six aborted", false)

	n := join(t, member(t, b, topic, topic))
	var got []string
	offset := int64(0)
	for deadline := time.Now().Add(10 * time.Second); len(got) < 3 && time.Now().Before(deadline); {
		batch, err := n.Fetch(t.Context(), at(topic, 0), offset, 1) // so that each batch comes alone
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch.Messages {
			got = append(got, string(m.Value))
			offset = m.Offset + 1
		}
	}
	if want := "one, three, five"; strings.Join(got, ", ") != want {
		t.Errorf("delivered is %q, want %q", got, want)
	}
	// Behind the last message are aborted ones and markers: the fetch waits rather than turn in a circle.
	start := time.Now()
	batch, err := n.Fetch(t.Context(), at(topic, 0), offset, 1<<20)
	if err != nil || len(batch.Messages) != 0 || time.Since(start) < 300*time.Millisecond {
		t.Errorf("at the end it gives %v, %v after %v", batch.Messages, err, time.Since(start))
	}
	publish(t, b, broker.Message{Topic: topic, Value: []byte("seven")})
	batch, err = n.Fetch(t.Context(), at(topic, 0), offset, 1<<20)
	if err != nil || len(batch.Messages) != 1 || string(batch.Messages[0].Value) != "seven" {
		t.Errorf("then it gives %v, %v", batch.Messages, err)
	}
}

type transactions struct {
	broker   *Broker
	topic    string
	producer int
	epoch    int
	sequence int32
}

func beginTransactions(t *testing.T, b *Broker, topic string) *transactions {
	t.Helper()
	for {
		answer, err := b.client.InitProducerID(t.Context(), &kafka.InitProducerIDRequest{TransactionalID: topic, TransactionTimeoutMs: 60000})
		if err == nil && answer.Error == nil {
			return &transactions{b, topic, answer.Producer.ProducerID, answer.Producer.ProducerEpoch, 0}
		}
		if t.Context().Err() != nil {
			t.Fatal(err, answer)
		}
		time.Sleep(100 * time.Millisecond) // the coordinator is being made
	}
}

// write writes one message in one transaction. kafka-go writes no producer's id, so it is put in here.
func (p *transactions) write(t *testing.T, value string, commit bool) {
	t.Helper()
	t.Helper()
	for {
		added, err := p.broker.client.AddPartitionsToTxn(t.Context(), &kafka.AddPartitionsToTxnRequest{TransactionalID: p.topic,
			ProducerID: p.producer, ProducerEpoch: p.epoch, Topics: map[string][]kafka.AddPartitionToTxn{p.topic: {{Partition: 0}}}})
		if err != nil {
			t.Fatal(err)
		}
		const concurrentTransactions = kafka.Error(51) // the markers of the one before are being written
		if err := added.Topics[p.topic][0].Error; err == nil {
			break
		} else if !errors.Is(err, concurrentTransactions) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	var wire bytes.Buffer
	records := protocol.RecordSet{Version: 2, Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte(value))})}
	if _, err := records.WriteTo(&wire); err != nil {
		t.Fatal(err)
	}
	batch := wire.Bytes()[4:] // behind its size
	const transactional = 0x10
	binary.BigEndian.PutUint16(batch[21:], transactional)
	binary.BigEndian.PutUint64(batch[43:], uint64(p.producer))
	binary.BigEndian.PutUint16(batch[51:], uint16(p.epoch))
	binary.BigEndian.PutUint32(batch[53:], uint32(p.sequence))
	binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
	p.sequence++
	answer, err := p.broker.client.RawProduce(t.Context(), &kafka.RawProduceRequest{Topic: p.topic, Partition: 0, RequiredAcks: kafka.RequireAll,
		TransactionalID: p.topic, RawRecords: protocol.RawRecordSet{Reader: &wire}})
	if err != nil || answer.Error != nil {
		t.Fatal(err, answer)
	}
	ended, err := p.broker.client.EndTxn(t.Context(), &kafka.EndTxnRequest{TransactionalID: p.topic, ProducerID: p.producer,
		ProducerEpoch: p.epoch, Committed: commit})
	if err != nil || ended.Error != nil {
		t.Fatal(err, ended)
	}
}

// `idem lag` tells by it that behind the last message nothing waits.
func TestScanEndsBehindWhatTransactionsLeave(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	producer := beginTransactions(t, b, topic)
	producer.write(t, "one", true)
	producer.write(t, "two aborted", false)
	bounds, err := b.Bounds(t.Context(), []broker.TopicPartition{at(topic, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for offset := int64(1); offset < bounds[at(topic, 0)].To; {
		batch, next, err := b.Scan(t.Context(), at(topic, 0), offset, 1)
		if err != nil || len(batch.Messages) > 0 || next <= offset {
			t.Fatalf("at %d it gives %v, %d, %v", offset, batch.Messages, next, err)
		}
		offset = next
	}
}
