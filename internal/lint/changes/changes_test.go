package changes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/source"
)

// header begins each schema of these tests.
const header = `syntax = "proto3";
package shop.v1;
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/type/decimal.proto";
import "idem/v1/options.proto";
`

// paid is a message with these options and fields.
func paid(options, fields string) string {
	return header + "message Paid {\n  option (idem.v1.message) = {" + options + "};\n" + fields + "\n}\n"
}

// keyed is a message whose key is one field.
func keyed(field string) string {
	return paid(`idempotency_key: "paid:v1:{a}"`, field)
}

func schemaOf(t testing.TB, text string) *source.Files {
	t.Helper()
	files, err := compile(t, map[string]string{"shop/v1/paid.proto": text})
	require.NoError(t, err)
	return files
}

// between are the findings of a change of one file.
func between(t testing.TB, before, after string) []lint.Finding {
	t.Helper()
	return found(schemaOf(t, before), schemaOf(t, after))
}

func TestTypeThatReadsTheSameNumbersIsNoChange(t *testing.T) {
	t.Parallel()
	const must = " [(idem.v1.field).missing = MISSING_ERROR];"
	const enum = "\nenum Mode { MODE_UNSPECIFIED = 0; MODE_FAST = 1; }"
	for _, c := range []struct{ before, after, rule string }{
		{"int32 a = 1" + must, "int64 a = 1" + must, ""},
		{"uint32 a = 1" + must, "uint64 a = 1" + must, ""},
		{"uint32 a = 1" + must, "int64 a = 1" + must, ""},
		{"sint32 a = 1" + must, "sint64 a = 1" + must, ""},
		{"int32 a = 1" + must, "Mode a = 1" + must + enum, ""},
		{"Mode a = 1" + must + enum, "int64 a = 1" + must, ""},
		{"int64 a = 1" + must, "int32 a = 1" + must, "IDEM_COMPONENT_TYPE_CHANGED"},
		{"int32 a = 1" + must, "uint32 a = 1" + must, "IDEM_COMPONENT_TYPE_CHANGED"},
		{"int32 a = 1" + must, "sint32 a = 1" + must, "IDEM_COMPONENT_TYPE_CHANGED"},
		{"fixed32 a = 1" + must, "fixed64 a = 1" + must, "IDEM_COMPONENT_TYPE_CHANGED"},
		{"bool a = 1" + must, "int32 a = 1" + must, "IDEM_COMPONENT_TYPE_CHANGED"},
		{"string a = 1;", "bytes a = 1;", "IDEM_COMPONENT_TYPE_CHANGED"},
		{"string a = 1;", "google.protobuf.StringValue a = 1;", "IDEM_COMPONENT_TYPE_CHANGED"},
		{"google.protobuf.Timestamp a = 1;", "google.protobuf.Duration a = 1;", "IDEM_COMPONENT_TYPE_CHANGED"},
		{"google.protobuf.Int32Value a = 1;", "google.protobuf.Int64Value a = 1;", "IDEM_COMPONENT_TYPE_CHANGED"},
	} {
		t.Run(c.before+" "+c.after, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, strings.Fields(c.rule), fields(between(t, keyed(c.before), keyed(c.after))))
		})
	}
}

// fields are the rules of findings, empty and not nil where there are none.
func fields(findings []lint.Finding) []string { return append([]string{}, ids(findings)...) }

