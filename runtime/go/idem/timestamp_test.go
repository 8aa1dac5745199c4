package idem_test

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// layouts are time's own, for each number of digits; time cuts too, but formats years above 9999.
var layouts = [10]string{
	"2006-01-02T15:04:05Z", "2006-01-02T15:04:05.0Z", "2006-01-02T15:04:05.00Z", "2006-01-02T15:04:05.000Z",
	"2006-01-02T15:04:05.0000Z", "2006-01-02T15:04:05.00000Z", "2006-01-02T15:04:05.000000Z",
	"2006-01-02T15:04:05.0000000Z", "2006-01-02T15:04:05.00000000Z", "2006-01-02T15:04:05.000000000Z",
}

func timestamp(t *testing.T, seconds int64, nanos int32, digits int) (string, idem.Code) {
	t.Helper()
	return text(t, func(dst []byte) ([]byte, error) { return idem.AppendTimestamp(dst, seconds, nanos, digits) })
}

func TestTimestampAgreesWithTimeOnEveryDay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	var got []byte
	for day := int64(firstSecond); day < lastSecond; day += 86400 {
		seconds, nanos, digits := day+random.Int63n(86400), random.Int31n(1e9), random.Intn(10)
		got, _ = idem.AppendTimestamp(got[:0], seconds, nanos, digits)
		if w := time.Unix(seconds, int64(nanos)).UTC().Format(layouts[digits]); string(got) != w {
			t.Fatalf("(%d, %d) with %d digits: got %s, want %s", seconds, nanos, digits, got, w)
		}
	}
}

func TestTimestampDigitsAreCutNotRounded(t *testing.T) {
	t.Parallel()
	for digits := 0; digits <= 9; digits++ {
		for _, seconds := range []int64{firstSecond, -1, 0, lastSecond} {
			got, code := timestamp(t, seconds, 999999999, digits)
			want(t, got, code, time.Unix(seconds, 999999999).UTC().Format(layouts[digits]), "")
		}
	}
}

func TestTimestampRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		seconds int64
		nanos   int32
		digits  int
		code    idem.Code
	}{
		{"first", firstSecond, 0, 3, ""},
		{"before the first", firstSecond - 1, 999999999, 3, idem.CodeTimestampRange},
		{"last", lastSecond, 999999999, 3, ""},
		{"after the last", lastSecond + 1, 0, 3, idem.CodeTimestampRange},
		{"smallest", math.MinInt64, 0, 3, idem.CodeTimestampRange},
		{"largest", math.MaxInt64, 0, 3, idem.CodeTimestampRange},
		{"negative nanos", 0, -1, 3, idem.CodeTimestampRange},
		{"nanos of a second", 0, 1000000000, 3, idem.CodeTimestampRange},
		{"ten digits", 0, 0, 10, idem.CodeInputInvalid},
		{"negative digits", 0, 0, -1, idem.CodeInputInvalid},
	} {
		if _, code := timestamp(t, c.seconds, c.nanos, c.digits); code != c.code {
			t.Errorf("%s: got code %q, want %q", c.name, code, c.code)
		}
	}
}

func TestTimestampEpochFloors(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(2))
	for i := 0; i < 20000; i++ {
		v := random.Int63() >> uint(random.Intn(63))
		if i%2 == 0 {
			v = -v
		}
		for unit, per := range map[idem.Unit]int64{
			idem.UnitSeconds: 1, idem.UnitMilliseconds: 1e3, idem.UnitMicroseconds: 1e6, idem.UnitNanoseconds: 1e9,
		} {
			got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendTimestampEpoch(dst, v, unit, 9) })
			seconds := v / per
			if v%per < 0 {
				seconds--
			}
			if seconds < firstSecond || seconds > lastSecond {
				want(t, got, code, "", idem.CodeTimestampRange)
				continue
			}
			at := time.Unix(seconds, (v-seconds*per)*(1e9/per)).UTC()
			want(t, got, code, at.Format(layouts[9]), "")
			if v >= 0 {
				unsigned, err := idem.AppendTimestampEpochUint(nil, uint64(v), unit, 9)
				if err != nil || string(unsigned) != got {
					t.Fatalf("unsigned %d: got %s, %v, want %s", v, unsigned, err, got)
				}
			}
		}
	}
}

func TestTimestampEpochLimits(t *testing.T) {
	t.Parallel()
	got, code := text(t, func(dst []byte) ([]byte, error) {
		return idem.AppendTimestampEpochUint(dst, math.MaxUint64, idem.UnitNanoseconds, 9)
	})
	want(t, got, code, "2554-07-21T23:34:33.709551615Z", "")
	got, code = text(t, func(dst []byte) ([]byte, error) {
		return idem.AppendTimestampEpochUint(dst, math.MaxUint64, idem.UnitSeconds, 0)
	})
	want(t, got, code, "", idem.CodeTimestampRange)
	got, code = text(t, func(dst []byte) ([]byte, error) {
		return idem.AppendTimestampEpoch(dst, math.MinInt64, idem.UnitNanoseconds, 9)
	})
	want(t, got, code, "1677-09-21T00:12:43.145224192Z", "")
	_, code = text(t, func(dst []byte) ([]byte, error) { return idem.AppendTimestampEpoch(dst, 0, 0, 0) })
	want(t, "", code, "", idem.CodeInputInvalid)
}

