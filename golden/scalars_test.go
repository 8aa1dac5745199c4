package golden_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
)

// KEY-004 to KEY-006, TXT-050 to TXT-054.
func TestScalars(t *testing.T) {
	t.Parallel()
	full := func() *pb.ScalarsImplicit {
		return &pb.ScalarsImplicit{
			Int32Value: -1, Int64Value: -9223372036854775808, Uint32Value: 4294967295, Uint64Value: 18446744073709551615,
			Sint32Value: -2147483648, Sint64Value: 1, Fixed32Value: 4294967295, Fixed64Value: 14356348954446861389,
			Sfixed32Value: -5, Sfixed64Value: 9223372036854775807, BoolValue: true, StringValue: "é:~", BytesValue: []byte{0, 255, 10},
			ColorValue: pb.Color(-77),
		}
	}
	const text = "v1:-1:-9223372036854775808:4294967295:18446744073709551615:-2147483648:1:4294967295:14356348954446861389:-5:" +
		"9223372036854775807:true:%C3%A9%3A%7E:00ff0a:-77"
	missing := func(clear func(m *pb.ScalarsImplicit)) *pb.ScalarsImplicit {
		m := full()
		clear(m)
		return m
	}
	explicit := &pb.ScalarsExplicit{
		Int32Value: proto.Int32(0), Int64Value: proto.Int64(0), Uint32Value: proto.Uint32(0), Uint64Value: proto.Uint64(0),
		Sint32Value: proto.Int32(0), Sint64Value: proto.Int64(0), Fixed32Value: proto.Uint32(0), Fixed64Value: proto.Uint64(0),
		Sfixed32Value: proto.Int32(0), Sfixed64Value: proto.Int64(0), BoolValue: proto.Bool(false), StringValue: proto.String(""),
		BytesValue: []byte{}, ColorValue: pb.Color_COLOR_UNSPECIFIED.Enum(),
	}
	checkKeys(t, []keyCase{
		{"full", full(), text},
		{"zero int32", missing(func(m *pb.ScalarsImplicit) { m.Int32Value = 0 }), "KEY_COMPONENT_MISSING int32_value"},
		{"zero fixed64", missing(func(m *pb.ScalarsImplicit) { m.Fixed64Value = 0 }), "KEY_COMPONENT_MISSING fixed64_value"},
		{"false", missing(func(m *pb.ScalarsImplicit) { m.BoolValue = false }), "KEY_COMPONENT_MISSING bool_value"},
		{"empty string", missing(func(m *pb.ScalarsImplicit) { m.StringValue = "" }), "KEY_COMPONENT_MISSING string_value"},
		{"no bytes", missing(func(m *pb.ScalarsImplicit) { m.BytesValue = nil }), "KEY_COMPONENT_MISSING bytes_value"},
		{"zero enum", missing(func(m *pb.ScalarsImplicit) { m.ColorValue = 0 }), "KEY_COMPONENT_MISSING color_value"},
		{"implicit allow zero", &pb.ScalarsImplicitAllow{}, "v1:0:0:0:0:0:0:0:0:0:0:false:::0"},
		{"explicit zero", explicit, "v1:0:0:0:0:0:0:0:0:0:0:false:::0"},
		{"explicit unset", &pb.ScalarsExplicit{}, "KEY_COMPONENT_MISSING int32_value"},
		{"explicit allow unset", &pb.ScalarsExplicitAllow{}, "v1:~:~:~:~:~:~:~:~:~:~:~:~:~:~"},
		{"explicit allow empty bytes", &pb.ScalarsExplicitAllow{BytesValue: []byte{}}, "v1:~:~:~:~:~:~:~:~:~:~:~:~::~"},
		{"oneof none", &pb.ScalarsOneof{}, "v1:~:~:~:~:~:~:~:~:~:~:~:~:~:~"},
		{"oneof zero", &pb.ScalarsOneof{Value: &pb.ScalarsOneof_Uint32Value{}}, "v1:~:~:0:~:~:~:~:~:~:~:~:~:~:~"},
		{"oneof empty string", &pb.ScalarsOneof{Value: &pb.ScalarsOneof_StringValue{}}, "v1:~:~:~:~:~:~:~:~:~:~:~::~:~"},
		{"oneof error", &pb.OneofError{K: &pb.OneofError_A{A: "x"}}, "KEY_COMPONENT_MISSING b"},
		{"oneof zero counts", &pb.OneofError{K: &pb.OneofError_B{}}, "v1:0"},
		{"alias", &pb.OneShade{Shade: pb.Shade_SHADE_GRAY.Enum()}, "v1:1"},
		{"largest enum", &pb.ScalarsExplicitAllow{ColorValue: pb.Color_COLOR_LAST.Enum()}, "v1:~:~:~:~:~:~:~:~:~:~:~:~:~:2147483647"},
		{"nothing at all", (*pb.ScalarsExplicit)(nil), "KEY_COMPONENT_MISSING int32_value"},
		{"no oneof at all", (*pb.OneofError)(nil), "KEY_COMPONENT_MISSING b"},
	})
}