func TestComponentIsWrittenAsItWas(t *testing.T) {
	t.Parallel()
	const epoch = "int64 a = 1 [(idem.v1.field) = {missing: MISSING_ERROR timestamp: {unit: TIME_UNIT_MS}}];"
	for name, c := range map[string]struct{ before, after, rule string }{
		"three digits are the default": {
			"google.protobuf.Timestamp a = 1;", "google.protobuf.Timestamp a = 1 [(idem.v1.field).timestamp = {fraction_digits: 3}];", "",
		},
		"digits of a duration": {
			"google.protobuf.Duration a = 1;", "google.protobuf.Duration a = 1 [(idem.v1.field).duration = {fraction_digits: 0}];", "IDEM_COMPONENT_DIGITS_CHANGED",
		},
		"digits of a text": {
			"string a = 1 [(idem.v1.field).timestamp = {}];", "string a = 1 [(idem.v1.field).timestamp = {fraction_digits: 9}];", "IDEM_COMPONENT_DIGITS_CHANGED",
		},
		"digits of an epoch": {epoch, strings.Replace(epoch, "unit", "fraction_digits: 0 unit", 1), "IDEM_COMPONENT_DIGITS_CHANGED"},
		"the unit":           {epoch, strings.Replace(epoch, "_MS", "_US", 1), "IDEM_COMPONENT_UNIT_CHANGED"},
		"no time any more": {
			epoch, "int64 a = 1 [(idem.v1.field).missing = MISSING_ERROR];", "IDEM_COMPONENT_TEXT_CHANGED",
		},
		"a scale, of a message": {
			"google.type.Decimal a = 1;", "google.type.Decimal a = 1 [(idem.v1.field).decimal = {max_scale: 8}];", "IDEM_COMPONENT_SCALE_LOWERED",
		},
		"a scale that no decimal has": {
			"string a = 1 [(idem.v1.field).decimal = {}];", "string a = 1 [(idem.v1.field).decimal = {max_scale: 254}];", "",
		},
		"the largest scale that a decimal has": {
			"string a = 1 [(idem.v1.field).decimal = {max_scale: 255}];", "string a = 1 [(idem.v1.field).decimal = {max_scale: 253}];", "IDEM_COMPONENT_SCALE_LOWERED",
		},
		"no scale": {"google.type.Decimal a = 1 [(idem.v1.field).decimal = {max_scale: 8}];", "google.type.Decimal a = 1;", ""},
		"a digest of a digest's field that is renamed too": {
			"string a = 1 [(idem.v1.field).digest = DIGEST_SHA256];", "string a = 1;", "IDEM_COMPONENT_DIGEST_CHANGED",
		},
		"redaction beside a digest": {
			"string a = 1 [(idem.v1.field).digest = DIGEST_SHA256];", "string a = 1 [debug_redact = true, (idem.v1.field).digest = DIGEST_SHA256];", "",
		},
		"a oneof of one": {"optional string a = 1;", "oneof of { string a = 1; }", ""},
		"a oneof with what there was": {
			"optional string a = 1; string b = 2;", "oneof of { string a = 1; string b = 2; }", "IDEM_COMPONENT_PRESENCE_CHANGED",
		},
		"a oneof with what is new": {"oneof of { string a = 1; }", "oneof of { string a = 1; string b = 2; }", ""},
		"a oneof that is renamed":  {"oneof of { string a = 1; string b = 2; }", "oneof by { string a = 1; string b = 2; }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := between(t, keyed(c.before), keyed(c.after))
			assert.Equal(t, strings.Fields(c.rule), fields(findings))
			for _, f := range findings {
				assert.NotEqual(t, f.Before, f.After, "the example of %s", f.Rule.ID)
			}
		})
	}
}

func TestFieldIsTheSameByItsNumber(t *testing.T) {
	t.Parallel()
	two := func(template, fields string) string { return paid(`idempotency_key: "`+template+`"`, fields) }
	before := two("paid:v1:{a}:{b}", "string a = 1; string b = 2;")
	for name, c := range map[string]struct{ after, rule string }{
		"renamed, and the template with it":  {two("paid:v1:{x}:{b}", "string x = 1; string b = 2;"), ""},
		"names that change places":           {two("paid:v1:{b}:{a}", "string b = 1; string a = 2;"), ""},
		"numbers that change places":         {two("paid:v1:{a}:{b}", "string a = 2; string b = 1;"), "IDEM_COMPONENT_NUMBER_CHANGED"},
		"components that change places":      {two("paid:v1:{b}:{a}", "string a = 1; string b = 2;"), "IDEM_KEY_PREVIOUS_MISSING IDEM_KEY_VERSION_KEPT"},
		"a number that another field gets":   {two("paid:v1:{a}:{b}", "string a = 3; string b = 2; string c = 1;"), "IDEM_COMPONENT_NUMBER_CHANGED"},
		"a field that is another by the way": {two("paid:v1:{a}:{b}", "int64 a = 1 [(idem.v1.field).missing = MISSING_ERROR]; string b = 2;"), "IDEM_COMPONENT_TYPE_CHANGED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, strings.Fields(c.rule), fields(between(t, before, c.after)))
		})
	}
}

