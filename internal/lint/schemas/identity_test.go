package schemas_test

import (
	"strings"
	"testing"
)

// enum is an open enum, which a component can be of.
const enum = ` enum E { E_UNSPECIFIED = 0; E_A = 1; }`

// key is an annotated message M with that key.
func key(template, fields string) string {
	return `message M { option (idem.v1.message).idempotency_key = "` + template + `"; ` + fields + ` }` + enum
}

func TestKeysThatNameNoID(t *testing.T) {
	const rule = "IDEM_KEY_WITHOUT_ID"
	runAll(t, []given{
		{name: "a time", rule: rule, proto: key("t.m:v1:{at}", `google.protobuf.Timestamp at = 1;`), want: []string{"at is a time"}},
		{name: "a time in a string", rule: rule,
			proto: key("t.m:v1:{at}", `string at = 1 [(idem.v1.field).timestamp = {}];`), want: []string{"at is a time"}},
		{name: "an integer since the epoch", rule: rule,
			proto: key("t.m:v1:{at}", `int64 at = 1 [(idem.v1.field) = {timestamp: {unit: TIME_UNIT_S} missing: MISSING_ERROR}];`), want: []string{"at is a time"}},
		{name: "a day and an enum", rule: rule,
			proto: key("t.m:v1:{day}:{e}", `google.type.Date day = 1; optional E e = 2;`), want: []string{"day is a day, e is an enum"}},
		{name: "a boolean", rule: rule, proto: key("t.m:v1:{on}", `optional bool on = 1;`), want: []string{"on is true or false"}},
		{name: "an amount and a currency", rule: rule,
			proto: key("t.m:v1:{amount}:{currency_code}", `google.type.Decimal amount = 1; string currency_code = 2;`),
			want:  []string{"amount is an amount, currency_code is a currency"}},
		{name: "money", rule: rule, proto: key("t.m:v1:{price}", `google.type.Money price = 1;`), want: []string{"price is an amount"}},
		{name: "a string beside a time", rule: rule, proto: key("t.m:v1:{at}:{x}", `google.protobuf.Timestamp at = 1; string x = 2;`)},
		{name: "an integer", rule: rule, proto: key("t.m:v1:{n}", `optional int32 n = 1;`)},
		{name: "bytes", rule: rule, proto: key("t.m:v1:{b}", `bytes b = 1;`)},
		{name: "a UUID", rule: rule, proto: key("t.m:v1:{u}", `string u = 1 [(idem.v1.field).uuid = true];`)},
		{name: "a name that has a currency in it", rule: rule, proto: key("t.m:v1:{currency_account}", `string currency_account = 1;`)},
	})
}

func TestTemplatesThatAreAlwaysTooLong(t *testing.T) {
	const rule = "IDEM_TEMPLATE_TOO_LONG"
	// literal makes the text n bytes long, with a component of some.
	literal := func(n, component int) string { return strings.Repeat("x", n-len("t.m:")-len(":")-component) }
	uuid := `string u = 1 [(idem.v1.field).uuid = true];`
	const day, second, digest, id = 10, 20, 32, 36
	runAll(t, []given{
		{name: "1024 bytes with a UUID", rule: rule, proto: key("t.m:"+literal(1024, id)+":{u}", uuid)},
		{name: "1025", rule: rule, proto: key("t.m:"+literal(1025, id)+":{u}", uuid), want: []string{"at least 1025 bytes"}},
		{name: "a UUID that may be missing", rule: rule,
			proto: key("t.m:"+literal(1025, id)+":{u}", `optional string u = 1 [(idem.v1.field) = {uuid: true missing: MISSING_ALLOW}];`)},
		{name: "a time of no digits", rule: rule,
			proto: key("t.m:"+literal(1025, second)+":{u}", `google.protobuf.Timestamp u = 1 [(idem.v1.field).timestamp = {fraction_digits: 0}];`),
			want:  []string{"at least 1025 bytes"}},
		{name: "a time of three", rule: rule,
			proto: key("t.m:"+literal(1024, second)+":{u}", `google.protobuf.Timestamp u = 1;`), want: []string{"at least 1028 bytes"}},
		{name: "a day", rule: rule, proto: key("t.m:"+literal(1025, day)+":{u}", `google.type.Date u = 1;`), want: []string{"at least 1025 bytes"}},
		{name: "a digest", rule: rule,
			proto: key("t.m:"+literal(1025, digest)+":{u}", `string u = 1 [(idem.v1.field).digest = DIGEST_SHA256];`), want: []string{"at least 1025 bytes"}},
		{name: "a string of no bytes", rule: rule, proto: key("t.m:"+literal(1024, 3)+":{u}", `string u = 1;`)},
		{name: "a biz key", rule: rule,
			proto: message(`biz_key: "`+literal(1025, id)+`:{u}:xxxx"`, `string u = 2 [(idem.v1.field).uuid = true];`), want: []string{"at least 1026 bytes"}},
	})
}
