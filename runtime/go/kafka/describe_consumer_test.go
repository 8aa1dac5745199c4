package kafka

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol"
)

// heartbeat is what a member of group.protocol=consumer joins by, and stays a member by.
type heartbeat struct {
	group, member string
	epoch         int32
	topic         string
	code          int16
}

func (*heartbeat) ApiKey() protocol.ApiKey                 { return 68 }
func (h *heartbeat) Group() string                         { return h.group }
func (*heartbeat) Required(map[protocol.ApiKey]int16) bool { return true }

func (h *heartbeat) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	body := appendCompact(appendCompact(nil, h.group), h.member)
	body = binary.BigEndian.AppendUint32(body, uint32(h.epoch))
	body = append(body, 0, 0)                            // instance, rack
	body = binary.BigEndian.AppendUint32(body, 30_000)   // how long a rebalance may take
	body = append(body, 2)                               // one topic
	body = append(appendCompact(body, h.topic), 0, 1, 0) // assignor, has no partitions yet, no tags
	answer, err := exchange(rw, h.ApiKey(), "member", body)
	if err != nil {
		return nil, err
	}
	in := reader{data: answer}
	in.int32() // throttle time
	h.code = in.int16()
	in.compact() // the error in words
	in.compact() // member
	h.epoch = in.int32()
	return h, nil
}

func TestGroupOfTheConsumerProtocolIsDescribed(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 2)
	beat := func(ctx context.Context, epoch int32) *heartbeat {
		// A member names itself by a UUID, of which any 16 bytes are one.
		answer, err := b.transport.RoundTrip(ctx, b.addr, &heartbeat{group: topic, member: "AAAAAAAAAAAAAAAAAAAAAQ", epoch: epoch, topic: topic})
		if err != nil {
			t.Fatal(err)
		}
		return answer.(*heartbeat)
	}
	joined := beat(t.Context(), 0)
	if joined.code == 35 {
		t.Skip("this broker has no group.protocol=consumer")
	}
	if joined.code != 0 {
		t.Fatalf("joining is answered by %d", joined.code)
	}
	defer beat(context.Background(), -1) // leaves
	var d GroupDescription
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && (len(d.Members) == 0 || len(d.Members[0].Partitions) < 2); time.Sleep(50 * time.Millisecond) {
		var err error
		if d, err = b.DescribeGroup(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.Members) != 1 || d.State == "Dead" {
		t.Fatalf("the group is %+v", d)
	}
	if m := d.Members[0]; m.ClientID != "member" || m.Host == "" || !slices.Equal(m.Topics, []string{topic}) || !slices.Contains(m.Partitions, at(topic, 1)) || len(m.Partitions) != 2 {
		t.Errorf("its member is %+v", m)
	}
	if none, err := b.DescribeGroup(t.Context(), topic+"-none"); err != nil || none.State != "Dead" {
		t.Errorf("a group that nobody has is %+v, %v", none, err)
	}
}

// A broker before Kafka 3.7 does not have the request, and ends a connection that it comes on.
func TestBrokersWithoutTheConsumerProtocolAreNotAsked(t *testing.T) {
	t.Parallel()
	r := &consumerGroupDescribe{group: "g"}
	if !r.Required(map[protocol.ApiKey]int16{protocol.DescribeGroups: 5}) {
		t.Error("kafka-go would write it")
	}
	if answer, err := r.RawExchange(nil); err != nil || answer != protocol.Message(r) || r.State != "" {
		t.Errorf("%v, %v", answer, err)
	}
}

func TestAnswersThatAreCutOffAreErrors(t *testing.T) {
	t.Parallel()
	var whole []byte
	whole = append(whole, 0, 0, 0, 0, 2, 0, 0, 0) // throttle time, one group, no error, no words
	whole = appendCompact(appendCompact(whole, "g"), "Stable")
	whole = append(append(whole, make([]byte, 8)...), 1, 2) // epochs, an empty assignor, one member
	whole = append(appendCompact(whole, "m"), 0, 0, 0, 0, 0, 7)
	whole = append(appendCompact(appendCompact(whole, "client"), "/10.0.0.7"), 1) // asked by a pattern
	whole = appendCompact(whole, "ord.*")
	for range 2 {
		whole = appendCompact(append(append(whole, 2), make([]byte, 16)...), "orders")
		whole = append(whole, 2, 0, 0, 0, 3, 0, 0) // one partition, no tags
	}
	whole = append(whole, 0)
	r := &consumerGroupDescribe{group: "g"}
	if err := r.read(&reader{data: whole}); err != nil || r.State != "Stable" || len(r.Members) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if m := r.Members[0]; m.Host != "/10.0.0.7" || !slices.Equal(m.Topics, []string{"orders"}) || len(m.Partitions) != 1 || m.Partitions[0] != at("orders", 3) {
		t.Errorf("%+v", m)
	}
	for n := range whole {
		if err := (&consumerGroupDescribe{}).read(&reader{data: whole[:n]}); err == nil {
			t.Errorf("%d of %d bytes are read", n, len(whole))
		}
	}
}
