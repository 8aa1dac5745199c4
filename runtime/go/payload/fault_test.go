package payload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// TestFault13KeysAreOfTheContent: one message, however its writer orders and writes its
// fields, has one key and one fingerprint. Expected are the spec's texts (HASH-030 for the fingerprint), the hashes of which were
// made by another XXH64.
func TestFault13KeysAreOfTheContent(t *testing.T) {
	t.Parallel()
	const key = "refunds.asked:v1:order-1:2026-01-03T03:08:40.678Z"
	const fingerprint = "549bde46-a5ea4653f17fea90" // of {amount}:{currency}, and of 100:USD
	str := func(tag byte, text string) string { return string([]byte{tag, byte(len(text))}) + text }
	order, amount, currency := str(0x0a, "order-1"), str(0x12, "100"), str(0x1a, "USD")
	at := str(0x22, "\x08\xb8\x90\xe2\xca\x06\x10\x80\xeb\xa5\xc3\x02") // 1767409720 s, 678000000 ns
	late := str(0x22, "\x10\x80\xeb\xa5\xc3\x02\x08\xb8\x90\xe2\xca\x06")
	for name, c := range map[string]struct {
		format payload.Format
		text   string
	}{
		"fields in order":              {payload.Protobuf, order + amount + currency + at},
		"fields reversed":              {payload.Protobuf, late + currency + amount + order},
		"a field twice: the last wins": {payload.Protobuf, str(0x12, "7") + order + amount + currency + at},
		"unknown fields between":       {payload.Protobuf, order + str(0x7a, "new") + amount + currency + at + "\x78\x01"},
		"another text of the amount":   {payload.Protobuf, order + str(0x12, "1e2") + currency + at},
		"zeros behind the point":       {payload.Protobuf, order + str(0x12, "100.00") + currency + at},
		"JSON":                         {payload.JSON, `{"orderId":"order-1","amount":"100","currency":"USD","askedAt":"2026-01-03T03:08:40.678Z"}`},
		"JSON, keys sorted otherwise":  {payload.JSON, `{"askedAt":"2026-01-03T03:08:40.678000000Z","currency":"USD","amount":"100.0","orderId":"order-1"}`},
		"JSON, names of the schema":    {payload.JSON, "{\n\t\"order_id\": \"order\\u002d1\",\n\t\"asked_at\": \"2026-01-03T04:08:40.678+01:00\",\n\t\"amount\": \"1E+2\", \"currency\": \"USD\", \"extra\": {\"b\": 1, \"a\": 2}}"},
	} {
		m := new(refundsv1.RefundAsked)
		require.NoError(t, payload.Decode(c.format, []byte(c.text), m), name)
		own, err := m.IdemKey()
		require.NoError(t, err, name)
		require.Equal(t, key, own, name)
		print, err := m.IdemFingerprint()
		require.NoError(t, err, name)
		require.Equal(t, fingerprint, print, name)
	}
	// And what is no text of the same content has another.
	m := &refundsv1.RefundAsked{OrderId: "order-1", Amount: "100.01", Currency: "USD"}
	other, err := m.IdemFingerprint()
	require.NoError(t, err)
	require.NotEqual(t, fingerprint, other)
}