func TestStepOfAPathIsNamed(t *testing.T) {
	t.Parallel()
	before := paid(`idempotency_key: "paid:v1:{by.a}"`, "By by = 1; message By { string a = 2; }")
	findings := between(t, before, strings.Replace(before, "By by = 1", "By by = 3", 1))
	require.Len(t, findings, 1)
	assert.Equal(t, "shop.v1.Paid.by has the number 3, before 1: it is in the idempotency_key of shop.v1.Paid", findings[0].What)
	assert.Equal(t, "paid:v1:a-17", findings[0].Before)
	assert.Equal(t, "refused: KEY_COMPONENT_MISSING", findings[0].After)
}

// Fingerprints of two templates are not compared, so that what is in their components does not matter.
func TestFingerprintOfAnotherTemplateIsAnotherOne(t *testing.T) {
	t.Parallel()
	before := paid(`idempotency_key: "paid:v1:{a}" fingerprint: "{b}"`, "string a = 1; string b = 2;")
	after := paid(`idempotency_key: "paid:v1:{a}" fingerprint: "{c}"`, "string a = 1; bytes c = 2;")
	assert.Equal(t, []string{"IDEM_FINGERPRINT_CHANGED"}, ids(between(t, before, after)))
}

// The field of a message that two templates name is one finding, and that of two messages is two.
func TestComponentIsFoundOnceAMessage(t *testing.T) {
	t.Parallel()
	const text = header + `
message Paid { option (idem.v1.message) = {idempotency_key: "paid:v1:{by.a}" biz_key: "{by.a}" fingerprint: "{by.a}"}; By by = 1; }
message Sent { option (idem.v1.message) = {idempotency_key: "sent:v1:{by.a}"}; By by = 1; }
message By { string a = 1; }
`
	findings := between(t, text, strings.Replace(text, "string a = 1;", "bytes a = 1;", 1))
	require.Len(t, findings, 2)
	assert.Equal(t, "shop.v1.By.a is of type bytes, before string: it is in the idempotency_key and the biz_key and the fingerprint of shop.v1.Paid", findings[0].What)
	assert.Equal(t, "shop.v1.By.a is of type bytes, before string: it is in the idempotency_key of shop.v1.Sent", findings[1].What)
	assert.Equal(t, "paid:v1:a-17", findings[0].Before)
	assert.Equal(t, "paid:v1:612d3137", findings[0].After)
}

func TestPreviousKeyIsTheOneBeforeTheChange(t *testing.T) {
	t.Parallel()
	with := func(key, previous string) string {
		options := `idempotency_key: "` + key + `"`
		if previous != "" {
			options += ` idempotency_key_previous: "` + previous + `"`
		}
		return paid(options, "string a = 1; string b = 2; string c = 3;")
	}
	v1, v2, v3 := "paid:v1:{a}", "paid:v2:{b}", "paid:v3:{c}"
	for name, c := range map[string]struct{ before, after, rules string }{
		"migrated":                        {with(v1, ""), with(v2, v1), ""},
		"migrated to a finer one":         {with(v1, ""), with("paid:v2:{b}:{a}", v1), "IDEM_KEY_PREVIOUS_COARSE"},
		"migrated to a coarser one":       {with("paid:v1:{a}:{b}", ""), with("paid:v2:{b}", "paid:v1:{a}:{b}"), ""},
		"migrated to another order":       {with("paid:v1:{a}:{b}", ""), with("paid:v2:{b}:{a}", "paid:v1:{a}:{b}"), ""},
		"taken back":                      {with(v2, v1), with(v1, v2), ""},
		"migrated again, too early":       {with(v2, v1), with(v3, v2), "IDEM_KEY_PREVIOUS_DROPPED"},
		"migrated again, past one":        {with(v2, v1), with(v3, v1), "IDEM_KEY_PREVIOUS_WRONG"},
		"not stated":                      {with(v1, ""), with(v2, ""), "IDEM_KEY_PREVIOUS_MISSING"},
		"another one that is stated":      {with(v2, v1), with(v2, v3), "IDEM_KEY_PREVIOUS_DROPPED"},
		"stated late":                     {with(v2, ""), with(v2, v1), ""},
		"gone":                            {with(v2, v1), with(v2, ""), "IDEM_KEY_PREVIOUS_DROPPED"},
		"without a version on both sides": {with("paid:{a}", ""), with("paid:{b}", "paid:{a}"), "IDEM_KEY_VERSION_KEPT"},
		"without a version before":        {with("paid:{a}", ""), with("paid:v1:{a}", "paid:{a}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, strings.Fields(c.rules), fields(between(t, c.before, c.after)))
		})
	}
}

