package golden_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/decimal"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	edition2024v1 "github.com/idem-spec/idem/golden/go/idem/conformance/edition2024/v1"
	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
)

// PLUG-011: nothing is allocated where the buffer has room, and one string otherwise.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	m := &pb.Everything{Id: "p/17", Line: 3, OrderId: "o-17", Amount: "100.00", Currency: "USD", OccurredAt: timestamppb.Now()}
	digests := &pb.Digests{
		Flag: proto.Bool(false), Int32Value: proto.Int32(-1), Amount: proto.String("1.0"), At: &timestamppb.Timestamp{}, Decimal: &decimal.Decimal{},
		Price: &money.Money{CurrencyCode: "USD"}, Day: &date.Date{Year: 2024, Month: 1, Day: 2}, Wait: &durationpb.Duration{},
	}
	scalars := &pb.ScalarsImplicitAllow{StringValue: "é", BytesValue: []byte("abc")}
	opaque := edition2024v1.Opaque_builder{Text: proto.String("x"), Sub: edition2024v1.Opaque_Sub_builder{Id: proto.String("")}.Build()}.Build()
	buf := make([]byte, 0, 2048)
	for name, f := range map[string]func() ([]byte, error){
		"key":         func() ([]byte, error) { return m.AppendIdemKey(buf) },
		"previous":    func() ([]byte, error) { return m.AppendIdemKeyPrevious(buf) },
		"biz key":     func() ([]byte, error) { return m.AppendIdemBizKey(buf) },
		"fingerprint": func() ([]byte, error) { return m.AppendIdemFingerprint(buf) },
		"digests":     func() ([]byte, error) { return digests.AppendIdemKey(buf) },
		"scalars":     func() ([]byte, error) { return scalars.AppendIdemKey(buf) },
		"opaque":      func() ([]byte, error) { return opaque.AppendIdemKey(buf) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if _, err := f(); err != nil {
				panic(err)
			}
		}), name)
	}
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { _, _ = m.IdemKey() }))
}
