package bulk

import "strconv"

const maxWait = 604800000

func policy(r *random) *object {
	return new(object).
		set("header", somePolicy(r, true)).set("schema", somePolicy(r, true)).set("limit", somePolicy(r, false))
}

// somePolicy states some of the values.
func somePolicy(r *random, hasSchedule bool) *object {
	o := new(object)
	for _, v := range []struct {
		name   string
		lo, hi int64
	}{
		{"max_retry", 0, 100},
		{"max_hold", 0, 100},
		{"backoff_base", 1, 86400},
		{"backoff_jitter", 0, 3600000},
		{"backoff_max", 1, 604800},
	} {
		if r.percent(35) {
			o.set(v.name, rarely(r, v.lo, v.hi))
		}
	}
	if hasSchedule && r.percent(30) {
		o.set("backoff_schedule", schedule(r))
	}
	return o
}

// rarely returns an integer that is out of its range one time in fifty.
func rarely(r *random, lo, hi int64) string {
	if r.percent(98) {
		return good(r, lo, hi)
	}
	return integer(r, lo, hi)
}

func schedule(r *random) list {
	n := r.between(1, 6)
	if r.percent(8) {
		n = pick(r, 0, 31, 32, 33)
	}
	l := list{}
	for range n {
		l = append(l, good(r, 0, maxWait))
	}
	if n > 0 && r.percent(5) {
		l[r.below(n)] = integer(r, 0, maxWait)
	}
	return l
}

// backoffPolicy returns the three values of a policy, and sometimes a schedule.
func backoffPolicy(r *random) *object {
	o := new(object).set("backoff_base", rarely(r, 1, 86400)).set("backoff_max", rarely(r, 1, 604800)).
		set("backoff_jitter", rarely(r, 0, 3600000))
	if r.percent(25) {
		o.set("backoff_schedule", schedule(r))
	}
	return o
}

// retryCount returns a count: mostly one that shifts within 64 bits.
func retryCount(r *random) string {
	if r.percent(85) {
		return strconv.Itoa(r.below(70))
	}
	return integer(r, 0, 1<<31-1)
}

func wait(r *random) string {
	if r.percent(97) {
		return pick(r, good(r, 0, maxWait), good(r, 0, 100000), "604800000", "604800001", good(r, 0, 1<<62))
	}
	return anyInteger(r)
}

func backoff(r *random) *object {
	o := new(object).set("key", aKey(r)).set("retry_count", retryCount(r)).set("policy", backoffPolicy(r))
	if r.percent(30) {
		o.set("retry_after_ms", wait(r))
	}
	return o
}

var outcomes = []string{
	"OK", "DUPLICATE", "STALE", "RETRYABLE", "OUT_OF_ORDER", "THROTTLED", "NON_RETRYABLE", "KEY_REUSED", "CONFLICT",
	"MALFORMED", "CRASH_LOOP", "TOO_OLD", "IN_PROGRESS", "FENCED",
}

func decide(r *random) *object {
	outcome := pick(r, outcomes...)
	if r.percent(40) {
		outcome = pick(r, "RETRYABLE", "THROTTLED", "OUT_OF_ORDER", "IN_PROGRESS", "FENCED")
	}
	if r.percent(1) {
		outcome = pick(r, "", "ok", "UNKNOWN", "RETRY")
	}
	small := func() string { // a count near the limit
		if r.percent(92) {
			return strconv.Itoa(r.below(12))
		}
		return retryCount(r)
	}
	o := new(object).set("outcome", outcome).set("key", aKey(r)).
		set("retry_count", small()).set("max_retry", pick(r, strconv.Itoa(r.below(12)), rarely(r, 0, 100))).
		set("hold_count", small()).set("max_hold", pick(r, strconv.Itoa(r.below(12)), rarely(r, 0, 100))).
		set("policy", backoffPolicy(r))
	waits := outcome == "IN_PROGRESS" || outcome == "FENCED"
	if waits && r.percent(98) || r.percent(3) {
		o.set("wait_ms", wait(r))
	}
	if outcome == "THROTTLED" && r.percent(70) || r.percent(5) {
		o.set("retry_after_ms", wait(r))
	}
	if r.percent(40) {
		o.set("reason", text(r))
	}
	return o
}

func classify(r *random) *object {
	switch r.below(5) {
	case 0:
		status := strconv.Itoa(r.between(100, 599))
		if r.percent(25) {
			status = pick(r, "408", "409", "421", "423", "425", "429", "501", "503", "505", "506", "508", "510")
		}
		return with("http", pick(r, status, status, status, integer(r, 100, 599)))
	case 1:
		return with("grpc", pick(r, strconv.Itoa(r.below(18)), strconv.Itoa(r.below(18)), integer(r, 0, 1<<31-1)))
	case 2:
		return with("kafka", pick(r, strconv.Itoa(r.between(-1, 140)), strconv.Itoa(r.between(-1, 140)), integer(r, -1<<15, 1<<15-1)))
	case 3:
		return with("sqlstate", sqlstate(r))
	default:
		word := pick(r, "timeout", "refused", "reset", "closed", "eof", "unreachable", "dns_timeout", "canceled",
			"tls_certificate", "tls_hostname", "dns_not_found", "url_invalid", "broken_pipe")
		switch {
		case r.percent(10):
			word = pick(r, "", "EOF", "dns-timeout", " eof", "e0f", "a"+word+word+word+word+word+word, text(r))
		case r.percent(15):
			word = scratch(r, word)
		}
		return with("net", word)
	}
}

func sqlstate(r *random) string {
	s := pick(r, "00000", "08006", "21000", "22003", "23505", "25006", "25P03", "25001", "26000", "28P01", "2B000", "3D000",
		"3F000", "40001", "40002", "40003", "40P01", "42601", "44000", "53300", "55006", "55P03", "57014", "57P01", "57P02",
		"57P03", "57P05", "57000", "58030", "XX000", "0A000", "P0001", "HV000", "01000", "02000")
	const set = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if r.percent(35) {
		i := r.below(5)
		s = s[:i] + string(set[r.below(len(set))]) + s[i+1:]
	}
	if r.percent(5) {
		s = pick(r, "", s[1:], s+"0", "4000a", "é0001", "0000\n", scratch(r, s))
	}
	return s
}
