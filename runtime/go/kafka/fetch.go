package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"

	"github.com/idem-spec/idem/runtime/go/broker"
)

const (
	readUncommitted = 0
	// readCommitted lets the broker stop at transactions that are open.
	readCommitted = 1
)

// fetched is what one request brought.
type fetched struct {
	messages []broker.Message
	// next is the offset behind everything that was looked at: messages, but also aborted ones, and the
	// markers of transactions.
	next int64
	// end is the offset behind the last one that can be read now.
	end int64
	// gap is where the last gap ends that compaction has left between offset and next; 0 where there is none.
	gap int64
	// records says that the broker sent something, were it nothing to deliver.
	records bool
}

// fetchOnce asks the leader for messages at offset.
func (b *Broker) fetchOnce(ctx context.Context, at broker.TopicPartition, offset int64, maxBytes int) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.MaxWait+b.config.RequestTimeout)
	defer cancel()
	limit := int32(min(max(maxBytes, 1), 1<<30))
	answer, err := b.transport.RoundTrip(ctx, b.addr, fetchRequest(at, offset, limit, b.config.MaxWait, readCommitted))
	if err != nil {
		return fetched{}, b.cause(ctx, at.Topic, err)
	}
	return fetchedOf(at, offset, answer)
}

func fetchRequest(at broker.TopicPartition, offset int64, limit int32, wait time.Duration, isolation int8) *fetch.Request {
	return &fetch.Request{
		ReplicaID: -1, MaxWaitTime: int32(wait.Milliseconds()), MinBytes: 1, MaxBytes: limit,
		IsolationLevel: isolation, SessionID: -1, SessionEpoch: -1,
		Topics: []fetch.RequestTopic{{Topic: at.Topic, Partitions: []fetch.RequestPartition{{
			Partition: at.Partition, CurrentLeaderEpoch: -1, FetchOffset: offset, LogStartOffset: -1, PartitionMaxBytes: limit,
		}}}},
	}
}

var errOtherPartitions = errors.New("the broker's answer is for other partitions")

func fetchedOf(at broker.TopicPartition, offset int64, answer protocol.Message) (fetched, error) {
	response := answer.(*fetch.Response)
	if response.ErrorCode != 0 {
		return fetched{}, kafka.Error(response.ErrorCode)
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return fetched{}, errOtherPartitions
	}
	p := &response.Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		return fetched{}, kafka.Error(p.ErrorCode)
	}
	f := fetched{next: offset, end: p.HighWatermark}
	if p.LastStableOffset >= 0 {
		f.end = min(f.end, p.LastStableOffset)
	}
	return f, f.read(at, offset, p)
}

// read goes through the batches. The first may begin before offset.
func (f *fetched) read(at broker.TopicPartition, offset int64, p *fetch.ResponsePartition) error {
	aborted := newAborted(p.AbortedTransactions)
	var batches []protocol.RecordReader
	switch records := p.RecordSet.Records.(type) {
	case nil:
	case *protocol.RecordStream:
		batches = records.Records
	default:
		batches = []protocol.RecordReader{records}
	}
	for _, batch := range batches {
		f.records = true
		if err := f.readBatch(at, offset, batch, aborted); err != nil {
			// What came before it is worth delivering; the error comes back with the next fetch.
			if len(f.messages) > 0 {
				return nil
			}
			return fmt.Errorf("read what the broker sent: %w", err)
		}
	}
	return nil
}

func (f *fetched) readBatch(at broker.TopicPartition, offset int64, batch protocol.RecordReader, aborted *aborted) error {
	control, isControl := batch.(*protocol.ControlBatch)
	if isControl {
		return f.readControl(control, aborted)
	}
	dropped := false
	if records, ok := batch.(*protocol.RecordBatch); ok && records.Attributes.Transactional() {
		dropped = aborted.has(records.ProducerID, records.BaseOffset)
	}
	for {
		r, err := batch.ReadRecord()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if r.Offset > f.next {
			f.gap = r.Offset
		}
		if r.Offset < offset || dropped {
			discard(r)
		} else {
			m, err := messageOf(at, r)
			if err != nil {
				return err
			}
			f.messages = append(f.messages, m)
		}
		f.next = max(f.next, r.Offset+1)
	}
}

// readControl reads a marker, which ends a transaction.
func (f *fetched) readControl(batch *protocol.ControlBatch, aborted *aborted) error {
	for {
		r, err := batch.ReadControlRecord()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if r.Offset > f.next {
			f.gap = r.Offset
		}
		const abort = 0
		if r.Type == abort {
			aborted.end(batch.ProducerID, r.Offset)
		}
		f.next = max(f.next, r.Offset+1)
	}
}

// aborted are the transactions of an answer that were aborted, as KIP-98 has it: one begins at its first
// offset, and ends at its producer's next abort marker.
type aborted struct {
	coming []fetch.ResponseTransaction
	open   map[int64]bool
}

func newAborted(transactions []fetch.ResponseTransaction) *aborted {
	if len(transactions) == 0 {
		return &aborted{}
	}
	coming := slices.Clone(transactions)
	slices.SortFunc(coming, func(a, b fetch.ResponseTransaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	return &aborted{coming: coming, open: map[int64]bool{}}
}

func (a *aborted) has(producer, offset int64) bool {
	a.reach(offset)
	return a.open[producer]
}

func (a *aborted) end(producer, offset int64) {
	a.reach(offset)
	delete(a.open, producer)
}

func (a *aborted) reach(offset int64) {
	for len(a.coming) > 0 && a.coming[0].FirstOffset <= offset {
		a.open[a.coming[0].ProducerID] = true
		a.coming = a.coming[1:]
	}
}
