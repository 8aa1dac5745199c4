package payload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxNesting bounds the place of a message in its file. protoc allows about thirty.
const maxNesting = 64

// headLen is the zero byte and the schema's id.
const headLen = 5

// Frame is what Confluent's wire format has around a message.
type Frame struct {
	SchemaID int32
	// Path is the place of the message in its file: its index, behind those of the messages around it.
	Path []int
	// Message is the binary encoding. It shares memory with the payload.
	Message []byte
}

var errShort = errors.New("the payload ends within the schema registry's frame")

// ReadFrame takes a frame apart. It reads nothing beyond the payload, and no more steps than a file can have.
func ReadFrame(payload []byte) (Frame, error) {
	if len(payload) > 0 && payload[0] != 0 {
		return Frame{}, fmt.Errorf("the payload begins with byte %#02x, not with the 0 of the schema registry's frame: is it the right format?", payload[0])
	}
	if len(payload) < headLen+1 {
		return Frame{}, errShort
	}
	f := Frame{SchemaID: int32(binary.BigEndian.Uint32(payload[1:headLen]))}
	rest := payload[headLen:]
	count, n := binary.Varint(rest)
	switch {
	case n == 0:
		return Frame{}, errShort
	case n < 0 || count < 0 || count > maxNesting:
		return Frame{}, fmt.Errorf("from byte %d on there is not how many steps, up to %d, the place of the message in its file has: is it the right format?", headLen, maxNesting)
	}
	rest = rest[n:]
	f.Path = make([]int, max(count, 1)) // no step is the first message
	for i := range count {
		step, n := binary.Varint(rest)
		switch {
		case n == 0:
			return Frame{}, errShort
		case n < 0 || step < 0 || step > 1<<31-1:
			return Frame{}, fmt.Errorf("step %d of the place of the message in its file is no index: is it the right format?", i)
		}
		f.Path[i], rest = int(step), rest[n:]
	}
	f.Message = rest
	return f, nil
}

// decodeConfluent sees to it that the message is the one that is wanted: another one of the same file could be read
// as if it were.
func decodeConfluent(payload []byte, m proto.Message) error {
	f, err := ReadFrame(payload)
	if err != nil {
		return err
	}
	d := m.ProtoReflect().Descriptor()
	if own := pathOf(d); !slices.Equal(f.Path, own) {
		return fmt.Errorf("it is the message %v of the file of schema %d, and %s is %v", f.Path, f.SchemaID, d.FullName(), own)
	}
	return unmarshal(f.Message, m)
}

// appendFrame appends what goes before the binary encoding. The first message of a file, which most are, is one
// byte.
func appendFrame(dst []byte, schemaID int32, d protoreflect.MessageDescriptor) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, 0), uint32(schemaID))
	path := pathOf(d)
	if len(path) == 1 && path[0] == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(len(path)))
	for _, step := range path {
		dst = binary.AppendVarint(dst, int64(step))
	}
	return dst
}

func pathOf(d protoreflect.Descriptor) []int {
	var path []int
	for {
		m, ok := d.(protoreflect.MessageDescriptor)
		if !ok {
			slices.Reverse(path)
			return path
		}
		path = append(path, m.Index())
		d = m.Parent()
	}
}
