package idem_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func TestMoneyIsCurrencyAndDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, currency string
		units          int64
		nanos          int32
	}{
		{"zero", "JPY", 0, 0},
		{"whole", "USD", 100, 0},
		{"tenth", "USD", 10, 100000000},
		{"padded fraction", "USD", 0, 98400000},
		{"sign in nanos alone", "USD", 0, -500000000},
		{"smallest", "USD", math.MinInt64, -999999999},
		{"largest", "USD", math.MaxInt64, 999999999},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// A second source: the exact sum, printed with nine digits and made canonical.
			sum := new(big.Rat).Add(new(big.Rat).SetInt64(c.units), big.NewRat(int64(c.nanos), 1e9))
			amount, _ := idem.AppendDecimal(nil, sum.FloatString(9), -1)
			got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendMoney(dst, c.currency, c.units, c.nanos) })
			want(t, got, code, c.currency+string(amount), "")
		})
	}
}

func TestMoneyRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, currency string
		units          int64
		nanos          int32
		code           idem.Code
	}{
		{"no currency", "", 1, 0, idem.CodeMoneyCurrency},
		{"lower case", "usd", 1, 0, idem.CodeMoneyCurrency},
		{"four letters", "USDT", 1, 0, idem.CodeMoneyCurrency},
		{"currency before range", "us", 1, -1, idem.CodeMoneyCurrency},
		{"nanos of a whole unit", "USD", 1, 1000000000, idem.CodeMoneyRange},
		{"smallest nanos", "USD", 0, math.MinInt32, idem.CodeMoneyRange},
		{"positive units, negative nanos", "USD", 1, -1, idem.CodeMoneyRange},
		{"negative units, positive nanos", "USD", -1, 1, idem.CodeMoneyRange},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendMoney(dst, c.currency, c.units, c.nanos) })
			want(t, got, code, "", c.code)
		})
	}
}
