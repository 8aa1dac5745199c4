package schemas_test

import "testing"

// keyedBy is an annotated message of a name with a key of one field x, which is declared by field.
func keyedBy(name, x, field string) string {
	return `message ` + name + ` { option (idem.v1.message).idempotency_key = "t.m:v1:{id}:{` + x + `}"; string id = 1;
` + field + `
}` + enum
}

func TestKeysOfWhatADeliveryHasAnew(t *testing.T) {
	const rule = "IDEM_KEY_DELIVERY_FIELD"
	runAll(t, []given{
		{name: "the retries", rule: rule, proto: keyedBy("M", "retry_count", `optional int32 retry_count = 2;`), want: []string{"names retry_count"}},
		{name: "the trace", rule: rule, proto: keyed(`string trace_id = 2;`), want: []string{"names trace_id"}},
		{name: "the request", rule: rule, proto: keyed(`string request_id = 2;`), want: []string{"names request_id"}},
		{name: "the message", rule: rule, proto: keyed(`string message_id = 2;`), want: []string{"names message_id"}},
		{name: "by its comment", rule: rule, proto: keyedBy("M", "x", "// Made anew for each retry.\nstring x = 2;"), want: []string{"names x"}},
		{name: "by a comment beside it", rule: rule, proto: keyedBy("M", "x", "string x = 2; // Made on retry."), want: []string{"names x"}},
		{name: "by a comment that denies it", rule: rule, proto: keyedBy("M", "x", "// Not made anew for each retry.\nstring x = 2;")},
		{name: "kept by every retry", rule: rule, proto: keyedBy("M", "x", "// Kept by every retry.\nstring x = 2;")},
		{name: "a client's own", rule: rule, proto: keyedBy("M", "request_id", "// For idempotency, as in AIP-155.\nstring request_id = 2;")},
		{name: "another word", rule: rule, proto: keyed(`string retry_policy_id = 2;`)},
		{name: "an attempt that is an object", rule: rule, proto: keyed(`string payment_attempt_id = 2;`)},
		{name: "an event about messages", rule: rule, proto: keyedBy("ChatMessageSent", "message_id", "string message_id = 2;")},
		{name: "an event about messages of another name", rule: rule, proto: keyedBy("EmailBounced", "msg_id", "string msg_id = 2;")},
		{name: "an event about an attempt", rule: rule, proto: keyedBy("PaymentAttempted", "attempt", "string attempt = 2;")},
		{name: "an event about retries", rule: rule, proto: keyedBy("JobRetried", "retry_count", "string retry_count = 2;")},
		{name: "an event about a request", rule: rule, proto: keyedBy("RefundRequested", "request_id", "string request_id = 2;")},
		{name: "a parcel's", rule: rule, proto: keyed(`string delivery_id = 2;`)},
		{name: "an envelope", rule: rule,
			proto: keyedBy("M", "metadata.message_id", "Sub metadata = 2;") + ` message Sub { string message_id = 1; }`, want: []string{"names metadata.message_id"}},
		{name: "a name of no words", rule: rule, proto: keyedBy("M", "_", "// Made anew for each retry.\nstring _ = 2;"), want: []string{"names _"}},
		{name: "a message of something", rule: rule,
			proto: keyedBy("M", "s.message_id", "Sub s = 2;") + ` message Sub { string message_id = 1; }`},
		{name: "in a fingerprint", rule: rule, proto: message(`fingerprint: "{trace_id}"`, `string trace_id = 2;`)},
	})
}

