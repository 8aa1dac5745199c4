package golden_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	edition2024v1 "github.com/idem-spec/idem/golden/go/idem/conformance/edition2024/v1"
	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
)

// PLUG-007, and each API of Go.
func TestSyntaxes(t *testing.T) {
	t.Parallel()
	checkKeys(t, []keyCase{
		{"required", &pb.Proto2Required{Id: proto.String("")}, "v1:"},
		{"required unset", &pb.Proto2Required{}, "KEY_COMPONENT_MISSING id"},
		{"defaults are not looked at", &pb.Proto2Defaults{}, "KEY_COMPONENT_MISSING number"},
		{"defaults that are set", &pb.Proto2Defaults{Number: proto.Int32(5), Text: proto.String(""), Data: []byte{}, Flag: proto.Bool(false)}, "v1:5:::false"},
		{"defaults allowed", &pb.Proto2DefaultsAllow{}, "v1:~:~:~:~"},
		{"text that nobody checks", &pb.Proto2Text{Text: proto.String("a\xff")}, "STRING_UTF8 text"},
		{"digest of text that nobody checks", &pb.Proto2Text{Text: proto.String("a"), Hidden: proto.String("\xed\xa0\x80")}, "STRING_UTF8 hidden"},
		{"the rest of proto2", &pb.Proto2Rest{Id: proto.String("a"), Sub: &pb.Proto2Rest_Sub{Id: proto.String("b")}, Closed: pb.Proto2Closed_PROTO2_CLOSED_TWO.Enum()}, "v1:a:b"},
		{"edition 2023", &pb.Edition2023Presence{Required: proto.String("r"), Number: 1}, "v1::~:r:1:~"},
		{"edition 2023 set", &pb.Edition2023Presence{Implicit: "i", Explicit: proto.String(""), Required: proto.String(""), Number: 1, Counted: proto.Int64(0)}, "v1:i:::1:0"},
		{"edition 2023 zero", &pb.Edition2023Presence{Required: proto.String("")}, "KEY_COMPONENT_MISSING number"},
		{"edition 2023 unchecked", &pb.Edition2023Text{Unchecked: "\xff"}, "STRING_UTF8 unchecked"},
		{"edition 2023 rest", &pb.Edition2023Rest{Open: 9, Sub: &pb.Edition2023Rest_Sub{Id: "s"}, Choice: &pb.Edition2023Rest_At{}}, "v1:9:s:~"},
		{"hybrid", edition2024v1.Hybrid_builder{Id: proto.String(""), Chosen: proto.String("")}.Build(), "v1::~:::~"},
		{"hybrid with sub", edition2024v1.Hybrid_builder{Id: proto.String("1"), HasId: proto.String("2"), Implicit: "3", Sub: edition2024v1.Opaque_Sub_builder{}.Build()}.Build(), "v1:1:2:3:~:~"},
		{"open", &edition2024v1.Open{Id: proto.String("a"), Data: []byte{}}, "v1:a::~"},
		{"opaque", edition2024v1.Opaque_builder{Text: proto.String(""), Sub: edition2024v1.Opaque_Sub_builder{Id: proto.String("")}.Build(), Wrapped: wrapperspb.Int64(0)}.Build(),
			"v1:::~:~:~:~::0"},
		{"opaque unset", &edition2024v1.Opaque{}, "KEY_COMPONENT_MISSING text"},
		{"opaque nothing", (*edition2024v1.Opaque)(nil), "KEY_COMPONENT_MISSING text"},
		{"opaque names", edition2024v1.OpaqueNames_builder{
			Id: proto.String("1"), HasId: proto.String("2"), GetId: proto.String("3"), Build_: proto.String("4"), XX_5: proto.String("5"), XX_6: proto.String("6"),
			IdemKey: proto.String("7"), Class: proto.String("8"),
		}.Build(), "v1:1:2:3:4:5:6:7:8"},
		{"nested in Java", edition2024v1.Nested_builder{Id: proto.String("a")}.Build(), "v1:a"},
	})
}
