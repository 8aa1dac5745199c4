package bulk

import (
	"strconv"
	"strings"
)

func decimal(r *random) *object {
	o := new(object)
	s := decimalText(r)
	if r.percent(12) {
		s = scratch(r, s)
	}
	if r.percent(8) {
		o.set("hex", hexText(r, s))
	} else {
		o.set("text", s)
	}
	if r.percent(40) {
		o.set("max_scale", decimalScale(r))
	}
	return o
}

func decimalScale(r *random) string {
	if r.percent(1) {
		return pick(r, "256", "-1")
	}
	return pick(r, "0", "1", "2", "3", "6", "9", "18", "255", strconv.Itoa(r.below(256)))
}

// decimalText returns text of the grammar.
func decimalText(r *random) string {
	var b strings.Builder
	b.WriteString(pick(r, "", "", "", "-", "+"))
	whole, fraction := r.below(20), r.below(20)
	if r.percent(5) {
		whole = r.between(230, 270)
	}
	if r.percent(5) {
		fraction = r.between(230, 270)
	}
	if whole == 0 && fraction == 0 {
		whole = 1
	}
	if r.percent(20) {
		b.WriteString(strings.Repeat("0", r.below(6)+whole)) // zeros alone, or before digits
		whole = r.below(3)
	}
	b.WriteString(digits(r, whole))
	if fraction > 0 || r.percent(10) {
		if b.Len() == 0 {
			b.WriteByte('0')
		}
		b.WriteByte('.')
		if r.percent(15) {
			b.WriteString(strings.Repeat("0", fraction))
		} else {
			b.WriteString(digits(r, fraction))
		}
		if r.percent(20) {
			b.WriteString(strings.Repeat("0", r.below(12)))
		}
	}
	s := b.String()
	if strings.TrimLeft(s, "+-") == "" || strings.TrimLeft(s, "+-") == "." {
		s += "0"
	}
	if r.percent(30) {
		s += pick(r, "e", "E") + pick(r, "", "+", "-") + strings.Repeat("0", r.below(3)) + exponent(r)
	}
	return s
}

func exponent(r *random) string {
	switch r.below(5) {
	case 0:
		return strconv.Itoa(r.between(230, 275))
	case 1:
		return pick(r, "0", "9999", "10000", "99999", "2147483648", "9223372036854775808")
	default:
		return strconv.Itoa(r.below(30))
	}
}

func money(r *random) *object {
	currency := string([]byte{byte('A' + r.below(26)), byte('A' + r.below(26)), byte('A' + r.below(26))})
	if r.percent(10) {
		currency = pick(r, "", "US", "USDT", "usd", "U5D", "ÉUR", "USD ", "U\nD", "@@@", "[[[")
	}
	units := integer(r, -1<<63, 1<<63-1)
	nanos := in(r, -999999999, 999999999)
	if r.percent(80) && strings.HasPrefix(units, "-") != (nanos < 0) {
		nanos = -nanos
	}
	if r.percent(10) {
		units = "0"
	}
	n := strconv.FormatInt(nanos, 10)
	if r.percent(8) {
		n = integer(r, -999999999, 999999999)
	}
	return new(object).set("currency_code", currency).set("units", units).set("nanos", n)
}

const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

func timestamp(r *random) *object {
	o := new(object)
	switch r.below(3) {
	case 0:
		s := rfc3339(r)
		if r.percent(12) {
			s = scratch(r, s)
		}
		o.set("rfc3339", s)
	case 1:
		o.set("seconds", integer(r, firstSecond, lastSecond)).set("nanos", integer(r, 0, 999999999))
	default:
		o.set("epoch", epoch(r)).set("unit", pick(r, "s", "ms", "us", "ns"))
		if r.percent(1) {
			o.members[1].value = pick(r, "S", "m", "", "µs")
		}
	}
	return o.set("fraction_digits", fractionDigits(r))
}

