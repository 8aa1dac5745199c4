package idem_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// pairs makes headers of name, value, name, value.
func pairs(texts ...string) idem.Headers {
	var hs idem.Headers
	for i := 0; i < len(texts); i += 2 {
		hs = append(hs, idem.Header{Name: texts[i], Value: []byte(texts[i+1])})
	}
	return hs
}

// lines prints headers, a null as <null>.
func lines(hs idem.Headers) string {
	var b strings.Builder
	for _, h := range hs {
		if h.Value == nil {
			fmt.Fprintf(&b, "%s <null>\n", h.Name)
		} else {
			fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value)
		}
	}
	return b.String()
}

func TestHeaderNamesOfTransports(t *testing.T) {
	t.Parallel()
	for _, id := range idem.HeaderIDs() {
		name := id.String()
		words := strings.Split(name, "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		http := "Idem-" + strings.Join(words, "-")
		cloudEvents := strings.ReplaceAll(name, "_", "")
		switch id {
		case idem.IdempotencyKey:
			http = "Idempotency-Key"
		case idem.Traceparent, idem.Tracestate:
			http = name
		case idem.IdemSpec:
			http = "Idem-Spec"
		case idem.EventID:
			cloudEvents = "id"
		case idem.EventType:
			cloudEvents = "type"
		case idem.OccurredAt:
			cloudEvents = "time"
		case idem.BizKey:
			cloudEvents = "partitionkey"
		}
		for transport, w := range map[idem.Transport]string{
			idem.Kafka: name, idem.AMQP: name, idem.HTTP: http, idem.CloudEvents: cloudEvents,
		} {
			if got := transport.NameOf(id); got != w {
				t.Errorf("%v of %v: got %s, want %s", id, transport, got, w)
			}
			if got, ok := transport.Lookup(w); !ok || got != id {
				t.Errorf("%s on %v: got %v, %v", w, transport, got, ok)
			}
			other := strings.ToUpper(w)
			if got, ok := transport.Lookup(other); ok != (transport == idem.HTTP) || ok && got != id {
				t.Errorf("%s on %v: got %v, %v", other, transport, got, ok)
			}
		}
	}
}

func TestHeadersAreReadIntoTheEnvelope(t *testing.T) {
	t.Parallel()
	hs := pairs(
		"x", "1",
		"idempotency_key", "k:1",
		"retry_count", "2", "retry_count", "2",
		"hold_count", "1",
		"expected_current_state", "",
		"traceparent", "a", "traceparent", "b",
		"backoff_schedule", "1,20,300",
		"max_retry", "0",
		"occurred_at", "2025-01-01T04:00:00.5Z",
		"Idempotency_Key", "another",
	)
	hs = append(hs, idem.Header{Name: "topic"}, idem.Header{Name: "y"})
	e, err := idem.ParseHeaders(idem.Kafka, hs)
	if err != nil {
		t.Fatal(err)
	}
	if e.IdempotencyKey != "k:1" || e.RetryCount != 2 || e.Traceparent != "b" || e.OccurredAt != "2025-01-01T04:00:00.5Z" {
		t.Errorf("got %+v", e)
	}
	if e.Position() != 3 {
		t.Errorf("got the position %d", e.Position())
	}
	if !e.Present.Has(idem.ExpectedCurrentState) || e.Present.Has(idem.Topic) || e.Present.Has(idem.MaxHold) {
		t.Errorf("got %v", e.Present.List())
	}
	p := e.Policy()
	if p.MaxRetry == nil || *p.MaxRetry != 0 || p.MaxHold != nil || fmt.Sprint(p.BackoffSchedule) != "[1 20 300]" {
		t.Errorf("got the policy %+v", p)
	}
	if got := lines(e.Unknown); got != "x: 1\nIdempotency_Key: another\ny <null>\n" {
		t.Errorf("unknown:\n%s", got)
	}
	for id, w := range map[idem.HeaderID]string{
		idem.BackoffSchedule: "1,20,300", idem.MaxRetry: "0", idem.ExpectedCurrentState: "", idem.IdempotencyKey: "k:1",
	} {
		if got, ok := e.AppendText(nil, id); !ok || string(got) != w {
			t.Errorf("%v: got %q, %v", id, got, ok)
		}
	}
}

func TestHeaderFaults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 1025)
	for _, c := range []struct {
		name  string
		hs    idem.Headers
		code  idem.Code
		field string
	}{
		{"conflict", pairs("retry_count", "1", "retry_count", "2"), idem.CodeHeaderConflict, "retry_count"},
		{"conflict before syntax", pairs("retry_count", "x", "retry_count", "y"), idem.CodeHeaderConflict, "retry_count"},
		{"the table's order", pairs("retry_count", "x", "event_type", ""), idem.CodeHeaderSyntax, "event_type"},
		{"ill-formed", pairs("event_type", "\xff"), idem.CodeHeaderUTF8, "event_type"},
		{"empty key", pairs("idempotency_key", ""), idem.CodeKeySyntax, "idempotency_key"},
		{"blank in a key", pairs("biz_key", "a b"), idem.CodeKeySyntax, "biz_key"},
		{"long key", pairs("idempotency_key_previous", long), idem.CodeKeyTooLong, "idempotency_key_previous"},
		{"blank before an integer", pairs("retry_count", " 3"), idem.CodeHeaderSyntax, "retry_count"},
		{"leading zero", pairs("retry_count", "03"), idem.CodeHeaderSyntax, "retry_count"},
		{"binary integer", pairs("retry_count", "\x00\x00\x00\x03"), idem.CodeHeaderSyntax, "retry_count"},
		{"count too large", pairs("retry_count", "2147483648"), idem.CodeHeaderRange, "retry_count"},
		{"count of 40 digits", pairs("retry_count", strings.Repeat("9", 40)), idem.CodeHeaderRange, "retry_count"},
		{"too many retries", pairs("max_retry", "101"), idem.CodeHeaderRange, "max_retry"},
		{"base 0", pairs("backoff_base", "0"), idem.CodeHeaderRange, "backoff_base"},
		{"jitter over an hour", pairs("backoff_jitter", "3600001"), idem.CodeHeaderRange, "backoff_jitter"},
		{"longest interval and one", pairs("retry_interval", "608400001"), idem.CodeHeaderRange, "retry_interval"},
		{"empty schedule", pairs("backoff_schedule", ""), idem.CodeHeaderSyntax, "backoff_schedule"},
		{"schedule's syntax before its range", pairs("backoff_schedule", "604800001,x"), idem.CodeHeaderSyntax, "backoff_schedule"},
		{"33 entries", pairs("backoff_schedule", strings.Repeat("1,", 32)+"1"), idem.CodeHeaderRange, "backoff_schedule"},
		{"another major version", pairs("idem_spec", "2"), idem.CodeSpecVersion, "idem_spec"},
		{"upper-case fingerprint", pairs("fingerprint", "0000000A-0000000000000000"), idem.CodeHeaderSyntax, "fingerprint"},
		{"time with an offset", pairs("next_retry_time", "2025-01-01T00:00:00+00:00"), idem.CodeHeaderSyntax, "next_retry_time"},
		{"year 0", pairs("next_retry_time", "0000-01-01T00:00:00Z"), idem.CodeHeaderRange, "next_retry_time"},
		{"201 bytes of a name", pairs("target_scope", long[:201]), idem.CodeHeaderSyntax, "target_scope"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := idem.ParseHeaders(idem.Kafka, c.hs)
			e, ok := err.(*idem.Error)
			if !ok || e.Code != c.code || e.Field != c.field {
				t.Errorf("got %v, want %s of %s", err, c.code, c.field)
			}
		})
	}
}

