package golden_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/decimal"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// KEY-003 and OPT-023.
func TestDigests(t *testing.T) {
	t.Parallel()
	none := sha("")
	checkKeys(t, []keyCase{
		{"string", &pb.DigestString{Mail: "a:b é"}, "v1:" + sha("a:b é")},
		{"long string", &pb.DigestString{Mail: strings.Repeat("é", 5000)}, "v1:" + sha(strings.Repeat("é", 5000))},
		{"bytes", &pb.DigestBytes{Secret: []byte{0xAB, 0}}, "v1:" + sha("ab00")},
		{"long bytes", &pb.DigestBytes{Secret: make([]byte, 5000)}, "v1:" + sha(strings.Repeat("00", 5000))},
		{"missing", &pb.DigestBytes{}, "KEY_COMPONENT_MISSING secret"},
		{"allowed", &pb.DigestAllow{}, "v1:" + none + ":~"},
		{"allowed and empty", &pb.DigestAllow{Wrapped: wrapperspb.String("")}, "v1:" + none + ":" + none},
		{"kinds unset", &pb.Digests{}, "v1:~:~:~:~:~:~:~:~:~:~:~:~:~"},
		{"kinds", &pb.Digests{
			Flag: proto.Bool(false), Int32Value: proto.Int32(-1), Uint64Value: proto.Uint64(2), Color: pb.Digests_HUE_WARM.Enum(), Amount: proto.String("1.0"),
			Id: proto.String("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"), At: &timestamppb.Timestamp{}, WrittenAt: proto.String("2025-01-01T00:00:00Z"),
			CountedAt: proto.Int64(1), Wait: &durationpb.Duration{}, Day: &date.Date{Year: 2024, Month: 1, Day: 2}, Decimal: &decimal.Decimal{}, Price: &money.Money{CurrencyCode: "USD"},
		}, "v1:" + sha("false") + ":" + sha("-1") + ":" + sha("2") + ":" + sha("1") + ":" + sha("1") + ":" + sha("f81d4fae-7dec-11d0-a765-00a0c91e6bf6") + ":" +
			sha("1970-01-01T00:00:00.000Z") + ":" + sha("2025-01-01T00:00:00.000Z") + ":" + sha("1970-01-01T00:00:00.001Z") + ":" + sha("0.000s") + ":" +
			sha("2024-01-02") + ":" + sha("0") + ":" + sha("USD0")},
		{"below a redacted message", &pb.RedactedPath{Person: &pb.RedactedPath_Person{Mail: "m"}}, "v1:" + sha("m")},
	})

	// GEN-006: what is marked debug_redact is in no error.
	_, err := (&pb.RedactedPath{Person: &pb.RedactedPath_Person{Mail: "secret\xff"}}).IdemKey()
	require.Equal(t, "STRING_UTF8 person.mail", problemOf(err))
	require.NotContains(t, err.Error(), "secret")
	_, err = (&pb.OneString{S: "public\xff"}).IdemKey()
	require.Contains(t, err.Error(), "public")
}