// epoch returns an integer of any unit: the unit does not matter, so many are out of range.
func epoch(r *random) string {
	if r.percent(25) {
		return integer(r, firstSecond, lastSecond)
	}
	if r.percent(40) {
		unit := pick[int64](r, 1e3, 1e6)
		return strconv.FormatInt(in(r, firstSecond*unit, lastSecond*unit), 10)
	}
	if r.percent(50) {
		return strconv.FormatInt(int64(r.uint64())>>r.below(48), 10)
	}
	return anyInteger(r)
}

// rfc3339 returns a timestamp whose parts are mostly in range.
func rfc3339(r *random) string {
	part := func(lo, hi int64, width int) string {
		if r.percent(2) {
			return fixed(pick(r, hi+1, max(0, lo-1)), width)
		}
		return fixed(in(r, lo, hi), width)
	}
	year := pick(r, part(1, 9999, 4), part(1, 9999, 4), "2000", "1900", "2024", "2023", "0001", "9999", "0000", "1969", "1970")
	day := part(1, 28, 2)
	if r.percent(40) {
		day = pick(r, "28", "29", "30", "31")
	}
	month := part(1, 12, 2)
	if r.percent(20) {
		month = pick(r, "02", "12", "01", "04")
	}
	s := year + "-" + month + "-" + day + "T" + part(0, 23, 2) + ":" + part(0, 59, 2) + ":" + part(0, 59, 2)
	if r.percent(60) {
		n := r.between(1, 9)
		if r.percent(3) {
			n = pick(r, 0, 10, 18)
		}
		s += "." + pick(r, digits(r, n), strings.Repeat("9", n), strings.Repeat("0", n))
	}
	if r.percent(50) {
		return s + "Z"
	}
	return s + pick(r, "+", "-") + part(0, 23, 2) + ":" + part(0, 59, 2)
}

func duration(r *random) *object {
	const most = 315576000000
	seconds := integer(r, -most, most)
	nanos := in(r, -999999999, 999999999)
	if r.percent(80) && strings.HasPrefix(seconds, "-") != (nanos < 0) {
		nanos = -nanos
	}
	if r.percent(15) {
		seconds = "0"
	}
	n := strconv.FormatInt(nanos, 10)
	if r.percent(8) {
		n = integer(r, -999999999, 999999999)
	}
	return new(object).set("seconds", seconds).set("nanos", n).set("fraction_digits", fractionDigits(r))
}

func date(r *random) *object {
	year := integer(r, 1, 9999)
	if r.percent(40) {
		year = pick(r, "2000", "1900", "2024", "2023", "4", "100", "400", "0")
	}
	day := integer(r, 1, 31)
	if r.percent(40) {
		day = pick(r, "28", "29", "30", "31")
	}
	month := integer(r, 1, 12)
	if r.percent(25) {
		month = "2"
	}
	return new(object).set("year", year).set("month", month).set("day", day)
}

func uuid(r *random) *object {
	const lower, upper = "0123456789abcdef", "0123456789ABCDEF"
	set := pick(r, lower, lower, upper, lower+"ABCDEF")
	var b strings.Builder
	for i, n := range []int{8, 4, 4, 4, 12} {
		if i > 0 {
			b.WriteByte('-')
		}
		for range n {
			b.WriteByte(set[r.below(len(set))])
		}
	}
	s := b.String()
	if r.percent(35) {
		switch r.below(6) {
		case 0:
			s = "{" + s + "}"
		case 1:
			s = "urn:uuid:" + s
		case 2:
			s = strings.ReplaceAll(s, "-", "")
		case 3:
			s = pick(r, " "+s, s+" ", s+"\n", "", text(r))
		case 4:
			i := r.below(len(s))
			s = s[:i] + pick(r, "g", "G", "@", "`", "/", ":", "١", "-", "a") + s[i+1:]
		default:
			s = scratch(r, s)
		}
	}
	return with("text", s)
}
