package broker

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// What is packed comes out as it went in: nil as nil, empty as empty, at lengths around those of a varint.
func TestUnpackedIsWhatWasPacked(t *testing.T) {
	t.Parallel()
	values := [][]byte{nil, {}, {0}}
	for _, n := range []int{126, 127, 128, 1<<14 - 2, 1<<14 - 1, 1 << 14, 1 << 20} {
		values = append(values, bytes.Repeat([]byte{7}, n))
	}
	var sent []Message
	for _, v := range values {
		for _, headers := range []idem.Headers{nil, {}, {{Name: "a", Value: v}}, {{Name: "a", Value: v, Integer: true}, {Name: "b"}, {Name: "b", Value: v}}} {
			sent = append(sent, Message{Topic: "t", Key: v, Value: v, Headers: headers})
		}
	}
	now := time.Unix(1735704000, 0)
	p, log := newPacker(sent), memoryLog{TopicPartition: TopicPartition{Topic: "t", Partition: 3}}
	room := cap(p.bytes)
	for i := range sent {
		log.append(p.pack(&sent[i], now), 0)
		sent[i].Partition, sent[i].Offset, sent[i].Time = 3, int64(i), now
	}
	require.Equal(t, room, cap(p.bytes), "it is one allocation")
	require.Equal(t, sent, log.all())
}

// A message is its reader's own as far as its slices: who appends to one writes over no other.
func TestUnpackedSlicesDoNotGrowIntoEachOther(t *testing.T) {
	t.Parallel()
	sent := []Message{{Key: []byte("k"), Value: []byte("v"), Headers: idem.Headers{{Name: "a", Value: []byte("h")}}}}
	p, log := newPacker(sent), memoryLog{}
	log.append(p.pack(&sent[0], time.Time{}), 1)
	all := log.all()
	_ = append(all[0].Key, 'x')
	_ = append(all[0].Value, 'x')
	_ = append(all[0].Headers[0].Value, 'x')
	_ = append(all[0].Headers, idem.Header{Name: "x"})
	for _, m := range append(all, log.all()...) {
		require.Equal(t, sent[0].Headers, m.Headers)
		require.Equal(t, []string{"k", "v"}, []string{string(m.Key), string(m.Value)})
	}
}