// A template before whose field is written otherwise now gives other keys than before.
func TestPreviousKeyIsHeldAgainstWhatTheFieldSaysNow(t *testing.T) {
	t.Parallel()
	const at = "google.protobuf.Timestamp at = 2"
	before := paid(`idempotency_key: "paid:v1:{at}"`, "string a = 1; "+at+";")
	after := paid(`idempotency_key: "paid:v2:{a}" idempotency_key_previous: "paid:v1:{at}"`, "string a = 1; "+at+" [(idem.v1.field).timestamp = {fraction_digits: 9}];")
	findings := between(t, before, after)
	require.Equal(t, []string{"IDEM_COMPONENT_DIGITS_CHANGED"}, ids(findings))
	assert.Contains(t, findings[0].What, "it is in the idempotency_key_previous of shop.v1.Paid")

	later := strings.Replace(after, "fraction_digits: 9", "fraction_digits: 6", 1)
	findings = between(t, after, later)
	require.Equal(t, []string{"IDEM_COMPONENT_DIGITS_CHANGED"}, ids(findings), "as long as both keys are sent")
}

func TestMendSaysTheTemplateBeforeInTheNamesOfNow(t *testing.T) {
	t.Parallel()
	before := paid(`idempotency_key: "paid:v1:{by.a}:{b}"`, "By by = 1; string b = 2; message By { string a = 1; }")
	renamed := paid(`idempotency_key: "paid:v2:{b}"`, "By from = 1; string b = 2; message By { string x = 1; }")
	gone := paid(`idempotency_key: "paid:v2:{b}"`, "string b = 2;")
	assert.Contains(t, between(t, before, renamed)[0].Mend, `write idempotency_key_previous: "paid:v1:{from.x}:{b}", and leave it there until one dedup retention after the release`)
	assert.Contains(t, between(t, before, gone)[0].Mend, `declare by.a again, which the key before names, and write idempotency_key_previous: "paid:v1:{by.a}:{b}"`)
}

func TestRetentionSaysWhenThePreviousKeyMayGo(t *testing.T) {
	t.Parallel()
	retention := 36 * time.Hour
	facts := config.Facts{Default: config.Fact{DedupRetention: &retention}}
	v1 := keyed("string a = 1;")
	v2 := strings.Replace(v1, ":v1:", ":v2:", 1)
	run := func(before, after string, age time.Duration) []lint.Finding {
		return changes.Run(changes.Input{Before: side(schemaOf(t, before)), After: side(schemaOf(t, after)), Facts: facts, Age: age}, all)
	}
	findings := run(v1, v2, 0)
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].Mend, "until 36h0m0s (dedup_retention) after the release")

	migrated := strings.Replace(v2, `{idem`, `{idempotency_key_previous: "paid:v1:{a}" idem`, 1)
	assert.Equal(t, []string{"IDEM_KEY_PREVIOUS_DROPPED"}, ids(run(migrated, v2, 35*time.Hour)))
	assert.Empty(t, run(migrated, v2, 36*time.Hour))
}

