package changes

import (
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/wrapperspb" // registers what renders compares with

	"github.com/idem-spec/idem/internal/schema"
)

// The bounds of samples: no example needs a larger message.
const (
	maxSampleFields     = 64
	maxSampleComponents = 32
)

// samplesOf are payloads of a message in wire format, always the same ones: the first is what a producer
// may send, the others have one component at an edge of its kind.
func samplesOf(m *schema.Message) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		components := componentsOf(m)
		plain := sample(m, components)
		if !yield(marshal(plain)) {
			return
		}
		for _, c := range components {
			for _, edge := range edges(c) {
				at := proto.Clone(plain.Interface()).ProtoReflect()
				edge(leafMessage(at, c), c.Leaf())
				if !yield(marshal(at)) {
					return
				}
			}
		}
	}
}

func marshal(m protoreflect.Message) []byte {
	b, _ := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m.Interface())
	return b
}

// componentsOf are the components of a message's templates, each field once.
func componentsOf(m *schema.Message) []*schema.Component {
	var all []*schema.Component
	add := func(c *schema.Component) {
		known := func(other *schema.Component) bool { return other.Name == c.Name }
		if c != nil && len(all) < maxSampleComponents && !slices.ContainsFunc(all, known) {
			all = append(all, c)
		}
	}
	for _, t := range m.Templates() {
		for _, s := range t.Segments {
			if s.Component != nil {
				add(s.Component)
			}
		}
	}
	if m.OccurredAt != nil {
		add(m.OccurredAt)
	}
	return all
}

// sample is a message as a producer may send it. Components come last, so that of a oneof they are what
// is set.
func sample(m *schema.Message, components []*schema.Component) protoreflect.Message {
	message := dynamicpb.NewMessage(m.Desc)
	fields := m.Desc.Fields()
	for i := range min(fields.Len(), maxSampleFields) {
		if d := fields.Get(i); d.Cardinality() != protoreflect.Repeated && d.Message() == nil {
			message.Set(d, scalar(d, nil))
		}
	}
	for _, c := range components {
		setLeaf(leafMessage(message, c), c.Leaf(), c)
	}
	return message
}

// leafMessage is the message that holds a component's leaf; those on the path to it are set.
func leafMessage(m protoreflect.Message, c *schema.Component) protoreflect.Message {
	for _, d := range c.Path[:len(c.Path)-1] {
		m = m.Mutable(d).Message()
	}
	return m
}

// setLeaf sets a component's field to a value of its kind.
func setLeaf(m protoreflect.Message, d protoreflect.FieldDescriptor, c *schema.Component) {
	if d.Message() == nil {
		m.Set(d, scalar(d, c))
		return
	}
	inner := m.Mutable(d).Message()
	parts := valueParts[c.Kind]
	for _, part := range parts {
		if f := partOf(inner.Descriptor(), part.name); f != nil && f.Kind() == part.kind {
			inner.Set(f, protoreflect.ValueOf(part.value))
		}
	}
	if value := partOf(inner.Descriptor(), "value"); value != nil && len(parts) == 0 {
		inner.Set(value, scalarOf(value.Kind(), d, c))
	}
}

// part is a field of a message that stands for one value.
type part struct {
	name  protoreflect.Name
	kind  protoreflect.Kind
	value any
}

// valueParts are the fields of the values that are messages, but for wrappers.
var valueParts = map[schema.Kind][]part{
	schema.Timestamp: {{"seconds", protoreflect.Int64Kind, int64(1735704000)}, {"nanos", protoreflect.Int32Kind, int32(123456789)}},
	schema.Duration:  {{"seconds", protoreflect.Int64Kind, int64(90)}, {"nanos", protoreflect.Int32Kind, int32(123456789)}},
	schema.Date: {
		{"year", protoreflect.Int32Kind, int32(2025)},
		{"month", protoreflect.Int32Kind, int32(1)},
		{"day", protoreflect.Int32Kind, int32(31)},
	},
	schema.DecimalMessage: {{"value", protoreflect.StringKind, "100.50"}},
	schema.Money: {
		{"currency_code", protoreflect.StringKind, "USD"},
		{"units", protoreflect.Int64Kind, int64(100)},
		{"nanos", protoreflect.Int32Kind, int32(500000000)},
	},
}

// partOf is a singular field of that name, or nil.
func partOf(d protoreflect.MessageDescriptor, name protoreflect.Name) protoreflect.FieldDescriptor {
	f := d.Fields().ByName(name)
	if f == nil || f.Cardinality() == protoreflect.Repeated || f.Message() != nil {
		return nil
	}
	return f
}

// renders says whether a component's value has the fields that its name promises: a file may declare a
// google.protobuf.Timestamp of its own.
func renders(c *schema.Component) bool {
	m := c.Leaf().Message()
	if m == nil {
		return true
	}
	for _, part := range valueParts[c.Kind] {
		if f := partOf(m, part.name); f == nil || f.Kind() != part.kind {
			return false
		}
	}
	return !c.Wrapper || wraps(m)
}

// wraps says whether a message is what google.protobuf declares under its name.
func wraps(m protoreflect.MessageDescriptor) bool {
	value := partOf(m, "value")
	known, err := protoregistry.GlobalTypes.FindMessageByName(m.FullName())
	return value != nil && err == nil && known.Descriptor().Fields().ByName("value").Kind() == value.Kind()
}

