package payload

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/dynamic"
)

// maxDepth is deeper than any decoder goes.
const maxDepth = 200

// redactor clears fields that nobody may see, and remembers where they were.
type redactor struct {
	types *dynamicpb.Types
	// hidden are what was there, encoded, by its path: several of one path where it is within a map.
	hidden map[string][]string
	// unknown are the paths and bytes of what the schema does not know.
	unknown []string
}

func (r *redactor) hide(path string, value []byte) {
	r.hidden[path] = append(r.hidden[path], string(value))
}

// encoded is a message's field on the wire.
func encoded(m protoreflect.Message, f protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	one := m.New()
	one.Set(f, v)
	bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(one.Interface()) // it was decoded
	return bytes
}

func (r *redactor) message(m protoreflect.Message, path string, depth int) {
	// What the schema does not know may be a field that it would hide; JSON leaves it out.
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		r.unknown = append(r.unknown, path+string(unknown))
		m.SetUnknown(nil)
	}
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		r.any(m, path, depth)
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		at := path + f.TextName()
		if isRedacted(f) || depth > maxDepth {
			r.hide(at, encoded(m, f, v))
			m.Clear(f)
			return true
		}
		r.value(f, v, at, depth)
		return true
	})
}

func (r *redactor) value(f protoreflect.FieldDescriptor, v protoreflect.Value, at string, depth int) {
	switch {
	case f.IsMap():
		if f.MapValue().Message() != nil {
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				r.message(v.Message(), at+"[].", depth+1) // a key may be as secret as a value
				return true
			})
		}
	case f.Message() == nil:
	case f.IsList():
		for i := range v.List().Len() {
			r.message(v.List().Get(i).Message(), fmt.Sprintf("%s[%d].", at, i), depth+1)
		}
	default:
		r.message(v.Message(), at+".", depth+1)
	}
}

// any looks into a message within an Any, and clears what it cannot read.
func (r *redactor) any(m protoreflect.Message, path string, depth int) {
	fields := m.Descriptor().Fields()
	url, value := fields.ByName("type_url"), fields.ByName("value")
	inner, err := r.types.FindMessageByURL(m.Get(url).String())
	if err == nil {
		message := inner.New()
		if err = dynamic.Unmarshal(m.Get(value).Bytes(), message.Interface()); err == nil {
			r.message(message, path, depth+1)
			var bytes []byte
			if bytes, err = proto.Marshal(message.Interface()); err == nil {
				m.Set(value, protoreflect.ValueOfBytes(bytes))
				return
			}
		}
	}
	r.hide(path+"value", slices.Concat([]byte(m.Get(url).String()), m.Get(value).Bytes()))
	m.Clear(url)
	m.Clear(value)
}

// keepHidden copies fields that nobody may see from the message that another one replaces, where that one lacks them. It
// looks into messages that both have, and not into lists and maps, whose elements may be others by now.
func keepHidden(from, to protoreflect.Message, depth int) (kept bool) {
	if depth > maxDepth {
		return false
	}
	from.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch has := to.Has(f); {
		case isRedacted(f) && !has && !otherOfOneof(f, to):
			to.Set(f, v)
			kept = true
		case has && f.Message() != nil && !f.IsList() && !f.IsMap() && !isRedacted(f):
			kept = keepHidden(v.Message(), to.Mutable(f).Message(), depth+1) || kept
		}
		return true
	})
	return kept
}

// otherOfOneof says that the repair has chosen another field of a oneof.
func otherOfOneof(f protoreflect.FieldDescriptor, m protoreflect.Message) bool {
	oneof := f.ContainingOneof()
	return oneof != nil && m.WhichOneof(oneof) != nil
}

// isRedacted says that a field is marked debug_redact.
func isRedacted(f protoreflect.FieldDescriptor) bool {
	options, ok := f.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetDebugRedact()
}