func TestMovedMessageIsTheSameByItsEventType(t *testing.T) {
	t.Parallel()
	before, err := compile(t, map[string]string{"shop/v1/paid.proto": keyed("string a = 1;")})
	require.NoError(t, err)
	moved := strings.Replace(keyed("bytes a = 1;"), "package shop.v1;", "package pay.v1;", 1)
	after, err := compile(t, map[string]string{"pay/v1/paid.proto": moved})
	require.NoError(t, err)
	assert.Equal(t, []string{"IDEM_COMPONENT_TYPE_CHANGED", "IDEM_JAVA_PACKAGE_CHANGED", "IDEM_MESSAGE_MOVED", "IDEM_PYTHON_MODULE_CHANGED"},
		ids(found(before, after)))
}

func TestMessageThatIsNewIsNoChange(t *testing.T) {
	t.Parallel()
	before := keyed("string a = 1;")
	other := "message Sent { option (idem.v1.message).idempotency_key = \"sent:v1:{a}\"; string a = 1; }\n"
	assert.Empty(t, between(t, before, before+other))
	assert.Equal(t, []string{"IDEM_MESSAGE_REMOVED"}, ids(between(t, before+other, before)))
	plain := "message Sent { string a = 1; }\n"
	assert.Equal(t, []string{"IDEM_MESSAGE_ANNOTATED"}, ids(between(t, before+plain, before+other)))
	assert.Equal(t, []string{"IDEM_MESSAGE_UNANNOTATED"}, ids(between(t, before+other, before+plain)))
}

// What a message states and generation refuses is not taken for gone.
func TestRefusedOptionIsNotTakenForNone(t *testing.T) {
	t.Parallel()
	before := paid(`idempotency_key: "paid:v1:{a}" biz_key: "{b}"`, "string a = 1; string b = 2;")
	after := paid(`idempotency_key: "paid:v1:{a}" biz_key: "{b}"`, "string a = 1; double b = 2;")
	findings := between(t, before, after)
	require.Equal(t, []string{"IDEM_GENERATION_REFUSED"}, ids(findings))
	assert.Contains(t, findings[0].What, "b is a double, which has no text")
	assert.Empty(t, between(t, after, after), "what was refused before had no output")
	assert.Empty(t, between(t, after, before))
}

func TestPolicyIsWhatRetriesFollow(t *testing.T) {
	t.Parallel()
	with := func(retry string) string {
		return paid(`idempotency_key: "paid:v1:{a}"`+retry, "string a = 1;")
	}
	for name, c := range map[string]struct{ before, after, rules string }{
		"none and the default one":    {"", " retry: {}", "IDEM_RETRY_HEADERS_CHANGED"},
		"the default one in words":    {" retry: {}", " retry: {max_retry: 5 backoff_base_seconds: 1}", ""},
		"a base beyond the cap":       {" retry: {backoff_base_seconds: 9 backoff_max_seconds: 8}", " retry: {backoff_base_seconds: 10 backoff_max_seconds: 8}", "IDEM_RETRY_HEADERS_CHANGED"},
		"a cap that no delay reaches": {" retry: {max_retry: 1 max_hold: 1 backoff_max_seconds: 60}", " retry: {max_retry: 1 max_hold: 1 backoff_max_seconds: 61}", "IDEM_RETRY_HEADERS_CHANGED"},
		"a cap that a hold reaches":   {" retry: {max_retry: 1 backoff_max_seconds: 60}", " retry: {max_retry: 1 backoff_max_seconds: 61}", "IDEM_RETRY_DELAYS_CHANGED"},
		"a schedule":                  {" retry: {}", " retry: {backoff_schedule_ms: [1000, 2000]}", "IDEM_RETRY_DELAYS_CHANGED"},
		"a schedule in other words":   {" retry: {backoff_schedule_ms: [1000]}", " retry: {backoff_schedule_ms: [1000, 1000]}", "IDEM_RETRY_HEADERS_CHANGED"},
		"jitter of deferrals alone":   {" retry: {max_retry: 0 max_hold: 0}", " retry: {max_retry: 0 max_hold: 0 backoff_jitter_ms: 1}", "IDEM_RETRY_DELAYS_CHANGED"},
		"no retry, no hold":           {" retry: {}", " retry: {max_retry: 0 max_hold: 0}", "IDEM_RETRY_LIMIT_CHANGED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, strings.Fields(c.rules), fields(between(t, with(c.before), with(c.after))))
		})
	}
}

