package messages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
)

// TestRuleJudges has the edges of rules that their examples do not show. want is a part of what is found, and
// "" where nothing is.
func TestRuleJudges(t *testing.T) {
	t.Parallel()
	set := setOf(t, shop)
	for _, c := range []struct{ name, rule, line, want string }{
		{"a key of the template before", "IDEM_HEADER_KEY_DIFFERS", line(`"idempotency_key":"pay:v1:`+cardDigest+`"`, `"payment_id":"p","card":"4111"`), ""},
		{"a key that is a secret", "IDEM_HEADER_KEY_DIFFERS", line(`"idempotency_key":"pay:v1:4111"`, `"payment_id":"p","card":"4111"`),
			`the header idempotency_key is (not shown: a field of it is marked debug_redact), and the payload gives "pay:v2:p"`},
		{"a malformed key that is a secret", "IDEM_HEADER_KEY_MALFORMED", line(`"idempotency_key":"pay:v1:4111 1"`, `"payment_id":"p"`), "KEY_SYNTAX: a key has only bytes 0x21-0x7E"},
		{"a fingerprint of another template", "IDEM_HEADER_FINGERPRINT_DIFFERS", line(`"fingerprint":"00000000-0000000000000000"`, `"payment_id":"p","amount":"1"`), ""},
		{"two faults in one message", "IDEM_HEADER_MALFORMED", line(`"retry_count":"x","max_retry":"1000"`, `"payment_id":"p"`), "retry_count"},
		{"the second of two faults", "IDEM_HEADER_MALFORMED", line(`"retry_count":"x","max_retry":"1000"`, `"payment_id":"p"`), "max_retry"},
		{"equal copies of a header", "IDEM_HEADER_CONFLICT", `{"headers":["event_type","pay","event_type","pay"],"value":{"payment_id":"p"}}`, ""},
		{"a trace that a tracer appended", "IDEM_HEADER_CONFLICT", `{"headers":["traceparent","a","traceparent","b"],"value":{"payment_id":"p"}}`, ""},
		{"a fingerprint that a redrive took off", "IDEM_HEADER_MISSING", line(`"redrive_count":"1","idempotency_key_previous":"x","biz_key":"o","expected_current_state":"PAYING","max_retry":"2","max_hold":"3","backoff_jitter":"0","backoff_schedule":"1"`, `"payment_id":"p"`), ""},
		{"an occurred_at that the payload has", "IDEM_HEADER_MISSING", line(``, `"payment_id":"p","paid_at":"2025-01-01T00:00:00Z"`), "occurred_at"},
		{"an occurred_at that the payload does not have", "IDEM_HEADER_OCCURRED_AT_DIFFERS", line(`"occurred_at":"2025-01-01T00:00:00Z"`, `"payment_id":"p"`), ""},
		{"an occurred_at with other digits", "IDEM_HEADER_OCCURRED_AT_DIFFERS", line(`"occurred_at":"2025-01-01T00:00:00Z"`, `"payment_id":"p","paid_at":"2025-01-01T00:00:00.000Z"`), ""},
		{"an HTTP name on Kafka", "IDEM_HEADER_NAME_INEXACT", line(`"Idem-Retry-Count":"1"`, `"payment_id":"p"`), "retry_count is"},
		{"a word that others use", "IDEM_HEADER_NAME_INEXACT", line(`"Topic":"1","Traceparent":"2"`, `"payment_id":"p"`), ""},
		{"an event type a letter off", "IDEM_HEADER_EVENT_TYPE_UNKNOWN", `{"headers":{"event_type":"plai"},"value":{}}`, "did you mean plain?"},
		{"a clock a second ahead", "IDEM_HEADER_PRODUCED_BEFORE_OCCURRED", line(`"produced_at":"2025-01-01T00:00:00.000Z","occurred_at":"2025-01-01T00:00:01Z"`, `"payment_id":"p"`), ""},
		{"a clock more than that ahead", "IDEM_HEADER_PRODUCED_BEFORE_OCCURRED", line(`"produced_at":"2025-01-01T00:00:00.000Z","occurred_at":"2025-01-01T00:00:01.001Z"`, `"payment_id":"p"`), "1.001s before"},
		{"a minute in the future", "IDEM_HEADER_PRODUCED_IN_FUTURE", line(`"produced_at":"2025-01-01T04:01:00.000Z"`, `"payment_id":"p"`), ""},
		{"more than that in the future", "IDEM_HEADER_PRODUCED_IN_FUTURE", line(`"produced_at":"2025-01-01T04:01:00.001Z"`, `"payment_id":"p"`), "after this machine's clock"},
		{"a header's max_retry goes before the schema's", "IDEM_HEADER_RETRY_COUNT_OVER_MAX", line(`"retry_count":"3","max_retry":"3"`, `"payment_id":"p"`), ""},
		{"the schema's max_retry goes before the default", "IDEM_HEADER_RETRY_COUNT_OVER_MAX", line(`"retry_count":"3"`, `"payment_id":"p"`), "retry_count is 3, and max_retry is 2"},
		{"the schema's max_hold", "IDEM_HEADER_HOLD_COUNT_OVER_MAX", line(`"hold_count":"4"`, `"payment_id":"p"`), "hold_count is 4, and max_hold is 3"},
		{"a delay of a hold", "IDEM_HEADER_RETRY_INTERVAL_DIFFERS", retried("k", `"retry_count":"1","hold_count":"2","backoff_jitter":"0","retry_interval":"60000"`), ""},
		{"a delay of neither", "IDEM_HEADER_RETRY_INTERVAL_DIFFERS", retried("k", `"retry_count":"1","hold_count":"2","backoff_jitter":"0","retry_interval":"1001"`), "give 1000 or 60000"},
		{"a delay of a deferral", "IDEM_HEADER_RETRY_INTERVAL_DIFFERS", line(`"retry_count":"1","retry_interval":"7"`, `"payment_id":"p"`), ""},
		{"a Retry-After", "IDEM_HEADER_RETRY_INTERVAL_DIFFERS", retried("k", `"retry_count":"1","backoff_jitter":"0","retry_interval":"5000","reject_reason":"THROTTLED: later"`), ""},
		{"a Retry-After of an error enum", "IDEM_HEADER_RETRY_INTERVAL_DIFFERS", retried("k", `"retry_count":"1","backoff_jitter":"0","retry_interval":"5000","reject_reason":"PAY_ERROR_BUSY"`), ""},
		{"less than the policy for all that", "IDEM_HEADER_RETRY_INTERVAL_DIFFERS", retried("k", `"retry_count":"1","backoff_jitter":"0","retry_interval":"999","reject_reason":"THROTTLED"`), "give 1000"},
		{"a creation's state", "IDEM_HEADER_STATE_DIFFERS", line(`"expected_current_state":""`, `"payment_id":"p"`), `is "", and shop.v1.PaymentSucceeded goes from "PAYING"`},
		{"a state without an edge", "IDEM_HEADER_STATE_UNKNOWN", line(`"expected_current_state":"UNSPECIFIED"`, `"payment_id":"p"`), "no transition of shop.v1.OrderState names"},
		{"a null record key with a biz key", "IDEM_RECORD_KEY_DIFFERS", `{"key":null,` + line(``, `"payment_id":"p","order_id":"o"`)[1:], `is null, and the biz key is "o"`},
		{"a record key without a biz key", "IDEM_RECORD_KEY_DIFFERS", `{"key":"k","headers":{"event_type":"plain"},"value":{"id":"1"}}`, `is "k", and shop.v1.Plain has no biz_key`},
		{"a null record key without a biz key", "IDEM_RECORD_KEY_DIFFERS", `{"key":null,"headers":{"event_type":"plain"},"value":{"id":"1"}}`, ""},
		{"a record key of an unknown message", "IDEM_RECORD_KEY_DIFFERS", `{"key":"k","headers":{"event_type":"other"},"value":{}}`, ""},
		{"a partition by another key", "IDEM_RECORD_PARTITION_WRONG", `{"key":"x","partition":0,"partitions":12,` + line(``, `"payment_id":"p","order_id":"o-7"`)[1:], ""},
		{"a partition of an unknown count", "IDEM_RECORD_PARTITION_WRONG", `{"partition":0,` + line(``, `"payment_id":"p","order_id":"o-7"`)[1:], ""},
		{"the wrong partition", "IDEM_RECORD_PARTITION_WRONG", `{"key":"o-7","partition":0,"partitions":12,` + line(``, `"payment_id":"p","order_id":"o-7"`)[1:], "in partition 0 of 12"},
		{"a tombstone", "IDEM_HEADER_KEY_MISSING", `{"key":"o","headers":{"trace":"x"},"value":null}`, ""},
		{"a null payload with headers", "IDEM_HEADER_KEY_MISSING", `{"key":"o","headers":{"event_type":"pay"},"value":null}`, "no idempotency_key"},
		{"an empty payload without headers", "IDEM_HEADER_KEY_MISSING", `{"headers":{},"value":""}`, "no idempotency_key"},
		{"a null payload", "IDEM_PAYLOAD_COMPONENT_MISSING", `{"headers":{"event_type":"pay"},"value":null}`, "no idempotency key: the field payment_id is not set"},
		{"a fingerprint's scale", "IDEM_PAYLOAD_VALUE_INVALID", line(``, `"payment_id":"p","amount":"1.005"`), "amount: DECIMAL_SCALE"},
		{"a value that nobody may see", "IDEM_PAYLOAD_VALUE_INVALID", line(``, `"payment_id":"p","secret_amount":"12,5"`), "shop.v1.PaymentSucceeded.secret_amount: DECIMAL_SYNTAX"},
		{"a decimal that nobody may see", "IDEM_PAYLOAD_DECIMAL_NOT_CANONICAL", line(``, `"payment_id":"p","secret_amount":"12.50"`), "not shown: debug_redact"},
		{"a number that nobody may see", "IDEM_PAYLOAD_NUMBER_PRECISION", line(``, `"payment_id":"p","secret_amount":12.5`), "not shown: debug_redact"},
		{"an integer with a point", "IDEM_PAYLOAD_NUMBER_PRECISION", line(``, `"payment_id":"p","cents":100.0`), "cents is an integer, and the JSON has 100.0"},
		{"an integer with an exponent", "IDEM_PAYLOAD_NUMBER_PRECISION", line(``, `"payment_id":"p","cents":1e3`), "the JSON has 1e3"},
		{"an integer beyond 2^53", "IDEM_PAYLOAD_NUMBER_PRECISION", line(``, `"payment_id":"p","cents":9007199254740993`), "the JSON number 9007199254740993, beyond 2^53"},
		{"the largest exact integer", "IDEM_PAYLOAD_NUMBER_PRECISION", line(``, `"payment_id":"p","cents":9007199254740992`), ""},
		{"a large integer in quotes", "IDEM_PAYLOAD_NUMBER_PRECISION", line(``, `"payment_id":"p","cents":"9007199254740993"`), ""},
		{"a name of no enum value", "IDEM_PAYLOAD_ENUM_UNKNOWN", line(``, `"payment_id":"p","method":"METHOD_CASH"`), `is "METHOD_CASH", which shop.v1.Method does not declare`},
		{"an unreadable payload's place", "IDEM_PAYLOAD_UNREADABLE", line(``, `"payment_id":"p","cents":"x"`), "at byte 26"},
		{"a content type of other JSON", "IDEM_PAYLOAD_CONTENT_TYPE", line(`"Content-Type":"application/vnd.shop+json; charset=utf-8"`, `"payment_id":"p"`), ""},
		{"a content type of something else", "IDEM_PAYLOAD_CONTENT_TYPE", line(`"content-type":"text/plain"`, `"payment_id":"p"`), ""},
		{"a frame of another message", "IDEM_PAYLOAD_UNREADABLE", `{"headers":{"event_type":"plain"},"value_base64":"AAAAAAEACgEx"}`, "it is the message [0] of the file of schema 1, and shop.v1.Plain is [1]"},
		{"a frame of no place", "IDEM_PAYLOAD_UNREADABLE", `{"headers":{"event_type":"pay"},"value_base64":"AAAAAAH//////////38="}`, "from byte 5 on there is not how many steps"},
		{"a frame of this message", "IDEM_PAYLOAD_UNREADABLE", `{"headers":{"event_type":"pay"},"value_base64":"AAAAAAEACgEx"}`, ""},
		{"an offset behind a frame", "IDEM_PAYLOAD_UNREADABLE", `{"headers":{"event_type":"pay"},"value_base64":"AAAAAAEACgUx"}`, "at byte 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			findings, _ := checked(t, set, c.line+"\n", nil)
			found := of(findings, c.rule)
			if c.want == "" {
				require.Empty(t, found)
				return
			}
			require.Condition(t, func() bool { return strings.Contains(strings.Join(found, "\n"), c.want) }, "%q has no %q", found, c.want)
			for _, f := range findings {
				for _, secret := range []string{"4111", "12,5", "12.5"} {
					require.NotContains(t, f.What+f.Mend, secret)
				}
			}
		})
	}
}

