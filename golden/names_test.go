package golden_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
)

func TestNames(t *testing.T) {
	t.Parallel()
	checkKeys(t, []keyCase{
		{"outer class", &pb.Names{Id: "a"}, "v1:a"},
		{"methods", &pb.Methods{
			Reset_: "1", Marshal_: "3", Unmarshal_: "4", ProtoMessage_: "5", ExtensionMap_: "6", XX: "7", Class: "8", CachedSize: "9",
			Foo: proto.String("10"), GetFoo_: "11", HasFoo: proto.String("12"),
		}, "v1:1:3:4:5:6:7:8:9:10:11:12"},
		{"collisions", &pb.Collisions{BarCount: "1", Bar: []string{"no"}, Color: 1, ColorValue: "2"}, "v1:1:1:2"},
		{"cases", &pb.Cases{UPPER: "1", CamelCase: "2", PascalCase: "3", With_Two: "4", With_2Digits: "5", Trailing_: "6", X1Y2: "7", URLPath: "8"}, "v1:1:2:3:4:5:6:7:8"},
		{"None", &pb.None{Id: "a"}, "v1:a"},
		{"String", &pb.String{String_: "a"}, "v1:a"},
		{"Object", &pb.Object{Inner: &pb.Object_Integer{Id: "a"}}, "v1:a"},
		{"lower case", &pb.LowerCase{Id: "a"}, "v1:a"},
		{"nested lambda", &pb.LowerCaseLambda{Id: "a"}, "v1:a"},
		{"proto2 collisions", &pb.Proto2Collisions{FooBar: proto.String("1"), FooBar_: proto.String("2"), Field_1: proto.String("3"), Field1: proto.String("4")}, "v1:1:2:3:4"},
	})
}