func TestHeaderFaultsOfContextAreWarnings(t *testing.T) {
	t.Parallel()
	e, err := idem.ParseHeaders(idem.Kafka, pairs(
		"reject_reason", "a\nb", "event_id", "", "topic", "a", "topic", "b", "produced_at", "yesterday",
		"tracestate", "\xff", "event_type", "t",
	))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(e.Warnings.List()); got != "[event_id topic produced_at tracestate reject_reason]" {
		t.Errorf("got the warnings %s", got)
	}
	if got := fmt.Sprint(e.Present.List()); got != "[event_type]" || e.Topic != "" {
		t.Errorf("got %s, %q", got, e.Topic)
	}
}

func TestAMQPIntegersAreText(t *testing.T) {
	t.Parallel()
	integer := func(name, text string) idem.Headers {
		return idem.Headers{{Name: name, Value: []byte(text), Integer: true}}
	}
	e, err := idem.ParseHeaders(idem.AMQP, append(integer("retry_count", "3"), pairs("retry_count", "3")...))
	if err != nil || e.RetryCount != 3 {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := idem.ParseHeaders(idem.AMQP, integer("event_type", "3")); idem.CodeOf(err) != idem.CodeHeaderSyntax {
		t.Errorf("a name: got %v", err)
	}
	if _, err := idem.ParseHeaders(idem.AMQP, integer("retry_count", "-1")); idem.CodeOf(err) != idem.CodeHeaderSyntax {
		t.Errorf("below 0: got %v", err)
	}
	e, err = idem.ParseHeaders(idem.AMQP, integer("event_id", "3"))
	if err != nil || !e.Warnings.Has(idem.EventID) {
		t.Errorf("context: got %+v, %v", e, err)
	}
}

func TestHTTPKeyIsAStructuredFieldString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, key string
		code       idem.Code
	}{
		{`"abc"`, "abc", ""},
		{`abc`, "abc", ""},
		{" \t\"abc\" ", "abc", ""},
		{`"a\"b\\c"`, `a"b\c`, ""},
		{`a"b`, `a"b`, ""},
		{`"abc`, "", idem.CodeKeySyntax},
		{`"`, "", idem.CodeKeySyntax},
		{`"a"b"`, "", idem.CodeKeySyntax},
		{`"a\b"`, "", idem.CodeKeySyntax},
		{`"a\"`, "", idem.CodeKeySyntax},
		{`"abc";q=1`, "", idem.CodeKeySyntax},
		{`""`, "", idem.CodeKeySyntax},
		{`"a b"`, "", idem.CodeKeySyntax},
		{"caf\u00e9", "", idem.CodeKeySyntax},
		{"caf\xe9", "", idem.CodeHeaderUTF8},
	} {
		e, err := idem.ParseHeaders(idem.HTTP, pairs("idempotency-key", c.value))
		if idem.CodeOf(err) != c.code || err == nil && e.IdempotencyKey != c.key {
			t.Errorf("%s: got %+v, %v", c.value, e, err)
		}
	}
	if _, err := idem.ParseHeaders(idem.HTTP, pairs("Idempotency-Key", `"abc"`, "idempotency-key", "abc")); err != nil {
		t.Errorf("two forms of one key: %v", err)
	}
	e, err := idem.ParseHeaders(idem.HTTP, pairs("Idem-Topic", "é"))
	if err != nil || !e.Warnings.Has(idem.Topic) {
		t.Errorf("a value outside ASCII: %+v, %v", e, err)
	}
}

