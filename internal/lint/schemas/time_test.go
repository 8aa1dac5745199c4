package schemas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint/config"
)

func TestTimes(t *testing.T) {
	t.Parallel()
	const (
		unit    = "IDEM_EPOCH_UNIT_MISSING"
		contra  = "IDEM_EPOCH_UNIT_CONTRADICTED"
		text    = "IDEM_TIMESTAMP_OPTION_MISSING"
		date    = "IDEM_DATE_TEXT"
		digits  = "IDEM_FRACTION_DIGITS_UNSTATED"
		few     = "IDEM_FRACTION_DIGITS_FEW"
		read    = `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{meter}:{at}" biz_key: "{meter}"}; string meter = 1; `
		at      = `google.protobuf.Timestamp at = 2 [(idem.v1.field).timestamp = {fraction_digits: `
		missing = "[(idem.v1.field).missing = MISSING_ERROR];"
	)
	rate := func(n int64) config.Facts {
		return config.Facts{Default: config.Fact{EventsPerSecondPerBizKey: ptr(n)}}
	}
	runAll(t, []given{
		{name: "named as a time", rule: unit,
			proto: message(`biz_key: "{paid_at}:{sent_at_ms}:{event_time}:{epoch}:{timestamp}"`, "int64 paid_at = 2 "+missing+" uint32 sent_at_ms = 3 "+missing+
				" google.protobuf.Int64Value event_time = 4; optional fixed64 epoch = 5; optional int32 timestamp = 6;"),
			want: []string{"M.paid_at", "M.sent_at_ms", "M.event_time", "M.epoch", "M.timestamp"}},
		{name: "spans, times of a day, parts of words", rule: unit,
			proto: message(`biz_key: "{timeout_ms}:{lead_time}:{start_time}:{seat}:{at}:{located_at}"`, `optional int64 timeout_ms = 2; optional int64 lead_time = 3;
				optional int64 start_time = 4; optional int64 seat = 5; optional int64 at = 6; optional int64 located_at = 7;`)},
		{name: "with a unit, or in no template", rule: unit,
			proto: message(`biz_key: "{paid_at}"`, "optional int64 paid_at = 2 [(idem.v1.field).timestamp = {unit: TIME_UNIT_S}]; int64 sent_at = 3;")},

		{name: "each unit", rule: contra,
			proto: message("", `int64 a_ms = 2 [(idem.v1.field).timestamp = {unit: TIME_UNIT_S}]; int64 b_seconds = 3 [(idem.v1.field).timestamp = {unit: TIME_UNIT_MS}];
				int64 c_micros = 4 [(idem.v1.field).timestamp = {unit: TIME_UNIT_NS}]; int64 d_nanos = 5 [(idem.v1.field).timestamp = {unit: TIME_UNIT_US}];`),
			want: []string{"TIME_UNIT_S, and its name says TIME_UNIT_MS", "TIME_UNIT_MS, and its name says TIME_UNIT_S", "TIME_UNIT_NS, and its name says TIME_UNIT_US", "TIME_UNIT_US, and its name says TIME_UNIT_NS"}},
		{name: "agree, or say nothing", rule: contra,
			proto: message("", `int64 a_ms = 2 [(idem.v1.field).timestamp = {unit: TIME_UNIT_MS}]; int64 ms = 3 [(idem.v1.field).timestamp = {unit: TIME_UNIT_S}];
				int64 at = 4 [(idem.v1.field).timestamp = {unit: TIME_UNIT_S}]; string b_ms = 5 [(idem.v1.field).timestamp = {}]; int64 c_ms = 6;`)},

		{name: "strings", rule: text, proto: message(`biz_key: "{paid_at}:{created_time}"`, "string paid_at = 2; string created_time = 3;"), want: []string{"M.paid_at", "M.created_time"}},
		{name: "places, said, other types", rule: text,
			proto: message(`biz_key: "{located_at}:{paid_at}:{sent_at}:{start_time}"`, `string located_at = 2; string paid_at = 3 [(idem.v1.field).timestamp = {}]; bytes sent_at = 4; string start_time = 5;`)},

		{name: "strings", rule: date, proto: message(`biz_key: "{date}:{due_date}"`, "string date = 2; string due_date = 3;"), want: []string{"M.date", "M.due_date"}},
		{name: "others", rule: date, proto: message(`biz_key: "{update}:{date_id}:{day}"`, "string update = 2; string date_id = 3; google.type.Date day = 4; string due_date = 5;")},

		{name: "kinds", rule: digits,
			proto: message(`biz_key: "{a}:{b}:{c}:{d}:{e}"`, `google.protobuf.Timestamp a = 2; string b = 3 [(idem.v1.field).timestamp = {}];
				optional int64 c = 4 [(idem.v1.field).timestamp = {unit: TIME_UNIT_US}]; google.protobuf.Duration d = 5; google.protobuf.Timestamp e = 6 [(idem.v1.field).missing = MISSING_ALLOW];`),
			want: []string{"M.a ", "M.b ", "M.c ", "M.d ", "M.e "}},
		{name: "stated, also as 0, or nothing to cut", rule: digits,
			proto: message(`biz_key: "{a}:{b}:{c}:{d}"`, `google.protobuf.Timestamp a = 2 [(idem.v1.field).timestamp = {fraction_digits: 0}]; optional int64 b = 3 [(idem.v1.field).timestamp = {unit: TIME_UNIT_S}];
				optional int64 c = 4 [(idem.v1.field).timestamp = {unit: TIME_UNIT_MS}]; google.protobuf.Duration d = 5 [(idem.v1.field).duration = {fraction_digits: 9}];`)},
		{name: "a header", rule: digits, proto: message(`occurred_at: "{at}"`, "google.protobuf.Timestamp at = 2;")},

		{name: "more events than texts", rule: few, facts: rate(1001), proto: read + at + "3}]; }", want: []string{"has 1000 texts in a second, and the facts say that there are 1001 events"}},
		{name: "as many", rule: few, facts: rate(1000), proto: read + at + "3}]; }"},
		{name: "no digits", rule: few, facts: rate(2), proto: read + at + "0}]; }", want: []string{"has 1 text in a second"}},
		{name: "more than the unit has", rule: few, facts: rate(10),
			proto: read + "int64 at = 2 [(idem.v1.field) = {timestamp: {unit: TIME_UNIT_S fraction_digits: 3} missing: MISSING_ERROR}]; }", want: []string{"has 1 text in a second"}},
		{name: "as many as the unit has", rule: few, facts: rate(1000),
			proto: read + "int64 at = 2 [(idem.v1.field) = {timestamp: {unit: TIME_UNIT_MS fraction_digits: 3} missing: MISSING_ERROR}]; }"},
		{name: "not declared", rule: few, proto: read + at + "0}]; }"},
		{name: "declared of another event type", rule: few, facts: config.Facts{Events: map[string]config.Fact{"t.other": {EventsPerSecondPerBizKey: ptr(int64(9))}}}, proto: read + at + "0}]; }"},
		{name: "declared of this event type", rule: few, facts: config.Facts{Events: map[string]config.Fact{"t.m": {EventsPerSecondPerBizKey: ptr(int64(9))}}}, proto: read + at + "0}]; }", want: []string{"9 events"}},
		{name: "another field that tells events apart", rule: few, facts: rate(9),
			proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{meter}:{at}:{n}" biz_key: "{meter}"}; string meter = 1; string n = 3; ` + at + "0}]; }"},
		{name: "no biz key", rule: few, facts: rate(9), proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{meter}:{at}"}; string meter = 1; ` + at + "0}]; }"},
		{name: "no biz key, and a time alone", rule: few, facts: rate(9), proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{at}"}; ` + at + "0}]; }"},
		{name: "no time", rule: few, facts: rate(9), proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{meter}" biz_key: "{meter}"}; string meter = 1; }`},
	})
}