func TestDelaysAreThoseOfTheCore(t *testing.T) {
	t.Parallel()
	before := paid(`idempotency_key: "paid:v1:{a}" retry: {max_retry: 3 backoff_jitter_ms: 0}`, "string a = 1;")
	findings := between(t, before, strings.Replace(before, "max_retry: 3", "max_retry: 3 backoff_base_seconds: 2 backoff_max_seconds: 5", 1))
	require.Len(t, findings, 1)
	assert.Equal(t, "paid:v1:a-17: max_retry 3, max_hold 20, delays 1000, 2000, 4000 ms, up to 0 ms of them jitter", findings[0].Before)
	assert.Equal(t, "paid:v1:a-17: max_retry 3, max_hold 20, delays 2000, 4000, 5000 ms, up to 0 ms of them jitter", findings[0].After)
	assert.Contains(t, findings[0].What, "backoff_base_seconds is 2, before 1; backoff_max_seconds is 5, before 300")
}

func TestVerdictsAreComparedInEachState(t *testing.T) {
	t.Parallel()
	const order = header + `
enum Order {
  option (idem.v1.state_machine) = {
    transition: {from: "" to: "NEW"} transition: {from: "NEW" to: "PAID"} transition: {from: "NEW" to: "LOST"}
  };
  ORDER_UNSPECIFIED = 0; ORDER_NEW = 1; ORDER_PAID = 2; ORDER_LOST = 3;
}
message Paid {
  option (idem.v1.message) = {idempotency_key: "paid:v1:{a}" biz_key: "{a}" transition: {state_machine: "shop.v1.Order" from: "NEW" to: "PAID"}};
  string a = 1;
}
`
	edge := func(edges string) string {
		return strings.Replace(order, `to: "LOST"}`, `to: "LOST"} `+edges, 1)
	}
	findings := between(t, order, edge(`transition: {from: "PAID" to: "LOST"}`))
	require.Equal(t, []string{"IDEM_VERDICT_CHANGED"}, ids(findings))
	assert.Equal(t, `the transition "NEW" -> "PAID" of shop.v1.Paid has other verdicts in the states "LOST"`, findings[0].What)
	assert.Equal(t, `in "LOST" CONFLICT`, findings[0].Before)
	assert.Equal(t, `in "LOST" DUPLICATE`, findings[0].After)

	assert.Empty(t, between(t, order, edge(`transition: {from: "" to: "PAID"}`)), "another way to where it led")
	assert.Empty(t, between(t, order, edge(`transition: {from: "PAID" to: "UNSPECIFIED"}`)), "a state that had no verdict")
}

func TestMachineThatIsRefusedIsSaid(t *testing.T) {
	t.Parallel()
	const machine = header + `
enum Order {
  option (idem.v1.state_machine) = {transition: {from: "" to: "NEW"} transition: {from: "NEW" to: "PAID"}};
  ORDER_UNSPECIFIED = 0; ORDER_NEW = 1; ORDER_PAID = 2;
}
`
	findings := between(t, machine, strings.Replace(machine, `to: "PAID"}`, `to: "PAID"} transition: {from: "PAID" to: "NEW"}`, 1))
	require.Equal(t, []string{"IDEM_GENERATION_REFUSED"}, ids(findings))
	assert.Contains(t, findings[0].What, "shop.v1.Order can be generated no more: the transitions of shop.v1.Order lead back")
	assert.Equal(t, "2 transitions", findings[0].Before)
}

