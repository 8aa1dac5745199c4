package kafka

import (
	"io"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// sizeOf is about what a message takes in a batch, not compressed: never less than it does.
func sizeOf(m *broker.Message) int {
	n := 36 + len(m.Key) + len(m.Value)
	for i := range m.Headers {
		n += 10 + len(m.Headers[i].Name) + len(m.Headers[i].Value)
	}
	return n
}

// outgoing reads messages as records. nil stays null, and empty stays empty.
type outgoing struct {
	messages []broker.Message
	of       []int
	record   kafka.Record
	headers  []kafka.Header
}

func (o *outgoing) ReadRecord() (*kafka.Record, error) {
	if len(o.of) == 0 {
		return nil, io.EOF
	}
	m := &o.messages[o.of[0]]
	o.of = o.of[1:]
	o.headers = o.headers[:0]
	for i := range m.Headers {
		o.headers = append(o.headers, kafka.Header{Key: m.Headers[i].Name, Value: m.Headers[i].Value})
	}
	// The time stays empty: kafka-go writes the present, and the broker its own where the topic says so.
	o.record = kafka.Record{Key: bytesOf(m.Key), Value: bytesOf(m.Value), Headers: o.headers}
	return &o.record, nil
}

// bytesOf keeps nil an interface that is nil.
func bytesOf(b []byte) protocol.Bytes {
	if b == nil {
		return nil
	}
	return protocol.NewBytes(b)
}

// messageOf takes a record out of kafka-go's buffers, key and value in one piece.
func messageOf(at broker.TopicPartition, r *protocol.Record) (broker.Message, error) {
	m := broker.Message{Topic: at.Topic, Partition: at.Partition, Offset: r.Offset, Time: r.Time}
	defer discard(r)
	size := 0
	for _, b := range [...]protocol.Bytes{r.Key, r.Value} {
		if b != nil {
			size += b.Len()
		}
	}
	piece := make([]byte, size)
	var err error
	if m.Key, piece, err = take(r.Key, piece); err != nil {
		return m, err
	}
	if m.Value, _, err = take(r.Value, piece); err != nil {
		return m, err
	}
	if len(r.Headers) > 0 {
		m.Headers = make(idem.Headers, len(r.Headers))
		for i, h := range r.Headers {
			m.Headers[i] = idem.Header{Name: h.Key, Value: h.Value}
		}
	}
	return m, nil
}

// take copies b into a piece, and gives what is left of that. An empty one is not nil.
func take(b protocol.Bytes, piece []byte) (taken, rest []byte, err error) {
	if b == nil {
		return nil, piece, nil
	}
	n := b.Len()
	_, err = io.ReadFull(b, piece[:n])
	return piece[:n:n], piece[n:], err
}

// discard gives a record's buffers back.
func discard(r *protocol.Record) {
	for _, b := range []protocol.Bytes{r.Key, r.Value} {
		if b != nil {
			_ = b.Close()
		}
	}
}