func TestUnstatedDigitsAreStatedByAnEdit(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		"google.protobuf.Timestamp x = 2;":                                              "google.protobuf.Timestamp x = 2 [(idem.v1.field).timestamp = {fraction_digits: 3}];",
		"google.protobuf.Duration x = 2;":                                               "google.protobuf.Duration x = 2 [(idem.v1.field).duration = {fraction_digits: 3}];",
		"google.protobuf.Timestamp x = 2 [ deprecated = true ];":                        "google.protobuf.Timestamp x = 2 [ deprecated = true, (idem.v1.field).timestamp = {fraction_digits: 3} ];",
		"google.protobuf.Timestamp x = 2 [(idem.v1.field).missing = MISSING_ALLOW];":    "google.protobuf.Timestamp x = 2 [(idem.v1.field).missing = MISSING_ALLOW, (idem.v1.field).timestamp = {fraction_digits: 3}];",
		"google.protobuf.Timestamp x = 2 [(idem.v1.field) = {missing: MISSING_ALLOW}];": "",
		"string x = 2 [(idem.v1.field).timestamp = {}];":                                "",
		"google.protobuf.Timestamp x = 2 [json_name = \"];\"];":                         "",
		"google.protobuf.Timestamp x = 2 /* [ */;":                                      "",
	} {
		text := head + keyed(before)
		found := findings(t, "IDEM_FRACTION_DIGITS_UNSTATED", gentest.Sources{"t.proto": text}, config.Facts{})
		require.Len(t, found, 1, before)
		if after == "" {
			require.Empty(t, found[0].Edits, before)
			continue
		}
		require.Len(t, found[0].Edits, 1, before)
		e := found[0].Edits[0]
		fixed := text[:e.Start] + e.Text + text[e.End:]
		require.Equal(t, head+keyed(after), fixed)
		require.Empty(t, findings(t, "IDEM_FRACTION_DIGITS_UNSTATED", gentest.Sources{"t.proto": fixed}, config.Facts{}))
	}
}
