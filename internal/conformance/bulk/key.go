package bulk

import (
	"encoding/hex"
	"strconv"
	"strings"
)

func component(r *random) *object { return anyComponent(r, false) }

// anyComponent returns a component; within a digest there is no other one.
func anyComponent(r *random, inDigest bool) *object {
	switch r.below(16) {
	case 0, 1, 2:
		return with("string", text(r))
	case 3:
		return with("hex_utf8", hexText(r, text(r)))
	case 4:
		return with("utf16", units(r))
	case 5:
		return with("bytes", hexBytes(r, 0, 40))
	case 6:
		return with(pick(r, "bool", "bool", "absent", "missing"), true)
	case 7:
		return with("bool", false)
	case 8:
		return with("enum", integer(r, -1<<31, 1<<31-1))
	case 9, 10:
		return with("int", typedInteger(r))
	case 11:
		return with("decimal", decimal(r))
	case 12:
		return with("timestamp", timestamp(r))
	case 13:
		return with("money", money(r))
	case 14:
		switch r.below(3) {
		case 0:
			return with("duration", duration(r))
		case 1:
			return with("date", date(r))
		default:
			return with("uuid", uuid(r))
		}
	default:
		if inDigest {
			return with("string", text(r))
		}
		return with("sha256", anyComponent(r, true))
	}
}

func typedInteger(r *random) *object {
	kind := pick(r, "int32", "sint32", "sfixed32", "int64", "sint64", "sfixed64", "uint32", "fixed32", "uint64", "fixed64")
	var n string
	switch {
	case strings.HasSuffix(kind, "64") && (kind[0] == 'u' || kind[0] == 'f'):
		n = strconv.FormatUint(r.uint64()>>r.below(64), 10)
		if r.percent(30) {
			n = pick(r, "18446744073709551615", "18446744073709551616", "9223372036854775808", "-1", "0")
		}
	case kind[0] == 'u' || kind[0] == 'f':
		n = integer(r, 0, 1<<32-1)
	case strings.HasSuffix(kind, "64"):
		n = integer(r, -1<<63, 1<<63-1)
	default:
		n = integer(r, -1<<31, 1<<31-1)
	}
	if r.percent(1) {
		kind = pick(r, "double", "int", "INT32", "", "bool")
	}
	return new(object).set("type", kind).set("value", n)
}

func key(r *random) *object { return with("segments", segments(r)) }

func segments(r *random) list {
	if r.percent(1) {
		return list{}
	}
	if r.percent(6) {
		return longSegments(r)
	}
	l := list{}
	for range r.between(1, 6) {
		switch {
		case r.percent(35):
			l = append(l, with("literal", word(r, 1, 12)))
		case r.percent(75):
			// What mostly has a text, so that not every key fails.
			l = append(l, with("component", pick(r,
				with("string", word(r, 0, 16)), with("string", odd(r, 6)), with("int", new(object).set("type", "int64").set("value", good(r, -1<<63, 1<<63-1))),
				with("absent", true), with("bool", true), with("bytes", hexBytes(r, 0, 12)))))
		default:
			l = append(l, with("component", component(r)))
		}
	}
	if r.percent(1) {
		l = append(l, with("literal", pick(r, "", "a:b", "é", "a b", "{a}")))
	}
	return l
}

// longSegments makes a key of about 1024 bytes.
func longSegments(r *random) list {
	length := r.between(1018, 1030)
	first := word(r, 1, 100)
	rest := length - len(first) - 1
	switch r.below(3) {
	case 0:
		return list{with("literal", first), with("component", with("string", strings.Repeat("a", rest)))}
	case 1:
		return list{with("literal", first), with("component", with("string", strings.Repeat("a", rest%3)+strings.Repeat("%", rest/3)))}
	default:
		return list{with("literal", first), with("component", with("bytes", hex.EncodeToString(make([]byte, rest/2)))), with("component", with("string", ""))}
	}
}

func fingerprint(r *random) *object {
	template := pick(r, "{amount}:{currency}", "{"+word(r, 1, 12)+"}", text(r))
	return new(object).set("template", template).set("segments", segments(r))
}

func hash(r *random) *object {
	// The lengths at which XXH64 changes its ways.
	n := pick(r, 0, 1, 3, 4, 7, 8, 9, 11, 12, 15, 16, 31, 32, 33, 35, 36, 63, 64, 65, 95, 96, 97, r.below(300))
	return with("hex", hexBytes(r, n, n))
}

// aKey returns a key as consumers see it, seldom none.
func aKey(r *random) string {
	switch {
	case r.percent(3):
		return ""
	case r.percent(25):
		return odd(r, 10)
	default:
		return pick(r, "order-"+digits(r, r.between(1, 9)), printable(r, 1, 40), word(r, 1, 80))
	}
}

func buckets(r *random) string {
	if r.percent(40) {
		return pick(r, "1", "2", "3", "12", "16", "64", "100", "2147483647", "2147483648", "0", "-1")
	}
	return integer(r, 1, 1<<31-1)
}

func shard(r *random) *object {
	o := new(object)
	if r.percent(40) {
		h := hexBytes(r, 8, 8)
		if r.percent(20) {
			h = pick(r, "ffffffffffffffff", "0000000000000000", "8000000000000000", "7fffffffffffffff", "00000000ffffffff", "ffffffff00000000")
		}
		if r.percent(1) {
			h = pick(r, h[1:], h+"0", strings.ToUpper(h)+"A", "")
		}
		o.set("hash", h)
	} else {
		o.set("key", aKey(r))
	}
	return o.set("n", buckets(r))
}

func kafkaPartition(r *random) *object { return with("key", aKey(r)).set("n", buckets(r)) }
