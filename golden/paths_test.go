package golden_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
)

// KEY-004 to KEY-006, of wrappers and paths.
func TestPaths(t *testing.T) {
	t.Parallel()
	checkKeys(t, []keyCase{
		{"wrappers of zeros", &pb.Wrappers{
			BoolValue: wrapperspb.Bool(false), BytesValue: wrapperspb.Bytes(nil), Int32Value: wrapperspb.Int32(0), Int64Value: wrapperspb.Int64(0),
			StringValue: wrapperspb.String(""), Uint32Value: wrapperspb.UInt32(0), Uint64Value: wrapperspb.UInt64(0),
		}, "v1:false::0:0::0:0"},
		{"wrapper missing", &pb.Wrappers{}, "KEY_COMPONENT_MISSING bool_value"},
		{"wrappers allowed", &pb.WrappersAllow{}, "v1:~:~:~:~:~:~"},
		{"wrappers with options", &pb.WrappersAllow{
			Text: wrapperspb.String(" "), Amount: wrapperspb.String("1.0"), Id: wrapperspb.String("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"),
			WrittenAt: wrapperspb.String("2025-01-01T00:00:00Z"), CountedAt: wrapperspb.UInt32(0), Flag: wrapperspb.Bool(true),
		}, "v1:%20:1:f81d4fae-7dec-11d0-a765-00a0c91e6bf6:2025-01-01T00:00:00.000Z:1970-01-01T00:00:00.000Z:true"},
		{"wrapped decimal empty", &pb.WrappersAllow{Amount: wrapperspb.String("")}, "DECIMAL_SYNTAX amount"},
		{"path", &pb.Paths{Customer: &pb.Customer{Id: "c", Address: &pb.Customer_Address{City: "x", Zip: proto.String(""), Floor: wrapperspb.String("")}}}, "v1:c:x::"},
		{"path unset", &pb.Paths{}, "KEY_COMPONENT_MISSING customer.id"},
		{"path unset below", &pb.Paths{Customer: &pb.Customer{Id: "c"}}, "KEY_COMPONENT_MISSING customer.address.city"},
		{"path without zip", &pb.Paths{Customer: &pb.Customer{Id: "c", Address: &pb.Customer_Address{City: "x"}}}, "KEY_COMPONENT_MISSING customer.address.zip"},
		{"paths allowed unset", &pb.PathsAllow{}, "v1:~:~:~:~:~"},
		{"paths allowed empty", &pb.PathsAllow{Customer: &pb.Customer{}}, "v1::~:0:~:~"},
		{"paths allowed set", &pb.PathsAllow{Customer: &pb.Customer{
			Note: "~", Title: proto.String(""), Level: -3, Since: &timestamppb.Timestamp{}, Contact: &pb.Customer_Mail{Mail: "a@b"},
		}}, "v1:%7E::-3:1970-01-01T00:00:00.000Z:a%40b"},
		{"oneof of messages", &pb.PathsOneof{Party: &pb.PathsOneof_Buyer{Buyer: &pb.Customer{
			Id: "b", Contact: &pb.Customer_Postal{Postal: &pb.Customer_Address{City: "x"}},
		}}}, "v1:b:x"},
		{"other member", &pb.PathsOneof{Party: &pb.PathsOneof_Seller{Seller: &pb.Customer{Id: "b"}}}, "KEY_COMPONENT_MISSING buyer.id"},
		{"member without content", &pb.PathsOneofAllow{Party: &pb.PathsOneofAllow_Buyer{Buyer: &pb.Customer{}}}, "v1::~:~"},
		{"member of nothing", &pb.PathsOneofAllow{Party: &pb.PathsOneofAllow_Buyer{}}, "v1::~:~"},
		{"member timestamp of nothing", &pb.PathsOneofAllow{Party: &pb.PathsOneofAllow_Day{}}, "v1:~:~:1970-01-01T00:00:00.000Z"},
		{"tree", &pb.Tree{Id: "a", Parent: &pb.Tree{Parent: &pb.Tree{Id: "c"}}}, "v1:a::c"},
		{"tree without parents", &pb.Tree{Id: "a"}, "v1:a:~:~"},
		{"nested", &pb.Outer_Inner{Id: "a", Innermost: &pb.Outer_Inner_Innermost{Kind: pb.Outer_Inner_Innermost_KIND_PLAIN}}, "v1:a:1"},
		{"dash file", &pb.DashFile{Customer: &pb.Customer{Id: "a"}}, "v1:a"},
	})
}
