package golden_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// KEY-010, KEY-011.
func TestRendering(t *testing.T) {
	t.Parallel()
	long := func(n int) *pb.OneString { return &pb.OneString{S: strings.Repeat("x", n)} }
	room := idem.MaxKeyLen - len("conformance.scalars.string:v1:")
	checkKeys(t, []keyCase{
		{"literals", &pb.Literals{Id: "i"}, "v1:i:of:i:AZaz09._-"},
		{"escapes", &pb.OneString{S: "a%b/c~\x00\x7f"}, "v1:a%25b%2Fc%7E%00%7F"},
		{"longest", long(room), "v1:" + strings.Repeat("x", room)},
		{"too long", long(room + 1), "KEY_TOO_LONG "},
		{"much too long", long(1 << 20), "KEY_TOO_LONG "},
	})

	many := new(pb.Many)
	fields := many.ProtoReflect().Descriptor().Fields()
	require.Equal(t, "KEY_COMPONENT_MISSING p01", keyOf(t, many))
	for i := 0; i < fields.Len(); i++ {
		setString(many, i, strings.Repeat("y", 2000))
	}
	require.Equal(t, "KEY_TOO_LONG ", keyOf(t, many))
	dst, err := many.AppendIdemKey(nil)
	require.Error(t, err)
	require.Empty(t, dst)
	require.Less(t, cap(dst), 32<<10, "of 80000 bytes, and no matter how many components there are")
	setString(many, 39, "")
	require.Equal(t, "KEY_COMPONENT_MISSING p40", keyOf(t, many), "the first fault is the answer, however long the text before it")
	for i := 0; i < fields.Len(); i++ {
		setString(many, i, fmt.Sprint(i))
	}
	require.True(t, strings.HasSuffix(keyOf(t, many), ":36:37:38:39"))
}

func setString(m *pb.Many, i int, s string) {
	r := m.ProtoReflect()
	fd := r.Descriptor().Fields().Get(i)
	r.Set(fd, protoreflect.ValueOfString(s))
}

// KEY-012: unknown fields never enter a key, and the last of a scalar counts.
func TestWire(t *testing.T) {
	t.Parallel()
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 5)
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 6)
	b = protowire.AppendString(protowire.AppendTag(b, 999, protowire.BytesType), "unknown")
	m := new(pb.OneInteger)
	require.NoError(t, proto.Unmarshal(b, m))
	require.Equal(t, "v1:6", keyOf(t, m))
}

// KEY-013, HASH-020, HASH-030.
func TestBizKeyAndFingerprint(t *testing.T) {
	t.Parallel()
	m := &pb.PaymentSucceeded{OrderId: "o:17", Amount: "1E2", Currency: "USD", PaymentId: "p"}
	biz, err := m.IdemBizKey()
	require.NoError(t, err)
	require.Equal(t, "o%3A17", biz)
	partition, err := m.IdemKafkaPartition(12)
	require.NoError(t, err)
	want, err := idem.KafkaPartition("o%3A17", 12)
	require.NoError(t, err)
	require.Equal(t, want, partition)
	_, err = m.IdemKafkaPartition(0)
	require.Equal(t, idem.CodePartitionCount, idem.CodeOf(err))

	fingerprint, err := m.IdemFingerprint()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%08x-%016x", uint32(idem.Hash("{amount}:{currency}")), idem.Hash("100:USD")), fingerprint)

	biz, err = (&pb.BizKeyCompound{Id: "a", Tenant: -4, OrderId: "o"}).IdemBizKey()
	require.NoError(t, err)
	require.Equal(t, "tenant:-4:o", biz)
	_, err = (&pb.BizKeyEmpty{Id: "a"}).IdemBizKey()
	require.Equal(t, idem.CodeKeyEmpty, idem.CodeOf(err))
	previous, err := (&pb.Previous{Id: "a", Part: "b"}).IdemKeyPrevious()
	require.NoError(t, err)
	require.Equal(t, "conformance.templates.previous:v1:a", previous)
}