// scalar is a value of a field; c is nil where no template names it.
func scalar(d protoreflect.FieldDescriptor, c *schema.Component) protoreflect.Value {
	return scalarOf(d.Kind(), d, c)
}

func scalarOf(kind protoreflect.Kind, d protoreflect.FieldDescriptor, c *schema.Component) protoreflect.Value {
	var as schema.Kind
	unit := int64(1)
	if c != nil {
		as = c.Kind
		unit = map[schema.Unit]int64{"ms": 1e3, "us": 1e6, "ns": 1e9}[c.Unit]
	}
	number := int64(17)
	if as == schema.TimestampEpoch {
		number = 1735704000 * max(unit, 1)
	}
	switch kind {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(member(d.Enum()))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(number)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(number))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(number))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(1.5)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(1.5)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{0x17, 0xab})
	default:
		return protoreflect.ValueOfString(word(d, as))
	}
}

// member is the first value of an enum that is not 0, where there is one.
func member(d protoreflect.EnumDescriptor) protoreflect.EnumNumber {
	for i := range d.Values().Len() {
		if n := d.Values().Get(i).Number(); n != 0 {
			return n
		}
	}
	return 0
}

// word is a text that fits a field: order-17 for order_id.
func word(d protoreflect.FieldDescriptor, kind schema.Kind) string {
	switch kind {
	case schema.UUID:
		return "0F8FAD5B-D9CB-469F-A165-70867728950E"
	case schema.DecimalText:
		return "100.50"
	case schema.TimestampText:
		return "2025-01-01T05:00:00.123456789+01:00"
	}
	name := string(d.Name())
	if strings.Contains(name, "currency") {
		return "USD"
	}
	name = strings.Trim(strings.ReplaceAll(strings.TrimSuffix(name, "_id"), "_", "-"), "-")
	return name[:min(len(name), 40)] + "-17"
}

// edge changes the field of a message to an edge of its kind.
type edge func(m protoreflect.Message, d protoreflect.FieldDescriptor)

// edges are what a component's field may be beside the plain sample.
func edges(c *schema.Component) []edge {
	all := []edge{clearField, setZero}
	if kind, ok := textKind(c); ok {
		for _, text := range []string{
			"A/b", "0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5BD9CB469FA16570867728950E", "1.5", "+0100.500",
			"2025-01-01T05:00:00.987654321+01:00", "0", "-", fraction(c.MaxScale), fraction(c.MaxScale + 1),
		} {
			all = append(all, setValue(textOf(kind, text)))
		}
	}
	for _, n := range []int64{-1, 1, 2, 3, 1735704000, 4000000000, 1735704000123} {
		all = append(all, setNumber(n))
	}
	for _, nanos := range []int32{999999999, 500000000, 1000000, 1} {
		all = append(all, setNanos(nanos))
	}
	return all
}

// fraction is a decimal of so many fraction digits, as far as a decimal can have them.
func fraction(digits int) string { return "0." + strings.Repeat("1", min(max(digits, 1), maxScale)) }

func clearField(m protoreflect.Message, d protoreflect.FieldDescriptor) { m.Clear(d) }

// setZero sets the zero value, which is on the wire where the field has presence.
func setZero(m protoreflect.Message, d protoreflect.FieldDescriptor) { m.Set(d, m.NewField(d)) }

// textKind says whether a component's field, or the value in it, is a string or bytes.
func textKind(c *schema.Component) (protoreflect.Kind, bool) {
	d := c.Leaf()
	if d.Message() != nil {
		if d = partOf(d.Message(), "value"); d == nil {
			return 0, false
		}
	}
	return d.Kind(), d.Kind() == protoreflect.StringKind || d.Kind() == protoreflect.BytesKind
}

func textOf(kind protoreflect.Kind, s string) protoreflect.Value {
	if kind == protoreflect.BytesKind {
		return protoreflect.ValueOfBytes([]byte(s))
	}
	return protoreflect.ValueOfString(s)
}

// setValue sets a field, or the value of the message in it.
func setValue(v protoreflect.Value) edge {
	return func(m protoreflect.Message, d protoreflect.FieldDescriptor) {
		if d.Message() != nil {
			m = m.Mutable(d).Message()
			d = partOf(m.Descriptor(), "value")
		}
		m.Set(d, v)
	}
}

// setNumber sets a number where the field has one and it fits.
func setNumber(n int64) edge {
	return func(m protoreflect.Message, d protoreflect.FieldDescriptor) {
		if d.Message() != nil {
			m = m.Mutable(d).Message()
			if d = partOf(m.Descriptor(), "value"); d == nil {
				return
			}
		}
		switch d.Kind() {
		case protoreflect.EnumKind:
			m.Set(d, protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(n))))
		case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
			m.Set(d, protoreflect.ValueOfInt32(int32(n)))
		case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
			m.Set(d, protoreflect.ValueOfInt64(n))
		case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
			m.Set(d, protoreflect.ValueOfUint32(uint32(n)))
		case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
			m.Set(d, protoreflect.ValueOfUint64(uint64(n)))
		}
	}
}

// setNanos sets the fraction of a timestamp or a duration.
func setNanos(nanos int32) edge {
	return func(m protoreflect.Message, d protoreflect.FieldDescriptor) {
		if d.Message() == nil {
			return
		}
		m = m.Mutable(d).Message()
		if d = partOf(m.Descriptor(), "nanos"); d != nil && d.Kind() == protoreflect.Int32Kind {
			m.Set(d, protoreflect.ValueOfInt32(nanos))
		}
	}
}