// What is gone with its file is placed where it was.
func TestFileThatIsGoneIsNamed(t *testing.T) {
	t.Parallel()
	files := map[string]string{"shop/v1/paid.proto": keyed("string a = 1;"), "shop/v1/note.proto": "syntax = \"proto3\";\nmessage Note {}\n"}
	before, err := compile(t, files)
	require.NoError(t, err)
	delete(files, "shop/v1/paid.proto")
	after, err := compile(t, files)
	require.NoError(t, err)
	findings := found(before, after)
	require.Equal(t, []string{"IDEM_MESSAGE_REMOVED"}, ids(findings))
	assert.Equal(t, "shop/v1/paid.proto", findings[0].Position.File)
	assert.Equal(t, "paid:v1:a-17", findings[0].Before)
}

func TestTimeOfTheHeaderIsHeldToo(t *testing.T) {
	t.Parallel()
	with := func(options, fields string) string {
		return paid(`idempotency_key: "paid:v1:{a}" `+options, "string a = 1; "+fields)
	}
	before := with(`occurred_at: "{at}"`, "google.protobuf.Timestamp at = 2; google.protobuf.Timestamp by = 3;")
	for name, c := range map[string]struct{ after, rule string }{
		"another field":      {with(`occurred_at: "{by}"`, "google.protobuf.Timestamp at = 2; google.protobuf.Timestamp by = 3;"), "IDEM_OCCURRED_AT_CHANGED"},
		"none":               {with("", "google.protobuf.Timestamp at = 2;"), "IDEM_OCCURRED_AT_CHANGED"},
		"another name":       {with(`occurred_at: "{when}"`, "google.protobuf.Timestamp when = 2;"), ""},
		"another number":     {with(`occurred_at: "{at}"`, "google.protobuf.Timestamp at = 4;"), "IDEM_COMPONENT_NUMBER_CHANGED"},
		"another type":       {with(`occurred_at: "{at}"`, "string at = 2 [(idem.v1.field).timestamp = {}];"), "IDEM_COMPONENT_TYPE_CHANGED"},
		"missing is allowed": {with(`occurred_at: "{at}"`, "google.protobuf.Timestamp at = 2 [(idem.v1.field).missing = MISSING_ALLOW];"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := between(t, before, c.after)
			assert.Equal(t, strings.Fields(c.rule), fields(findings))
			for _, f := range findings {
				assert.Equal(t, "2025-01-01T04:00:00.123Z", f.Before)
			}
		})
	}
	assert.Empty(t, between(t, with("", "google.protobuf.Timestamp at = 2;"), before), "a header more")
}

func TestAliasesOfAnErrorAreOne(t *testing.T) {
	t.Parallel()
	const errors = header + `
enum PayError {
  option allow_alias = true;
  PAY_ERROR_UNSPECIFIED = 0;
  PAY_ERROR_DECLINED = 1 [(idem.v1.error).outcome = OUTCOME_NON_RETRYABLE];
  PAY_ERROR_REFUSED = 1 [(idem.v1.error).outcome = OUTCOME_NON_RETRYABLE];
}
`
	assert.Len(t, between(t, errors, strings.ReplaceAll(errors, "NON_RETRYABLE", "DUPLICATE")), 1)
	fewer := strings.Replace(errors, "  PAY_ERROR_DECLINED = 1 [(idem.v1.error).outcome = OUTCOME_NON_RETRYABLE];\n", "", 1)
	assert.Empty(t, between(t, errors, strings.Replace(fewer, "  option allow_alias = true;\n", "", 1)))
}

func TestRulesAreRunWhereTheyAreWanted(t *testing.T) {
	t.Parallel()
	before, after := schemaOf(t, keyed("string a = 1;")), schemaOf(t, strings.Replace(keyed("string a = 1;"), "v1:{a}", "v1:{a}:x", 1))
	for _, r := range changes.Rules() {
		wanted := func(rule *lint.Rule) bool { return rule == r }
		for _, f := range changes.Run(changes.Input{Before: side(before), After: side(after)}, wanted) {
			assert.Equal(t, r.ID, f.Rule.ID)
		}
	}
}
