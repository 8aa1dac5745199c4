package idem_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

const longestDuration = 315576000000

// durationText is a second source: the exact number of nanoseconds, divided toward zero.
func durationText(seconds int64, nanos int32, digits int) string {
	n := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(1e9))
	n.Add(n, big.NewInt(int64(nanos)))
	n.Quo(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(9-digits)), nil))
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
		n.Neg(n)
	}
	s := fmt.Sprintf("%0*s", digits+1, n.String())
	if digits == 0 {
		return sign + s + "s"
	}
	return sign + s[:len(s)-digits] + "." + s[len(s)-digits:] + "s"
}

func TestDurationIsCutTowardZero(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(3))
	check := func(seconds int64, nanos int32, digits int) {
		t.Helper()
		got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendDuration(dst, seconds, nanos, digits) })
		want(t, got, code, durationText(seconds, nanos, digits), "")
		if strings.HasPrefix(got, "-") && strings.Trim(got, "-0.s") == "" {
			t.Fatalf("%q is a negative zero", got)
		}
	}
	for digits := 0; digits <= 9; digits++ {
		for _, nanos := range []int32{0, 1, 999, 1000, 999999, 1000000, 500000000, 999999999} {
			for _, seconds := range []int64{0, 1, 59, longestDuration} {
				check(seconds, nanos, digits)
				check(-seconds, -nanos, digits)
			}
		}
	}
	for i := 0; i < 10000; i++ {
		seconds, nanos := random.Int63n(longestDuration), random.Int31n(1e9)
		check(seconds, nanos, random.Intn(10))
		check(-seconds, -nanos, random.Intn(10))
	}
}

func TestDurationRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		seconds int64
		nanos   int32
		digits  int
		code    idem.Code
	}{
		{"longest", longestDuration, 999999999, 9, ""},
		{"too long", longestDuration + 1, 0, 9, idem.CodeDurationRange},
		{"too long backwards", -longestDuration - 1, 0, 9, idem.CodeDurationRange},
		{"smallest seconds", math.MinInt64, 0, 9, idem.CodeDurationRange},
		{"nanos of a second", 0, 1000000000, 9, idem.CodeDurationRange},
		{"smallest nanos", 0, math.MinInt32, 9, idem.CodeDurationRange},
		{"positive and negative", 1, -1, 9, idem.CodeDurationRange},
		{"negative and positive", -1, 1, 9, idem.CodeDurationRange},
		{"ten digits", 0, 0, 10, idem.CodeInputInvalid},
	} {
		_, code := text(t, func(dst []byte) ([]byte, error) {
			return idem.AppendDuration(dst, c.seconds, c.nanos, c.digits)
		})
		if code != c.code {
			t.Errorf("%s: got code %q, want %q", c.name, code, c.code)
		}
	}
}
