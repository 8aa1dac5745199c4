package kafka

import (
	"encoding/binary"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Commit is where a group went on in a partition, and when it said so.
type Commit struct {
	broker.TopicPartition
	// Offset is -1 where the commit before was removed.
	Offset int64
	At     time.Time
}

// commitOf reads a record of Kafka's own topic of commits; false for one that is something else, such as the
// state of a group. written is the record's time.
func commitOf(key, value []byte, written time.Time) (group string, c Commit, ok bool) {
	k := reader{data: key}
	if version := k.int16(); version != 0 && version != 1 { // from 2 on they are other keys
		return "", c, false
	}
	group = k.text()
	c = Commit{TopicPartition: broker.TopicPartition{Topic: k.text(), Partition: k.int32()}, Offset: -1, At: written}
	if k.short || len(k.data) > 0 {
		return "", c, false
	}
	if value == nil {
		return group, c, true
	}
	c.Offset, c.At, ok = committedBy(value)
	return group, c, ok
}

// committedBy reads an OffsetCommitValue of the versions 0 to 4, the ones there are. What comes behind the time is
// not of interest.
func committedBy(value []byte) (int64, time.Time, bool) {
	v := reader{data: value}
	version := v.int16()
	if version < 0 || version > 4 {
		return 0, time.Time{}, false
	}
	offset := v.int64()
	if version >= 3 {
		v.int32() // the leader's epoch
	}
	if version >= 4 {
		v.compact() // metadata
	} else {
		v.text()
	}
	at := v.int64()
	return offset, time.UnixMilli(at), !v.short && offset >= 0
}

func (r *reader) int64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }
