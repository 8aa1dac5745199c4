package kafka

import (
	"encoding/binary"
	"testing"
	"time"
)

// commitKey is the key of a commit as Kafka writes it.
func commitKey(version int16, group, topic string, partition int32) []byte {
	key := binary.BigEndian.AppendUint16(nil, uint16(version))
	key = appendText(appendText(key, group), topic)
	return binary.BigEndian.AppendUint32(key, uint32(partition))
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// commitValue is its value, of versions 0 to 4.
func commitValue(version int16, offset int64, at time.Time, metadata string) []byte {
	value := binary.BigEndian.AppendUint16(nil, uint16(version))
	value = binary.BigEndian.AppendUint64(value, uint64(offset))
	if version >= 3 {
		value = binary.BigEndian.AppendUint32(value, 7)
	}
	if version >= 4 {
		value = append(binary.AppendUvarint(value, uint64(len(metadata)+1)), metadata...)
	} else {
		value = appendText(value, metadata)
	}
	value = binary.BigEndian.AppendUint64(value, uint64(at.UnixMilli()))
	switch version {
	case 1:
		value = binary.BigEndian.AppendUint64(value, uint64(at.UnixMilli())) // when it expires
	case 4:
		value = append(value, 0) // no tagged fields
	}
	return value
}

func TestCommitsOfEachVersionAreRead(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_123)
	for version := range int16(5) {
		for _, metadata := range []string{"", "by hand"} {
			group, c, ok := commitOf(commitKey(1, "mail", "orders", 3), commitValue(version, 42, at, metadata), time.Now())
			want := Commit{TopicPartition: c.TopicPartition, Offset: 42, At: at}
			if !ok || group != "mail" || c.Topic != "orders" || c.Partition != 3 || c != want {
				t.Errorf("version %d: %q, %+v, %v", version, group, c, ok)
			}
		}
	}
	written := time.Now()
	if _, c, ok := commitOf(commitKey(0, "mail", "orders", 3), nil, written); !ok || c.Offset != -1 || c.At != written {
		t.Errorf("what was removed is %+v, %v", c, ok)
	}
}

func TestWhatIsNoCommitIsNotReadAsOne(t *testing.T) {
	t.Parallel()
	key, value := commitKey(1, "g", "t", 0), commitValue(3, 1, time.Now(), "m")
	for name, c := range map[string]struct{ key, value []byte }{
		"no key":               {nil, value},
		"the group's state":    {commitKey(2, "g", "t", 0), value},
		"a later key":          {commitKey(9, "g", "t", 0), value},
		"a key that is cut":    {key[:len(key)-1], value},
		"a key with more":      {append(key[:len(key):len(key)], 0), value},
		"a value that is cut":  {key, value[:len(value)-1]},
		"a version to come":    {key, commitValue(9, 1, time.Now(), "m")},
		"an offset below zero": {key, commitValue(3, -5, time.Now(), "m")},
		"an empty value":       {key, []byte{}},
		"a length below zero":  {[]byte{0, 1, 0xff, 0xfe, 'g'}, value},
	} {
		if _, got, ok := commitOf(c.key, c.value, time.Now()); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzCommitOf(f *testing.F) {
	at := time.UnixMilli(1_700_000_000_123)
	for version := range int16(5) {
		f.Add(commitKey(1, "mail", "orders", 3), commitValue(version, 42, at, "by hand"))
	}
	f.Add(commitKey(0, "", "", -1), []byte(nil))
	f.Add([]byte{0, 1, 0xff, 0xff}, []byte{0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		group, c, ok := commitOf(key, value, at)
		if !ok {
			return
		}
		if c.Offset < -1 || c.Offset == -1 && value != nil {
			t.Errorf("the offset is %d", c.Offset)
		}
		// What was read says all there is in a key.
		if again := commitKey(int16(binary.BigEndian.Uint16(key)), group, c.Topic, c.Partition); string(again) != string(key) {
			t.Errorf("%x is read as %q, %q, %d", key, group, c.Topic, c.Partition)
		}
	})
}

func TestPartitionOfAGroupIsJavas(t *testing.T) {
	t.Parallel()
	// "polygenelubricants".hashCode() is the least int, which has no absolute value.
	for group, want := range map[string]int32{"": 0, "a": 47, "payments": 13, "orders": 31, "polygenelubricants": 0, "\U0001F600": 49} {
		if got := partitionOfGroup(group, 50); got != want {
			t.Errorf("%q is in %d, want %d", group, got, want)
		}
	}
}