func outgoing() *idem.Outgoing {
	p := idem.DefaultPolicy()
	return &idem.Outgoing{
		EventType: "payments.paid", IdempotencyKey: []byte("payments.paid:v1:p-17"), BizKey: []byte("o-17"),
		Fingerprint: []byte(print1), OccurredAt: []byte("2025-01-01T04:00:00.000Z"), HasTransition: true, Retry: &p,
	}
}

func TestProducerHeadersAreInTheTablesOrder(t *testing.T) {
	t.Parallel()
	hs, err := idem.AppendHeaders(nil, outgoing(), idem.Context{
		EventID: "e-1", Topic: "payments", Traceparent: "00-1",
		ProducedAt: time.Date(2025, 1, 1, 5, 0, 0, 999999999, time.FixedZone("", 3600)),
	})
	if err != nil {
		t.Fatal(err)
	}
	const w = `idempotency_key: payments.paid:v1:p-17
event_id: e-1
event_type: payments.paid
biz_key: o-17
topic: payments
produced_at: 2025-01-01T04:00:00.999Z
occurred_at: 2025-01-01T04:00:00.000Z
traceparent: 00-1
expected_current_state: 
fingerprint: 00000001-0000000000000001
idem_spec: 1
max_retry: 5
max_hold: 20
backoff_base: 1
backoff_jitter: 1000
backoff_max: 300
`
	if got := lines(hs); got != w {
		t.Errorf("got\n%s", got)
	}
	if _, err := idem.ParseHeaders(idem.Kafka, hs); err != nil {
		t.Errorf("a reader refuses them: %v", err)
	}
}

