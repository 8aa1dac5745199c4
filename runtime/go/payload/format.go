package payload

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

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
	// Confluent is the wire format of Confluent's schema registry: a zero byte, the schema's id, the place of the
	// message in its file, and the binary encoding.
	Confluent
)

var formatNames = [...]string{Protobuf: "protobuf", JSON: "json", Confluent: "confluent"}

// String is "protobuf", "json" or "confluent".
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format_%d", uint8(f))
}

// Decode reads a payload into m, whatever m held before. A null payload is a message without fields, as an empty one
// is, except in JSON, whose shortest message is {}. The error is an *idem.Failure that makes the delivery MALFORMED,
// with the code PAYLOAD_INVALID: no later try can read it. It names no value of the payload.
func Decode(f Format, payload []byte, m proto.Message) error {
	var err error
	switch f {
	case Protobuf:
		err = unmarshal(payload, m)
	case JSON:
		err = decodeJSON(payload, m)
	case Confluent:
		err = decodeConfluent(payload, m)
	default:
		err = fmt.Errorf("%v is no format", f)
	}
	if err != nil {
		return &idem.Failure{Outcome: idem.OutcomeMalformed, Code: string(idem.CodePayloadInvalid), Err: err}
	}
	return nil
}

func unmarshal(payload []byte, m proto.Message) error {
	if err := proto.Unmarshal(payload, m); err != nil {
		return fmt.Errorf("%d bytes are no %s: %w", len(payload), m.ProtoReflect().Descriptor().FullName(), err)
	}
	return nil
}

// decodeJSON tells the place of a fault alone: protojson's words repeat the value, which may be a card's number.
func decodeJSON(payload []byte, m proto.Message) error {
	err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(payload, m)
	if err == nil {
		return nil
	}
	text := fmt.Sprintf("%d bytes are no JSON of %s", len(payload), m.ProtoReflect().Descriptor().FullName())
	if _, place, ok := strings.Cut(err.Error(), "(line "); ok {
		if place, _, ok := strings.Cut(place, ")"); ok {
			text += ": line " + place
		}
	}
	return errors.New(text)
}

// encode is the inverse of Decode.
func encode(f Format, schemaID int32, m proto.Message) ([]byte, error) {
	switch f {
	case Protobuf:
		return marshal(nil, m)
	case JSON:
		return protojson.Marshal(m)
	case Confluent:
		return marshal(appendFrame(nil, schemaID, m.ProtoReflect().Descriptor()), m)
	}
	return nil, fmt.Errorf("%v is no format", f)
}

// marshal never gives nil, which is a null on the broker, and a tombstone on a compacted topic.
func marshal(dst []byte, m proto.Message) ([]byte, error) {
	if dst == nil {
		dst = make([]byte, 0, proto.Size(m))
	}
	return proto.MarshalOptions{}.MarshalAppend(dst, m)
}
