package consumer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Format is how a payload holds a message.
type Format uint8

// The formats.
const (
	// Protobuf is the message's binary encoding, and nothing else.
	Protobuf Format = iota
	// JSON is protobuf's JSON mapping. Fields that the schema does not know are ignored, as in binary.
	JSON
	// Confluent is the wire format of Confluent's schema registry: a zero byte, the schema's id, the path of the
	// message in its file, and the binary encoding. The registry is not asked.
	Confluent
)

// decode reads a payload into a message. The error is MALFORMED: no later try can read it.
func (f Format) decode(payload []byte, m proto.Message) error {
	var err error
	switch f {
	case Protobuf:
		err = proto.Unmarshal(payload, m)
	case JSON:
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(payload, m)
	case Confluent:
		if payload, err = unframe(payload, m.ProtoReflect().Descriptor()); err == nil {
			err = proto.Unmarshal(payload, m)
		}
	default:
		err = fmt.Errorf("no format %d", f)
	}
	if err != nil {
		return &idem.Failure{Outcome: idem.OutcomeMalformed, Code: string(idem.CodePayloadInvalid), Err: err}
	}
	return nil
}

var errShort = errors.New("the payload ends within the schema registry's frame")

// maxNesting bounds the path of a message in its file.
const maxNesting = 64

// unframe takes the frame of Confluent's wire format off a payload, and sees to it that the message in it is
// the one that is wanted.
func unframe(payload []byte, want protoreflect.Descriptor) ([]byte, error) {
	if len(payload) < 5 {
		return nil, errShort
	}
	if payload[0] != 0 {
		return nil, fmt.Errorf("the payload begins with byte %#02x, not with the 0 of the schema registry's frame: is the route's Format right?", payload[0])
	}
	payload = payload[5:]
	count, n := binary.Varint(payload)
	if n <= 0 {
		return nil, errShort
	}
	payload = payload[n:]
	if count < 0 || count > maxNesting {
		return nil, fmt.Errorf("the path of the message has %d steps", count)
	}
	path := []int64{0} // what a single 0 stands for
	if count > 0 {
		path = path[:0]
	}
	for range count {
		step, n := binary.Varint(payload)
		if n <= 0 {
			return nil, errShort
		}
		path, payload = append(path, step), payload[n:]
	}
	if own := pathOf(want); !slices.Equal(path, own) {
		return nil, fmt.Errorf("it is message %v of its file, and %s is %v", path, want.FullName(), own)
	}
	return payload, nil
}

// pathOf is the place of a message in its file: its index, behind those of the messages around it.
func pathOf(d protoreflect.Descriptor) []int64 {
	var path []int64
	for ; d != nil; d = d.Parent() {
		if _, ok := d.(protoreflect.MessageDescriptor); !ok {
			break
		}
		path = append(path, int64(d.Index()))
	}
	slices.Reverse(path)
	return path
}