func TestProducerHeadersWithASchedule(t *testing.T) {
	t.Parallel()
	m := outgoing()
	m.Retry.BackoffSchedule = []int32{1, 20}
	m.HasTransition = false
	hs, err := idem.AppendHeaders(pairs("before", "1"), m, idem.Context{})
	if err != nil {
		t.Fatal(err)
	}
	const w = `before: 1
idempotency_key: payments.paid:v1:p-17
event_type: payments.paid
biz_key: o-17
occurred_at: 2025-01-01T04:00:00.000Z
fingerprint: 00000001-0000000000000001
idem_spec: 1
max_retry: 5
max_hold: 20
backoff_jitter: 1000
backoff_schedule: 1,20
`
	if got := lines(hs); got != w {
		t.Errorf("got\n%s", got)
	}
	_, err = idem.AppendHeaders(nil, m, idem.Context{ProducedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})
	if idem.CodeOf(err) != idem.CodeTimestampRange {
		t.Errorf("the year 10000: got %v", err)
	}
}

func TestHeadersForATransport(t *testing.T) {
	t.Parallel()
	hs := pairs("idempotency_key", `a"b`, "retry_count", "1", "event_id", "e", "reject_reason", "é!", "x_y", "z")
	for transport, w := range map[idem.Transport]string{
		idem.Kafka:       lines(hs),
		idem.HTTP:        "Idempotency-Key: \"a\\\"b\"\nIdem-Retry-Count: 1\nIdem-Event-Id: e\nIdem-Reject-Reason: ?!\nx_y: z\n",
		idem.CloudEvents: "idempotencykey: a\"b\nretrycount: 1\nid: e\nrejectreason: é!\nx_y: z\n",
	} {
		if got := lines(hs.For(transport)); got != w {
			t.Errorf("%v: got\n%s", transport, got)
		}
	}
}

func retryAt(ms int64) *idem.Next {
	a := idem.Decision{
		Action: idem.ActionRetry, Delay: idem.Delay{BaseMs: 2000, JitterMs: 17}, Counts: idem.Counts{Retry: 2}, Reason: "BUSY: a\nb",
	}
	n := a.Next("payments", "orders", ms)
	return &n
}

func TestNextDeliveryHasTheSameSizeAfter100Retries(t *testing.T) {
	t.Parallel()
	hs := append(pairs("x", "1", "idempotency_key", "k", "retry_count", "1", "traceparent", "a", "traceparent", "b"),
		idem.Header{Name: "y"}, idem.Header{Name: "biz_key"})
	const w = `idempotency_key: k
topic: orders
traceparent: b
retry_count: 2
hold_count: 0
target_scope: payments
retry_interval: 2017
next_retry_time: 1970-01-01T00:00:03.017Z
reject_reason: BUSY: a b
x: 1
y <null>
`
	for i := 0; i < 100; i++ {
		next, err := idem.AppendNext(nil, idem.Kafka, hs, retryAt(1000))
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(next); got != w {
			t.Fatalf("delivery %d: got\n%s", i, got)
		}
		hs = next
	}
}

