package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// consumerGroupDescribe is the request that describes a group of group.protocol=consumer (KIP-848). kafka-go does not have it,
// and no room in its tables of requests either: so it writes and reads itself, on the connection to the group's
// coordinator that kafka-go gives it.
type consumerGroupDescribe struct {
	group, clientID string
	// served says that the broker has the request, since Kafka 3.7: one that has not would end the connection.
	served bool

	GroupDescription
	code kafka.Error
}

const consumerGroupDescribeKey protocol.ApiKey = 69

var _ protocol.RawExchanger = (*consumerGroupDescribe)(nil)

func (*consumerGroupDescribe) ApiKey() protocol.ApiKey { return consumerGroupDescribeKey }

// Group has kafka-go look for its coordinator.
func (r *consumerGroupDescribe) Group() string { return r.group }

// Required is told what the broker has.
func (r *consumerGroupDescribe) Required(versions map[protocol.ApiKey]int16) bool {
	_, r.served = versions[consumerGroupDescribeKey]
	return true
}

// RawExchange asks in version 0.
func (r *consumerGroupDescribe) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if !r.served {
		return r, nil
	}
	var body []byte
	body = append(body, 2) // one group
	body = appendCompact(body, r.group)
	body = append(body, 0, 0) // without the operations that are allowed; no tags
	answer, err := exchange(rw, consumerGroupDescribeKey, r.clientID, body)
	if err != nil {
		return nil, err
	}
	return r, r.read(&reader{data: answer})
}

// read reads version 0 of the answer.
func (r *consumerGroupDescribe) read(in *reader) error {
	in.int32() // throttle time
	if in.count() > 0 {
		r.code = kafka.Error(in.int16())
		in.compact() // the error in words
		in.compact() // the group
		r.State = in.compact()
		in.take(8)   // epochs
		in.compact() // assignor
		for n := in.count(); n > 0 && !in.short; n-- {
			r.Members = append(r.Members, in.consumerMember())
		}
	}
	if in.short {
		return fmt.Errorf("describe group %q: the answer is cut off", r.group)
	}
	return nil
}

func (r *reader) consumerMember() GroupMember {
	m := GroupMember{ID: r.compact()}
	r.compact() // instance
	r.compact() // rack
	r.int32()   // epoch
	m.ClientID, m.Host = r.compact(), r.compact()
	for n := r.count(); n > 0 && !r.short; n-- {
		m.Topics = append(m.Topics, r.compact())
	}
	pattern := r.compact()
	m.Partitions = r.topicPartitions()
	r.topicPartitions() // what it is to have
	r.tags()
	for _, p := range m.Partitions { // a member that asked by a pattern names none
		if pattern != "" && !slices.Contains(m.Topics, p.Topic) {
			m.Topics = append(m.Topics, p.Topic)
		}
	}
	return m
}

func (r *reader) topicPartitions() (all []broker.TopicPartition) {
	for n := r.count(); n > 0 && !r.short; n-- {
		r.take(16) // id
		topic := r.compact()
		for m := r.count(); m > 0 && !r.short; m-- {
			all = append(all, broker.TopicPartition{Topic: topic, Partition: r.int32()})
		}
		r.tags()
	}
	r.tags()
	return all
}

// describeConsumerGroup says whether there is a group of group.protocol=consumer.
func (b *Broker) describeConsumerGroup(ctx context.Context, name string) (GroupDescription, bool, error) {
	answer, err := b.transport.RoundTrip(ctx, b.addr, &consumerGroupDescribe{group: name, clientID: b.config.ClientID})
	if err != nil {
		return GroupDescription{}, false, err
	}
	d := answer.(*consumerGroupDescribe)
	switch {
	case !d.served, errors.Is(d.code, kafka.GroupIdNotFound), d.code == 0 && d.State == "":
		return GroupDescription{}, false, nil
	case d.code != 0:
		return GroupDescription{}, false, d.code
	}
	return d.GroupDescription, true, nil
}

// exchange sends a request of version 0 with a flexible header, and gives the body of the answer.
func exchange(rw io.ReadWriter, key protocol.ApiKey, clientID string, body []byte) ([]byte, error) {
	const version, correlation, mostBytes = 0, 1, 64 << 20
	request := make([]byte, 4) // its size
	request = binary.BigEndian.AppendUint16(request, uint16(key))
	request = binary.BigEndian.AppendUint16(request, version)
	request = binary.BigEndian.AppendUint32(request, correlation)
	request = binary.BigEndian.AppendUint16(request, uint16(len(clientID)))
	request = append(append(append(request, clientID...), 0), body...)
	binary.BigEndian.PutUint32(request, uint32(len(request)-4))
	if _, err := rw.Write(request); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > mostBytes {
		return nil, fmt.Errorf("an answer of %d bytes", size)
	}
	answer := make([]byte, size)
	if _, err := io.ReadFull(rw, answer); err != nil {
		return nil, err
	}
	in := reader{data: answer}
	if id := in.int32(); id != correlation {
		return nil, fmt.Errorf("an answer to request %d, not %d", id, correlation)
	}
	in.tags()
	return in.data, nil
}

func appendCompact(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))+1), text...)
}