// cardDigest is the component of card 4111.
const cardDigest = "1f58dbec71994620de8abe61e744f76d"

// line is a message of event type pay.
func line(headers, value string) string {
	if headers != "" {
		headers = "," + headers
	}
	return fmt.Sprintf(`{"headers":{"event_type":"pay","idem_spec":"1"%s},"value":{%s}}`, headers, value)
}

// retried is a message that was retried, with a reason unless the headers have one.
func retried(key, headers string) string {
	if !strings.Contains(headers, "reject_reason") {
		headers += `,"reject_reason":"RETRYABLE"`
	}
	return line(`"idempotency_key":"`+key+`",`+headers, `"payment_id":"p"`)
}

func TestTwoMessagesAreCompared(t *testing.T) {
	t.Parallel()
	set := setOf(t, shop)
	message := func(key, event, value string) string {
		return line(`"idempotency_key":"`+key+`","event_id":"`+event+`"`, value)
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  []string // the rules of stream.go that are raised
	}{
		{"copies", []string{message("k", "e", `"payment_id":"p"`), message("k", "e", `"payment_id":"p"`)}, nil},
		{"one event_id and two keys", []string{message("k", "e", `"payment_id":"p"`), message("l", "e", `"payment_id":"q"`)}, []string{"IDEM_KEY_REGENERATED"}},
		{"one payload and two keys", []string{message("k", "e", `"payment_id":"p"`), message("l", "f", `"payment_id":"p"`)}, []string{"IDEM_KEY_REGENERATED"}},
		{"one event_id and two event types", []string{
			message("k", "e", `"payment_id":"p"`),
			`{"headers":{"event_type":"plain","idem_spec":"1","idempotency_key":"plain:1","event_id":"e"},"value":{"id":"1"}}`,
		}, nil},
		{"one payload of an unknown type and two keys", []string{
			`{"headers":{"event_type":"other","idempotency_key":"k"},"value":{}}`, `{"headers":{"event_type":"other","idempotency_key":"l"},"value":{}}`,
		}, nil},
		{"one key and two contents", []string{message("k", "e", `"payment_id":"p","amount":"1"`), message("k", "f", `"payment_id":"p","amount":"2"`)}, []string{"IDEM_KEY_REUSED"}},
		{"one amount, written twice", []string{message("k", "e", `"payment_id":"p","amount":"1"`), message("k", "f", `"payment_id":"p","amount":"1.0"`)}, nil},
		{"one key and two biz keys", []string{message("k", "e", `"payment_id":"p","order_id":"a"`), message("k", "f", `"payment_id":"p","order_id":"b"`)}, []string{"IDEM_KEY_REROUTED"}},
		{"a payload that a redrive repaired", []string{
			message("k", "e", `"payment_id":"p","amount":"1"`),
			line(`"idempotency_key":"k","event_id":"e","redrive_count":"1"`, `"payment_id":"p","amount":"2"`),
		}, nil},
		{"a record without a fingerprint adopts the first", []string{
			`{"headers":{"event_type":"other","idempotency_key":"k"},"value":{}}`,
			message("k", "e", `"payment_id":"p","amount":"1"`), message("k", "f", `"payment_id":"p","amount":"2"`),
		}, []string{"IDEM_KEY_REUSED"}},
	} {
		for _, memory := range []int64{DefaultMemory, 1} {
			t.Run(fmt.Sprintf("%s, memory %d", c.name, memory), func(t *testing.T) {
				t.Parallel()
				findings, _ := checked(t, set, strings.Join(c.lines, "\n"), func(o *Options) { o.Memory = memory })
				var raised []string
				for _, f := range findings {
					if f.Rule == keyReused || f.Rule == keyRegenerated || f.Rule == keyRerouted {
						raised = append(raised, f.Rule.ID)
						require.Equal(t, len(c.lines), f.Position.Line)
						require.Contains(t, f.What, "standard input:")
					}
				}
				require.Equal(t, c.want, raised)
			})
		}
	}
}

func TestRuleThatIsNotWantedDoesNotRun(t *testing.T) {
	t.Parallel()
	set := setOf(t, shop)
	for _, r := range Rules() {
		findings, _ := checked(t, set, everythingWrong, func(o *Options) {
			o.Wanted = func(other *lint.Rule) bool { return other != r }
		})
		require.Empty(t, of(findings, r.ID))
	}
}

const everythingWrong = `{"headers":{"event_type":"pay","retry_count":"9"},"value":{"amount":"1.00"}}
{"headers":{"event_type":"nothing","idempotency_key":"a b","fingerprint":"x"},"value":{}}
{"headers":{"event_type":"pay","idempotency_key":"k","event_id":"e"},"value":{"payment_id":"p","amount":"1"}}
{"headers":{"event_type":"pay","idempotency_key":"k","event_id":"f"},"value":{"payment_id":"p","amount":"2","order_id":"o"}}
{"headers":{"event_type":"pay","idempotency_key":"l","event_id":"e"},"value":{"payment_id":"p","x":1}}
`