func TestNextDeliveryByAction(t *testing.T) {
	t.Parallel()
	before := pairs("topic", "origin", "fingerprint", print1, "retry_count", "3", "redrive_count", "4",
		"retry_interval", "9", "next_retry_time", "2025-01-01T00:00:00Z", "reject_reason", "OLD")
	for _, c := range []struct {
		name string
		next idem.Next
		want string
	}{
		{
			"defer keeps the reason",
			idem.Next{Action: idem.ActionDefer, Scope: "s", RetryCount: 3, HoldCount: 1, DelayMs: 5},
			"topic: origin\nfingerprint: " + print1 + "\nretry_count: 3\nhold_count: 1\nredrive_count: 4\ntarget_scope: s\n" +
				"retry_interval: 5\nnext_retry_time: 1970-01-01T00:00:00.005Z\nreject_reason: OLD\n",
		},
		{
			"dead letter of a message that could not be read",
			idem.Next{Action: idem.ActionDeadLetter, Scope: "s", RetryCount: -1, HoldCount: -1, Reason: "MALFORMED"},
			"topic: origin\nfingerprint: " + print1 + "\nretry_count: 3\nredrive_count: 4\ntarget_scope: s\nreject_reason: MALFORMED\n",
		},
		{
			"redrive",
			idem.Next{Action: idem.ActionRedrive, Scope: "s", RedriveCount: 2},
			"topic: origin\nfingerprint: " + print1 + "\nretry_count: 0\nhold_count: 0\nredrive_count: 5\ntarget_scope: s\n",
		},
		{
			"redrive of a repaired payload, known to the record",
			idem.Next{Action: idem.ActionRedrive, Scope: "s", RedriveCount: 1<<31 - 1, DropFingerprint: true},
			"topic: origin\nretry_count: 0\nhold_count: 0\nredrive_count: 2147483647\ntarget_scope: s\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hs, err := idem.AppendNext(nil, idem.Kafka, before, &c.next)
			if got := lines(hs); err != nil || got != c.want {
				t.Errorf("got %v\n%s", err, got)
			}
		})
	}
	if _, err := idem.AppendNext(nil, idem.Kafka, before, &idem.Next{Action: idem.ActionAck}); idem.CodeOf(err) != idem.CodeInputInvalid {
		t.Errorf("ack: got %v", err)
	}
}

func TestNextDeliveryKeepsWhatIsFaulty(t *testing.T) {
	t.Parallel()
	hs := pairs("max_retry", "\xff", "idempotency_key", "a", "idempotency_key", "b", "idempotency_key", "a", "redrive_count", "x")
	for i := 0; i < 20; i++ { // more values than are compared one by one
		hs = append(hs, pairs("biz_key", fmt.Sprint(i), "biz_key", fmt.Sprint(i%3))...)
	}
	next, err := idem.AppendNext(nil, idem.Kafka, hs, &idem.Next{Action: idem.ActionDeadLetter, Scope: "s", Topic: "t", RetryCount: -1, HoldCount: -1})
	if err != nil {
		t.Fatal(err)
	}
	w := "idempotency_key: a\nidempotency_key: b\n"
	for i := 0; i < 20; i++ {
		w += fmt.Sprintf("biz_key: %d\n", i)
	}
	w += "topic: t\nmax_retry: \xff\nredrive_count: x\ntarget_scope: s\nreject_reason: \n"
	if got := lines(next); got != w {
		t.Errorf("got\n%s", got)
	}
	next, err = idem.AppendNext(nil, idem.Kafka, hs, &idem.Next{Action: idem.ActionRedrive})
	if err != nil || !strings.Contains(lines(next), "redrive_count: 1\n") {
		t.Errorf("a faulty count is 0: got %v\n%s", err, lines(next))
	}
}

func TestNextDeliveryAfterTheLastYear(t *testing.T) {
	t.Parallel()
	for ms, code := range map[int64]idem.Code{
		253402300799999 - 2017: "", 253402300799999 - 2016: idem.CodeTimestampRange, 1<<63 - 1: idem.CodeTimestampRange,
	} {
		if _, err := idem.AppendNext(nil, idem.Kafka, nil, retryAt(ms)); idem.CodeOf(err) != code {
			t.Errorf("%d: got %v", ms, err)
		}
	}
}

func TestReasonFitsItsHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, out string }{
		{"control characters", "a\x00\n\x7f\u0080b", "a   \u0080b"},
		{"cut before a character", strings.Repeat("é", 511) + "a" + "é", strings.Repeat("é", 511) + "a"},
		{"exactly full", strings.Repeat("é", 512), strings.Repeat("é", 512)},
		{"ill-formed", "a\xffb", "a?b"},
	} {
		if got := idem.AppendReason([]byte("x"), c.in); string(got) != "x"+c.out {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

// FuzzHeaders: whatever comes, reading does not panic, what is carried on can be read like what came, and
// carrying on twice changes nothing.
func FuzzHeaders(f *testing.F) {
	f.Add(uint8(0), "idempotency_key", []byte("k"), "retry_count", []byte("1"))
	f.Add(uint8(2), "idempotency-key", []byte(`"k`), "Idempotency-Key", []byte("\"k\""))
	f.Add(uint8(3), "time", []byte("2025-01-01T00:00:00Z"), "partitionkey", []byte("b"))
	f.Add(uint8(1), "backoff_schedule", []byte("1,2"), "reject_reason", []byte("\n"))
	f.Fuzz(func(t *testing.T, transport uint8, name1 string, value1 []byte, name2 string, value2 []byte) {
		tr := idem.Transport(transport % 4)
		hs := idem.Headers{{Name: name1, Value: value1}, {Name: name2, Value: value2}}
		e, err := idem.ParseHeaders(tr, hs)
		for _, action := range []idem.Action{idem.ActionRetry, idem.ActionDefer, idem.ActionDeadLetter, idem.ActionRedrive} {
			n := retryAt(1000)
			n.Action = action
			once, nextErr := idem.AppendNext(nil, tr, hs, n)
			if nextErr != nil {
				t.Fatal(nextErr)
			}
			n.RedriveCount = -1
			twice, nextErr := idem.AppendNext(nil, tr, once, n)
			if action != idem.ActionRedrive && (nextErr != nil || lines(once) != lines(twice)) {
				t.Fatalf("%v\n%s\n%s", nextErr, lines(once), lines(twice))
			}
			again, againErr := idem.ParseHeaders(tr, once)
			if err == nil && (againErr != nil || again.IdempotencyKey != e.IdempotencyKey || again.BizKey != e.BizKey) {
				t.Fatalf("%+v\n%+v, %v", e, again, againErr)
			}
		}
		if err == nil && !utf8.ValidString(e.IdempotencyKey+e.Topic+e.Tracestate+e.RejectReason) {
			t.Fatalf("ill-formed text: %+v", e)
		}
	})
}

// FuzzSFString: what is written as a structured-field string is read back.
func FuzzSFString(f *testing.F) {
	f.Add([]byte(`a"b\c`))
	f.Add([]byte(`"`))
	f.Fuzz(func(t *testing.T, key []byte) {
		if idem.CheckKey(string(key)) != nil {
			return
		}
		hs := idem.Headers{{Name: "idempotency_key", Value: key}}.For(idem.HTTP)
		e, err := idem.ParseHeaders(idem.HTTP, hs)
		if err != nil || e.IdempotencyKey != string(key) {
			t.Fatalf("%q is %s, which is %+v, %v", key, hs[0].Value, e, err)
		}
	})
}

func BenchmarkHeaders(b *testing.B) {
	hs, _ := idem.AppendHeaders(nil, outgoing(), idem.Context{EventID: "e-1", Topic: "payments", ProducedAt: time.Unix(1, 0)})
	b.Run("parse", func(b *testing.B) {
		var e idem.Envelope
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			_ = e.Parse(idem.Kafka, hs)
		}
	})
	b.Run("next", func(b *testing.B) {
		n := retryAt(1000)
		next := make(idem.Headers, 0, 32)
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			next, _ = idem.AppendNext(next[:0], idem.Kafka, hs, n)
		}
	})
	b.Run("produce", func(b *testing.B) {
		m := outgoing()
		next := make(idem.Headers, 0, 32)
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			next, _ = idem.AppendHeaders(next[:0], m, idem.Context{EventID: "e-1", Topic: "payments", ProducedAt: time.Unix(1, 0)})
		}
	})
}
