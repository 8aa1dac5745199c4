package idem_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func TestDecimalHasOneText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, out string
	}{
		{"canonical integer", "100", "100"},
		{"canonical fraction", "-12.05", "-12.05"},
		{"zero", "0", "0"},
		{"negative zero", "-0", "0"},
		{"zero with a scale", "0.00", "0"},
		{"zero with an exponent", "-0e5", "0"},
		{"zero fraction alone", ".0", "0"},
		{"plus sign", "+1", "1"},
		{"leading zeros", "007.50", "7.5"},
		{"trailing zeros", "1.00", "1"},
		{"no integer digits", ".5", "0.5"},
		{"no fraction digits", "5.", "5"},
		{"exponent to the right", "1.50e1", "15"},
		{"exponent beyond the digits", "1E+3", "1000"},
		{"exponent to the left", "1e-7", "0.0000001"},
		{"every optional part", "+.5e-1", "0.05"},
		{"point inside after the exponent", "12345e-2", "123.45"},
		{"digits of both sides after the point", "12.345e-1", "1.2345"},
		{"trailing zeros of the integer meet the exponent", "1200e-2", "12"},
		{"fraction digits before the point", "0.012e3", "12"},
		{"exponent with leading zeros", "1e00000001", "10"},
		{"more digits than a double has", "12345678901234567890123456789012345.678900", "12345678901234567890123456789012345.6789"},
		{"500 leading zeros", strings.Repeat("0", 500) + "1", "1"},
		{"256 bytes", strings.Repeat("9", 256), strings.Repeat("9", 256)},
		{"256 bytes by an exponent", "1e255", "1" + strings.Repeat("0", 255)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendDecimal(dst, c.in, -1) })
			want(t, got, code, c.out, "")
		})
	}
}

func TestDecimalRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		maxScale int
		code     idem.Code
	}{
		{"empty", "", -1, idem.CodeDecimalSyntax},
		{"sign alone", "-", -1, idem.CodeDecimalSyntax},
		{"point alone", ".", -1, idem.CodeDecimalSyntax},
		{"two points", "1..2", -1, idem.CodeDecimalSyntax},
		{"blank", "1 ", -1, idem.CodeDecimalSyntax},
		{"line feed", "1\n", -1, idem.CodeDecimalSyntax},
		{"exponent without digits", "1e+", -1, idem.CodeDecimalSyntax},
		{"exponent alone", "e5", -1, idem.CodeDecimalSyntax},
		{"two exponents", "1e5e5", -1, idem.CodeDecimalSyntax},
		{"other digits", "١", -1, idem.CodeDecimalSyntax},
		{"ill-formed UTF-8", "1\xff", -1, idem.CodeDecimalSyntax},
		{"not a number", "NaN", -1, idem.CodeDecimalSyntax},
		{"syntax before the exponent's length", "1e99999x", -1, idem.CodeDecimalSyntax},
		{"five exponent digits", "1e10000", -1, idem.CodeDecimalRange},
		{"five exponent digits of zero", "0e10000", -1, idem.CodeDecimalRange},
		{"257 bytes", strings.Repeat("9", 257), -1, idem.CodeDecimalRange},
		{"257 bytes with the sign", "-" + strings.Repeat("9", 256), -1, idem.CodeDecimalRange},
		{"257 bytes by an exponent", "1e256", -1, idem.CodeDecimalRange},
		{"largest exponent", "1e9999", -1, idem.CodeDecimalRange},
		{"257 bytes of fraction", "1e-255", -1, idem.CodeDecimalRange},
		{"scale", "1.005", 2, idem.CodeDecimalScale},
		{"scale by an exponent", "15e-3", 2, idem.CodeDecimalScale},
		{"scale before length", "1e-9999", 2, idem.CodeDecimalScale},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendDecimal(dst, c.in, c.maxScale) })
			want(t, got, code, "", c.code)
		})
	}
}

func TestDecimalScaleCountsAfterTrailingZeros(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]string{"1.2300": "1.23", "1.5": "1.5", "100e-2": "1", "0.000": "0"} {
		got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendDecimal(dst, in, 2) })
		want(t, got, code, out, "")
	}
}

func TestDecimalDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	withoutAllocation(t, func() {
		buf, _ = idem.AppendDecimal(buf[:0], "-1234.56", 2)
		buf, _ = idem.AppendDecimal(buf[:0], "+1234.5600e1", 2)
	})
}

// FuzzDecimal compares with math/big where that accepts the same text, and checks that a canonical text
// stays as it is.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"", "1.50", "-0", "+.5e-1", "1e9999", "1.e3", "00012", "1..2", "9e-300", "0x1p-2", "1_000"} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, in string, maxScale int) {
		got, err := idem.AppendDecimal(nil, in, -1)
		if err != nil {
			if code := idem.CodeOf(err); code != idem.CodeDecimalSyntax && code != idem.CodeDecimalRange {
				t.Fatalf("%q: code %q", in, code)
			}
			return
		}
		again, err := idem.AppendDecimal(nil, string(got), -1)
		if err != nil || string(again) != string(got) {
			t.Fatalf("%q is %q, and that is %q, %v", in, got, again, err)
		}
		x, ok := new(big.Rat).SetString(in)
		y, ok2 := new(big.Rat).SetString(string(got))
		if !ok || !ok2 || x.Cmp(y) != 0 {
			t.Fatalf("%q is %q, which is another number", in, got)
		}
		scale := 0
		if i := strings.IndexByte(string(got), '.'); i >= 0 {
			scale = len(got) - i - 1
		}
		_, err = idem.AppendDecimal(nil, in, maxScale)
		if tooFine := maxScale >= 0 && scale > maxScale; tooFine != (idem.CodeOf(err) == idem.CodeDecimalScale) {
			t.Fatalf("%q has scale %d of at most %d: %v", in, scale, maxScale, err)
		}
	})
}
