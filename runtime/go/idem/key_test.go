package idem_test

import (
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// appendPaymentKey is what generated code looks like, for "payments.paid:v1:{order_id}:{amount}".
func appendPaymentKey(dst []byte, orderID, amount string) ([]byte, error) {
	start := len(dst)
	dst = append(dst, "payments.paid:v1:"...)
	dst, err := idem.AppendString(dst, orderID)
	if err != nil {
		return dst[:start], idem.InField(err, "order_id")
	}
	dst = append(dst, ':')
	dst, err = idem.AppendDecimal(dst, amount, 2)
	if err != nil {
		return dst[:start], idem.InField(err, "amount")
	}
	return idem.FinishKey(dst, start)
}

func TestKeyIsRenderedFromLeftToRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, orderID, amount, key string
		code                       idem.Code
		field                      string
	}{
		{"plain", "o-17", "100.00", "payments.paid:v1:o-17:100", "", ""},
		{"escaped", "o/17", "1", "payments.paid:v1:o%2F17:1", "", ""},
		{"first fault", "\xff", "x", "", idem.CodeStringUTF8, "order_id"},
		{"second fault", "o", "x", "", idem.CodeDecimalSyntax, "amount"},
		{"fault before length", strings.Repeat("a", 2000), "x", "", idem.CodeDecimalSyntax, "amount"},
		{"length", strings.Repeat("a", 2000), "1", "", idem.CodeKeyTooLong, ""},
		{"longest", strings.Repeat("a", 1024-19), "1", "payments.paid:v1:" + strings.Repeat("a", 1024-19) + ":1", "", ""},
		{"one too long", strings.Repeat("a", 1024-18), "1", "", idem.CodeKeyTooLong, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var err error
			got, code := text(t, func(dst []byte) ([]byte, error) {
				dst, err = appendPaymentKey(dst, c.orderID, c.amount)
				return dst, err
			})
			want(t, got, code, c.key, c.code)
			if e, ok := err.(*idem.Error); ok && e.Field != c.field {
				t.Errorf("the error names the field %q", e.Field)
			}
		})
	}
}

func TestBizKeyIsNotEmpty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rendered string
		code           idem.Code
	}{
		{"empty", "", idem.CodeKeyEmpty},
		{"one byte", "o", ""},
		{"longest", strings.Repeat("o", 1024), ""},
		{"too long", strings.Repeat("o", 1025), idem.CodeKeyTooLong},
	} {
		got, code := text(t, func(dst []byte) ([]byte, error) {
			return idem.FinishBizKey(append(dst, c.rendered...), len(dst))
		})
		if code != c.code || code == "" && got != c.rendered {
			t.Errorf("%s: got %.20q, code %q", c.name, got, code)
		}
	}
}

func TestReceivedKeyIsOpaqueButChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, key string
		code      idem.Code
	}{
		{"any printable", "!~a:b%2", ""},
		{"longest", strings.Repeat("k", 1024), ""},
		{"empty", "", idem.CodeKeySyntax},
		{"blank", "a b", idem.CodeKeySyntax},
		{"delete", "a\x7f", idem.CodeKeySyntax},
		{"not ASCII", "é", idem.CodeKeySyntax},
		{"too long", strings.Repeat("k", 1025), idem.CodeKeyTooLong},
		{"syntax before length", strings.Repeat("k", 1025) + " ", idem.CodeKeySyntax},
	} {
		if code := idem.CodeOf(idem.CheckKey(c.key)); code != c.code {
			t.Errorf("%s: got code %q, want %q", c.name, code, c.code)
		}
	}
}

func TestKeyDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 128)
	withoutAllocation(t, func() { buf, _ = appendPaymentKey(buf[:0], "o-17", "100.00") })
}

func BenchmarkKeyOfFourComponents(b *testing.B) {
	buf := make([]byte, 0, 256)
	b.Run("core", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			dst := append(buf[:0], "payments.paid:v1:"...)
			dst, _ = idem.AppendString(dst, "order-8317")
			dst = append(dst, ':')
			dst, _ = idem.AppendDecimal(dst, "1234.56", 2)
			dst = append(dst, ':')
			dst = idem.AppendInt(dst, 42)
			dst = append(dst, ':')
			dst, _ = idem.AppendTimestamp(dst, 1735704000, 123456789, 3)
			buf, _ = idem.FinishKey(dst, 0)
			hash = idem.HashBytes(buf)
		}
	})
	// The bytes of the same key, copied: what nothing can be faster than.
	b.Run("copied", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			dst := append(buf[:0], "payments.paid:v1:"...)
			dst = append(dst, "order-8317"...)
			dst = append(dst, ':')
			dst = append(dst, "1234.56"...)
			dst = append(dst, ':')
			dst = idem.AppendInt(dst, 42)
			dst = append(dst, ':')
			buf = append(dst, "2025-01-01T04:00:00.123Z"...)
			hash = idem.HashBytes(buf)
		}
	})
}

var hash uint64
