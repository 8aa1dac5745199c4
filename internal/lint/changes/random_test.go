package changes_test

import (
	"fmt"
	"math/rand/v2"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/schema"
)

// randomMessage is a message that a producer may send: mostly of values that have a text, sometimes not.
func randomMessage(m *schema.Message, r *rand.Rand) proto.Message {
	kinds := make(map[protoreflect.FieldDescriptor]schema.Kind)
	for _, t := range m.Templates() {
		for _, s := range t.Segments {
			if s.Component != nil {
				kinds[s.Component.Leaf()] = s.Component.Kind
			}
		}
	}
	message := dynamicpb.NewMessage(m.Desc)
	fill(message, r, kinds)
	return message
}

func fill(m protoreflect.Message, r *rand.Rand, kinds map[protoreflect.FieldDescriptor]schema.Kind) {
	for i := range m.Descriptor().Fields().Len() {
		d := m.Descriptor().Fields().Get(i)
		switch {
		case d.IsList() || d.IsMap() || r.IntN(8) == 0:
		case d.Message() == nil:
			m.Set(d, randomScalar(d, r, kinds[d]))
		default:
			fillMessage(m.Mutable(d).Message(), r, kinds)
		}
	}
}

func fillMessage(m protoreflect.Message, r *rand.Rand, kinds map[protoreflect.FieldDescriptor]schema.Kind) {
	set := func(name protoreflect.Name, v any) {
		m.Set(m.Descriptor().Fields().ByName(name), protoreflect.ValueOf(v))
	}
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		set("seconds", r.Int64N(4102444800))
		set("nanos", int32(r.IntN(1e9)))
	case "google.type.Money":
		set("currency_code", pick(r, "USD", "EUR", "JPY"))
		set("units", r.Int64N(1e6))
		set("nanos", int32(r.IntN(1e9)))
	default:
		fill(m, r, kinds)
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomScalar(d protoreflect.FieldDescriptor, r *rand.Rand, kind schema.Kind) protoreflect.Value {
	number := pick(r, 0, 1, -1, 17, r.Int64(), -r.Int64(), r.Int64N(1<<33))
	switch d.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.IntN(9)))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(number)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(number))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(number))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(number))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(number))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(randomText(r, kind)))
	default:
		return protoreflect.ValueOfString(randomText(r, kind))
	}
}

func randomText(r *rand.Rand, kind schema.Kind) string {
	uuid := fmt.Sprintf("%08X-%04x-4%03X-a%03x-%012X", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
	decimal := pick(r, "", "-", "+") + pick(r, "0", "100", "007", fmt.Sprint(r.IntN(1e6))) + pick(r, "", ".5", ".50", ".25", ".0001", "e1")
	switch kind {
	case schema.UUID:
		return uuid
	case schema.DecimalText:
		return decimal
	}
	return pick(r, "order-"+fmt.Sprint(r.IntN(1000)), "p/"+fmt.Sprint(r.IntN(1000)), "Grüße, 北京", "", "~", "a:b", uuid, decimal, "2025-01-01T04:00:00Z")
}
