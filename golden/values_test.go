package golden_test

import (
	"testing"

	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/decimal"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
)

// Chapter 2, over messages.
func TestValues(t *testing.T) {
	t.Parallel()
	checkKeys(t, []keyCase{
		{"decimal", &pb.DecimalText{Amount: "+1.50e1"}, "v1:15"},
		{"decimal missing", &pb.DecimalText{}, "KEY_COMPONENT_MISSING amount"},
		{"decimal wrong", &pb.DecimalText{Amount: "1,5"}, "DECIMAL_SYNTAX amount"},
		{"decimal scale", &pb.DecimalTextScale{Amount: "1.005"}, "DECIMAL_SCALE amount"},
		{"decimal scale zeros", &pb.DecimalTextScale{Amount: "1.500"}, "v1:1.5"},
		{"decimal set and empty", &pb.DecimalTextWhole{Amount: proto.String("")}, "DECIMAL_SYNTAX amount"},
		{"decimal whole", &pb.DecimalTextWhole{Amount: proto.String("0.5")}, "DECIMAL_SCALE amount"},
		{"decimal allowed and empty", &pb.DecimalTextAllow{}, "DECIMAL_SYNTAX amount"},
		{"Decimal", &pb.DecimalMessage{Amount: &decimal.Decimal{Value: "1E2"}}, "v1:100"},
		{"Decimal empty", &pb.DecimalMessage{Amount: &decimal.Decimal{}}, "v1:0"},
		{"Decimal missing", &pb.DecimalMessage{}, "KEY_COMPONENT_MISSING amount"},
		{"Decimal allowed", &pb.DecimalMessageScale{}, "v1:~"},
		{"Decimal scale", &pb.DecimalMessageScale{Amount: &decimal.Decimal{Value: "0.0005"}}, "DECIMAL_SCALE amount"},
		{"money", &pb.MoneyValue{Price: &money.Money{CurrencyCode: "USD", Units: -10, Nanos: -500000000}}, "v1:USD-10.5"},
		{"money wrong", &pb.MoneyValue{Price: &money.Money{}}, "MONEY_CURRENCY price"},
		{"timestamp", &pb.TimestampDefault{At: &timestamppb.Timestamp{Seconds: 1735704000, Nanos: 1999999}}, "v1:2025-01-01T04:00:00.001Z"},
		{"timestamp empty", &pb.TimestampDefault{At: &timestamppb.Timestamp{}}, "v1:1970-01-01T00:00:00.000Z"},
		{"timestamp missing", &pb.TimestampDefault{}, "KEY_COMPONENT_MISSING at"},
		{"timestamp nanos", &pb.TimestampDefault{At: &timestamppb.Timestamp{Nanos: -1}}, "TIMESTAMP_RANGE at"},
		{"timestamp seconds", &pb.TimestampSeconds{At: &timestamppb.Timestamp{Seconds: -1, Nanos: 999999999}}, "v1:1969-12-31T23:59:59Z"},
		{"timestamp allowed", &pb.TimestampSeconds{}, "v1:~"},
		{"timestamp nine digits", &pb.TimestampNanos{At: &timestamppb.Timestamp{Nanos: 1}}, "v1:1970-01-01T00:00:00.000000001Z"},
		{"timestamp text", &pb.TimestampText{At: "2025-01-01T04:00:00.123456789+02:00"}, "v1:2025-01-01T02:00:00.123456Z"},
		{"timestamp text wrong", &pb.TimestampText{At: "2025-01-01 04:00:00Z"}, "TIMESTAMP_SYNTAX at"},
		{"epoch seconds", &pb.EpochSeconds{At: proto.Int64(-1)}, "v1:1969-12-31T23:59:59.000Z"},
		{"epoch millis", &pb.EpochMillis{At: -1}, "v1:1969-12-31T23:59:59.999Z"},
		{"epoch millis zero", &pb.EpochMillis{}, "v1:1970-01-01T00:00:00.000Z"},
		{"epoch micros zero", &pb.EpochMicros{}, "KEY_COMPONENT_MISSING at"},
		{"epoch micros", &pb.EpochMicros{At: 1}, "v1:1970-01-01T00:00:00.000001Z"},
		{"epoch nanos", &pb.EpochNanos{At: proto.Uint64(18446744073709551615)}, "v1:2554-07-21T23:34:33.709551615Z"},
		{"epoch of 32 bits", &pb.Epoch32{Signed: proto.Int32(-2147483648), Unsigned: proto.Uint32(4294967295), Fixed: proto.Uint32(999)},
			"v1:1901-12-13T20:45:52.000Z:2106-02-07T06:28:15.000Z:1970-01-01T00:00:00Z"},
		{"duration", &pb.DurationDefault{Wait: &durationpb.Duration{Seconds: -1, Nanos: -500000000}}, "v1:-1.500s"},
		{"duration cut", &pb.DurationSeconds{Wait: &durationpb.Duration{Nanos: -999999999}}, "v1:0s"},
		{"duration nine digits", &pb.DurationNanos{Wait: &durationpb.Duration{Nanos: 1}}, "v1:0.000000001s"},
		{"duration wrong", &pb.DurationDefault{Wait: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "DURATION_RANGE wait"},
		{"date", &pb.DateValue{Day: &date.Date{Year: 2024, Month: 2, Day: 29}}, "v1:2024-02-29"},
		{"date partial", &pb.DateValue{Day: &date.Date{Year: 2024}}, "DATE_RANGE day"},
		{"uuid", &pb.UuidText{Id: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"}, "v1:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"uuid wrong", &pb.UuidText{Id: "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}"}, "UUID_SYNTAX id"},
	})
}
