package bulk

import (
	"strconv"
	"strings"
)

// headerNames is the table of HDR-002.
var headerNames = []string{
	"idempotency_key", "event_id", "event_type", "biz_key", "topic", "produced_at", "occurred_at", "traceparent", "tracestate",
	"expected_current_state", "idempotency_key_previous", "fingerprint", "idem_spec", "retry_count", "max_retry", "hold_count",
	"max_hold", "redrive_count", "target_scope", "backoff_base", "backoff_jitter", "backoff_max", "backoff_schedule",
	"retry_interval", "next_retry_time", "reject_reason",
}

// headerRanges are the integers of the table.
var headerRanges = map[string][2]int64{
	"idem_spec": {1, 1}, "retry_count": {0, 1<<31 - 1}, "max_retry": {0, 100}, "hold_count": {0, 1<<31 - 1},
	"max_hold": {0, 100}, "redrive_count": {0, 1<<31 - 1}, "backoff_base": {1, 86400}, "backoff_jitter": {0, 3600000},
	"backoff_max": {1, 604800}, "retry_interval": {0, 608400000},
}

var transports = []string{"kafka", "amqp", "http", "cloudevents"}

// onTheWire returns a header's name on a transport: HDR-040 to HDR-045.
func onTheWire(r *random, transport, name string) string {
	switch transport {
	case "http":
		wire := name
		switch name {
		case "idempotency_key":
			wire = "Idempotency-Key"
		case "traceparent", "tracestate":
		case "idem_spec":
			wire = "Idem-Spec"
		default:
			wire = "Idem-" + strings.ReplaceAll(name, "_", "-")
		}
		return pick(r, wire, strings.ToLower(wire), strings.ToUpper(wire), title(wire))
	case "cloudevents":
		switch name {
		case "event_id":
			return "id"
		case "event_type":
			return "type"
		case "occurred_at":
			return "time"
		case "biz_key":
			return "partitionkey"
		}
		return strings.ReplaceAll(name, "_", "")
	default:
		return name
	}
}

// title writes each word of a name with a capital.
func title(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "-")
}

// headerText returns a value that is mostly right.
func headerText(r *random, name string) string {
	if bounds, ok := headerRanges[name]; ok {
		switch {
		case name == "idem_spec" && r.percent(10):
			return pick(r, "0", "2", "1", "10")
		case r.percent(2):
			return uncanonical(r, strconv.Itoa(r.below(100)))
		case r.percent(2):
			return pick(r, "", "-1", "1,2", "0x1", "1_000", digits(r, 40))
		default:
			return rarely(r, bounds[0], bounds[1])
		}
	}
	var s string
	switch name {
	case "idempotency_key", "biz_key", "idempotency_key_previous":
		s = pick(r, printable(r, 1, 30), "payments.payment_success:v1:p%2F"+digits(r, 3))
		if r.percent(3) {
			s = printable(r, 1022, 1026)
		}
	case "event_id", "topic":
		s = pick(r, word(r, 1, 30), odd(r, 8))
		if r.percent(3) {
			s = strings.Repeat("t", r.between(1022, 1026))
		}
	case "event_type", "target_scope":
		s = word(r, 1, 30)
		if r.percent(3) {
			s = word(r, 198, 202)
		}
	case "expected_current_state":
		s = pick(r, "", "PAYING", word(r, 0, 20))
		if r.percent(3) {
			s = word(r, 198, 202)
		}
	case "fingerprint":
		s = pick(r, "0a1b2c3d", "ffffffff") + "-" + hexBytes(r, 8, 8)
		if r.percent(4) {
			s = pick(r, strings.ToUpper(s), s[1:], s+"0", strings.Replace(s, "-", "", 1))
		}
	case "produced_at", "occurred_at", "next_retry_time":
		s = rfc3339(r)
		if i := strings.LastIndexAny(s, "+-Z"); i > 10 && r.percent(97) {
			s = s[:i] + "Z"
		}
	case "traceparent", "tracestate":
		s = pick(r, "00-"+hexBytes(r, 16, 16)+"-"+hexBytes(r, 8, 8)+"-01", text(r))
	case "backoff_schedule":
		s = scheduleText(r)
	case "reject_reason":
		s = pick(r, "HTTP_502: bad gateway", text(r), odd(r, 20))
		if r.percent(3) {
			s = strings.Repeat("r", r.between(1022, 1026))
		}
	}
	if r.percent(2) {
		s = scratch(r, s)
	}
	if r.percent(1) {
		s = ""
	}
	return s
}

func scheduleText(r *random) string {
	var parts []string
	for _, e := range schedule(r) {
		parts = append(parts, e.(string))
	}
	s := strings.Join(parts, ",")
	if r.percent(4) {
		s = pick(r, s+",", ","+s, strings.ReplaceAll(s, ",", ", "), "0"+s)
	}
	return s
}