func TestTimestampTextIsReadStrictly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, out string
		code          idem.Code
	}{
		{"UTC", "2025-01-01T04:00:00Z", "2025-01-01T04:00:00.000Z", ""},
		{"digits cut", "2025-01-01T04:00:00.123999Z", "2025-01-01T04:00:00.123Z", ""},
		{"digits filled", "2025-01-01T04:00:00.1Z", "2025-01-01T04:00:00.100Z", ""},
		{"offset", "2025-01-01T04:00:00.1+05:45", "2024-12-31T22:15:00.100Z", ""},
		{"largest offset", "2025-01-01T04:00:00-23:59", "2025-01-02T03:59:00.000Z", ""},
		{"negative zero offset", "2025-01-01T04:00:00-00:00", "2025-01-01T04:00:00.000Z", ""},
		{"leap day", "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z", ""},
		{"into the first year", "0000-12-31T23:00:00-02:00", "0001-01-01T01:00:00.000Z", ""},
		{"out of the first year", "0001-01-01T00:00:00+00:01", "", idem.CodeTimestampRange},
		{"year 0", "0000-02-29T00:00:00Z", "", idem.CodeTimestampRange},
		{"January of year 0", "0000-01-01T00:00:00Z", "", idem.CodeTimestampRange},
		{"out of the last year", "9999-12-31T23:59:59-00:01", "", idem.CodeTimestampRange},
		{"no such day in year 0", "0000-02-30T00:00:00Z", "", idem.CodeTimestampSyntax},
		{"no leap day", "1900-02-29T00:00:00Z", "", idem.CodeTimestampSyntax},
		{"month 0", "2025-00-01T00:00:00Z", "", idem.CodeTimestampSyntax},
		{"month 13", "2025-13-01T00:00:00Z", "", idem.CodeTimestampSyntax},
		{"day 0", "2025-01-00T00:00:00Z", "", idem.CodeTimestampSyntax},
		{"day 31 of 30", "2025-04-31T00:00:00Z", "", idem.CodeTimestampSyntax},
		{"hour 24", "2025-01-01T24:00:00Z", "", idem.CodeTimestampSyntax},
		{"minute 60", "2025-01-01T00:60:00Z", "", idem.CodeTimestampSyntax},
		{"second 60", "2016-12-31T23:59:60Z", "", idem.CodeTimestampSyntax},
		{"offset hour 24", "2025-01-01T00:00:00+24:00", "", idem.CodeTimestampSyntax},
		{"offset minute 60", "2025-01-01T00:00:00+00:60", "", idem.CodeTimestampSyntax},
		{"offset without colon", "2025-01-01T00:00:00+0000", "", idem.CodeTimestampSyntax},
		{"offset and Z", "2025-01-01T00:00:00+00:00Z", "", idem.CodeTimestampSyntax},
		{"no offset", "2025-01-01T00:00:00", "", idem.CodeTimestampSyntax},
		{"no seconds", "2025-01-01T00:00Z", "", idem.CodeTimestampSyntax},
		{"lower-case t", "2025-01-01t00:00:00Z", "", idem.CodeTimestampSyntax},
		{"lower-case z", "2025-01-01T00:00:00z", "", idem.CodeTimestampSyntax},
		{"blank for T", "2025-01-01 00:00:00Z", "", idem.CodeTimestampSyntax},
		{"comma", "2025-01-01T00:00:00,5Z", "", idem.CodeTimestampSyntax},
		{"point without digits", "2025-01-01T00:00:00.Z", "", idem.CodeTimestampSyntax},
		{"ten fraction digits", "2025-01-01T00:00:00.1234567891Z", "", idem.CodeTimestampSyntax},
		{"empty", "", "", idem.CodeTimestampSyntax},
		{"line feed", "2025-01-01T00:00:00Z\n", "", idem.CodeTimestampSyntax},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendTimestampText(dst, c.in, 3) })
			want(t, got, code, c.out, c.code)
		})
	}
}

func TestTimestampDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	withoutAllocation(t, func() {
		buf, _ = idem.AppendTimestamp(buf[:0], 1234567890, 5, 3)
		buf, _ = idem.AppendTimestampText(buf[:0], "2025-01-01T04:00:00+01:00", 3)
		buf, _ = idem.AppendTimestampEpoch(buf[:0], -1, idem.UnitMilliseconds, 3)
	})
}

// FuzzTimestampText: what is accepted, time accepts too, as the same instant; and a canonical text stays
// as it is.
func FuzzTimestampText(f *testing.F) {
	for _, s := range []string{
		"2025-01-01T04:00:00Z", "0000-12-31T23:00:00-02:00", "9999-12-31T23:59:59.999999999+00:01",
		"2025-02-29T00:00:00Z", "2025-01-01T00:00:00,5Z", "2025-01-01T00:00:00+24:00", "0000-01-01T00:00:00-23:59",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, in string, digits int) {
		got, err := idem.AppendTimestampText(nil, in, 9)
		at, timeErr := time.Parse(time.RFC3339Nano, in)
		if err != nil {
			code := idem.CodeOf(err)
			if code == idem.CodeTimestampRange && (timeErr != nil || at.Unix() >= firstSecond && at.Unix() <= lastSecond) {
				t.Fatalf("%q is in range: %v", in, timeErr)
			}
			if code != idem.CodeTimestampSyntax && code != idem.CodeTimestampRange {
				t.Fatalf("%q: code %q", in, code)
			}
			return
		}
		if timeErr != nil || at.UTC().Format(layouts[9]) != string(got) {
			t.Fatalf("%q: got %s, time has %v, %v", in, got, at.UTC(), timeErr)
		}
		if digits < 0 || digits > 9 {
			return
		}
		cut, _ := idem.AppendTimestampText(nil, in, digits)
		again, err := idem.AppendTimestampText(nil, string(cut), digits)
		if err != nil || string(again) != string(cut) || string(cut) != at.UTC().Format(layouts[digits]) {
			t.Fatalf("%q with %d digits: %q, then %q, %v", in, digits, cut, again, err)
		}
	})
}