func TestKeysOfTheTimeOfSending(t *testing.T) {
	const rule = "IDEM_KEY_SENDING_TIME"
	runAll(t, []given{
		{name: "by its name", rule: rule, proto: keyed(`google.protobuf.Timestamp sent_at = 2;`), want: []string{"names sent_at"}},
		{name: "an integer", rule: rule, proto: keyedBy("M", "processed_at", `optional int64 processed_at = 2;`), want: []string{"names processed_at"}},
		{name: "by its comment", rule: rule, proto: keyedBy("M", "x", "// The current time.\ngoogle.protobuf.Timestamp x = 2;"), want: []string{"names x"}},
		{name: "the event's own", rule: rule, proto: keyedBy("ArticlePublished", "published_at", "google.protobuf.Timestamp published_at = 2;")},
		{name: "the event's own, which is named an event", rule: rule,
			proto: keyedBy("ArticlePublishedEvent", "published_at", "google.protobuf.Timestamp published_at = 2;")},
		{name: "of another event", rule: rule, proto: keyedBy("ArticleChanged", "published_at", "google.protobuf.Timestamp published_at = 2;"),
			want: []string{"names published_at"}},
		{name: "when it happened", rule: rule, proto: keyed(`google.protobuf.Timestamp requested_at = 2;`)},
		{name: "another word", rule: rule, proto: keyed(`google.protobuf.Timestamp last_sent_at_home = 2;`)},
	})
}

func TestKeysOfWhatChanges(t *testing.T) {
	const rule = "IDEM_KEY_MUTABLE_FIELD"
	const machine = ` enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "A"}}; S_UNSPECIFIED = 0; S_A = 1; }`
	runAll(t, []given{
		{name: "a time", rule: rule, proto: keyed(`google.protobuf.Timestamp updated_at = 2;`), want: []string{"names updated_at"}},
		{name: "a status", rule: rule, proto: keyed(`string status = 2;`), want: []string{"names status"}},
		{name: "a state that is an enum", rule: rule, proto: keyedBy("M", "state", "optional E state = 2;"), want: []string{"names state"}},
		{name: "a state that may be a country's", rule: rule, proto: keyed(`string state = 2;`)},
		{name: "by its comment", rule: rule, proto: keyedBy("M", "x", "// When it was last updated.\nstring x = 2;"), want: []string{"names x"}},
		{name: "by a comment that denies it", rule: rule, proto: keyedBy("M", "x", "// The status may change, the id does not.\nstring x = 2;")},
		{name: "by a comment about something else that changes", rule: rule, proto: keyedBy("M", "x", "// The order, whose status may change.\nstring x = 2;")},
		{name: "a count of changes", rule: rule, proto: keyedBy("M", "version", `optional int64 version = 2;`)},
		{name: "another status", rule: rule, proto: keyed(`string status_page_id = 2;`)},
		{name: "of a message with a transition", rule: rule,
			proto: `message M { option (idem.v1.message) = {
				idempotency_key: "t.m:v1:{id}:{status}" biz_key: "{id}"
				transition: {state_machine: "t.v1.S" from: "" to: "A"}
			}; string id = 1; string status = 2; }` + machine},
	})
}

func TestKeysOfWhatTheReceiverFillsIn(t *testing.T) {
	const rule = "IDEM_KEY_OUTPUT_FIELD"
	with := func(packed, field string) string {
		return `import "google/protobuf/descriptor.proto"; ` + keyed(field) + ` extend google.protobuf.FieldOptions { repeated Behavior behavior = 1052` + packed + `; }
		enum Behavior { B_UNSPECIFIED = 0; B_REQUIRED = 2; B_OUTPUT_ONLY = 3; }`
	}
	runAll(t, []given{
		{name: "marked", rule: rule, proto: with(` [packed = false]`, `string x = 2 [(behavior) = B_OUTPUT_ONLY];`), want: []string{"x, which is OUTPUT_ONLY"}},
		{name: "marked, packed", rule: rule, proto: with(``, `string x = 2 [(behavior) = B_REQUIRED, (behavior) = B_OUTPUT_ONLY];`), want: []string{"x, which is OUTPUT_ONLY"}},
		{name: "marked as something else", rule: rule, proto: with(``, `string x = 2 [(behavior) = B_REQUIRED];`)},
		{name: "not marked", rule: rule, proto: with(``, `string x = 2;`)},
		{name: "of an object in the message", rule: rule,
			proto: with(``, `string x = 2;`) + ` message N { option (idem.v1.message).idempotency_key = "t.n:v1:{s.x}"; Sub s = 1; }
				message Sub { string x = 1 [(behavior) = B_OUTPUT_ONLY]; }`},
	})
}