// headerValue returns a value in a form that the transport has.
func headerValue(r *random, transport, name string) any {
	if r.percent(2) {
		return nil
	}
	if transport == "amqp" && r.percent(15) {
		if bounds, ok := headerRanges[name]; ok {
			return with("int", rarely(r, bounds[0], bounds[1]))
		}
		if r.percent(20) {
			return with("int", anyInteger(r))
		}
	}
	s := headerText(r, name)
	if transport == "http" {
		s = httpText(r, name, s)
	}
	switch {
	case r.percent(3):
		return with("hex", hexText(r, s))
	case r.percent(4):
		return with("hex", hexOf(s))
	default:
		return with("utf8", s)
	}
}

// httpText writes a value as HTTP has it: the key as a structured field, blanks around.
func httpText(r *random, name, s string) string {
	if name == "idempotency_key" && r.percent(60) {
		s = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
		if r.percent(6) {
			s = pick(r, s[:len(s)-1], s+";a=1", s+"x", strings.ReplaceAll(s, `\`, ""), `"\a"`, `"a\`)
		}
	}
	if r.percent(10) {
		s = pick(r, " "+s, s+"\t", "\t "+s+"  ")
	}
	if s != "" && r.percent(90) {
		// Most values of HTTP are ASCII.
		s = strings.Map(func(c rune) rune {
			if c < 0x20 && c != '\t' || c > 0x7e {
				return 'x'
			}
			return c
		}, s)
	}
	return s
}

func hexOf(s string) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		b = append(b, digits[s[i]>>4], digits[s[i]&15])
	}
	return string(b)
}

// pairs returns some headers: known ones, unknown ones, some twice.
func pairs(r *random, transport string) list {
	l := list{}
	for range r.below(pick(r, 4, 10)) {
		var name string
		var value any
		if r.percent(80) {
			known := headerNames[r.below(len(headerNames))]
			name, value = onTheWire(r, transport, known), headerValue(r, transport, known)
		} else {
			name = pick(r, "source", "specversion", "X-Request-Id", "Idempotency_Key", "idempotencykey", "Retry_Count", "Content-Type", "", word(r, 1, 12), odd(r, 4))
			if r.percent(30) {
				name = headerNames[r.below(len(headerNames))]
			}
			value = headerValue(r, transport, "tracestate")
		}
		l = append(l, list{name, value})
		if r.percent(5) {
			l = append(l, list{name, value})
		}
		if len(l) > 1 && r.percent(4) {
			l = append(l, list{l[0].(list)[0], value})
		}
	}
	return l
}

func headers(r *random) *object {
	transport := pick(r, transports...)
	o := with("transport", transport).set("headers", pairs(r, transport))
	if r.percent(1) {
		o.members[0].value = pick(r, "", "Kafka", "grpc")
	}
	return o
}

func nextHeaders(r *random) *object {
	transport := pick(r, transports...)
	scope, topic := word(r, 1, 20), pick(r, "orders", word(r, 1, 20))
	if r.percent(5) {
		scope, topic = text(r), text(r)
	}
	now := pick(r, "1735704000000", good(r, 0, 253402300799999), good(r, 253402300700000, 253402300799999), good(r, 0, most))
	if r.percent(1) {
		now = pick(r, "-1", "9223372036854775808")
	}
	return with("transport", transport).set("headers", pairs(r, transport)).set("decision", decision(r)).
		set("scope", scope).set("topic", topic).set("now_ms", now)
}

func decision(r *random) *object {
	action := pick(r, "RETRY", "HOLD", "DEFER", "DEAD_LETTER", "REDRIVE")
	count := func() string { return pick(r, strconv.Itoa(r.below(20)), good(r, 0, 1<<31-1), good(r, 0, most)) }
	o := with("action", action)
	switch action {
	case "RETRY", "HOLD", "DEFER":
		o.set("delay_ms", pick(r, good(r, 0, 608400000), good(r, 0, 100000), good(r, 0, most))).
			set("retry_count", count()).set("hold_count", count())
	case "DEAD_LETTER":
		if r.percent(70) {
			o.set("retry_count", count())
		}
		if r.percent(70) {
			o.set("hold_count", count())
		}
	default:
		o.set("redrive_count", pick(r, count(), "2147483646", "2147483647", "2147483648"))
		if r.percent(30) {
			o.set("drop_fingerprint", true)
		}
	}
	if action == "RETRY" || action == "HOLD" || action == "DEAD_LETTER" {
		o.set("reject_reason", reason(r))
	}
	if r.percent(1) {
		o.members[0].value = pick(r, "ACK", "", "retry")
	}
	return o
}

// reason returns a reason for a rejection, at times about as long as a header may be.
func reason(r *random) string {
	if r.percent(90) {
		return text(r)
	}
	s := strings.Repeat(pick(r, "a", "é", "語", "😀", "\n"), 260)
	for len(s) < 1020 {
		s += s
	}
	return word(r, 0, 4) + s
}
