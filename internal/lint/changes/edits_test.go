package changes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/source"
)

// edit is a change of the shop's schema, and the rules that speak of it.
type edit struct {
	name string
	// replace is what is replaced in all files: old and new in turn. All of an old one is replaced.
	replace []string
	// rename moves a file: old and new in turn.
	rename []string
	rules  []string
	// emits is why generated code is not the same where no rule speaks.
	emits string
}

// edits are changes as people make them: first those that alter something, then those that do not.
var edits = []edit{
	// Keys.
	{name: "a key of another version", replace: []string{`"payments.payment_success:v1:`, `"payments.payment_success:v2:`}, rules: []string{"IDEM_KEY_PREVIOUS_MISSING"}},
	{
		name: "a key of other fields", replace: []string{`refunds.requested:v1:{order_id}:{requested_at}`, `refunds.requested:v1:{order_id}:{reason}`},
		rules: []string{"IDEM_KEY_PREVIOUS_MISSING", "IDEM_KEY_VERSION_KEPT"},
	},
	{
		name: "a key with the wrong one before", rules: []string{"IDEM_KEY_PREVIOUS_WRONG"},
		replace: []string{
			`idempotency_key: "orders.created:v1:{order_id}"`,
			`idempotency_key: "orders.created:v2:{customer.id}:{order_id}" idempotency_key_previous: "orders.created:v1:{customer.id}"`,
		},
	},
	{
		name: "a finer key", rules: []string{"IDEM_KEY_PREVIOUS_COARSE"},
		replace: []string{
			`idempotency_key: "orders.created:v1:{order_id}"`,
			`idempotency_key: "orders.created:v2:{order_id}:{customer.id}" idempotency_key_previous: "orders.created:v1:{order_id}"`,
		},
	},
	{name: "another event type", replace: []string{`"notifications.sent:v1:`, `"notifications.delivered:v1:`}, rules: []string{"IDEM_EVENT_TYPE_CHANGED"}},
	{name: "another fingerprint", replace: []string{`fingerprint: "{amount}:{currency}"`, `fingerprint: "{amount}:{currency}:{order_id}"`}, rules: []string{"IDEM_FINGERPRINT_CHANGED"}},
	{name: "no fingerprint", replace: []string{`    fingerprint: "{amount}:{reason}"` + "\n", ""}, rules: []string{"IDEM_FINGERPRINT_REMOVED"}},

	// Order.
	{
		name: "another biz key", replace: []string{"biz_key: \"{order_id}\"\n    fingerprint: \"{amount}:{currency}\"", "biz_key: \"{payment_id}\"\n    fingerprint: \"{amount}:{currency}\""},
		rules: []string{"IDEM_BIZ_KEY_CHANGED"},
	},
	{
		name: "no biz key", replace: []string{"    biz_key: \"{order_id}\"\n    fingerprint: \"{amount}:{currency}\"", "    fingerprint: \"{amount}:{currency}\""},
		rules: []string{"IDEM_BIZ_KEY_REMOVED"},
	},
	{name: "a biz key", replace: []string{`occurred_at: "{sent_at}"`, `occurred_at: "{sent_at}" biz_key: "{order_id}"`}, rules: []string{"IDEM_BIZ_KEY_ADDED"}},

	// Components.
	{
		name: "digits of a time in a key", replace: []string{"requested_at = 3 [(idem.v1.field).timestamp = {fraction_digits: 3}]", "requested_at = 3 [(idem.v1.field).timestamp = {fraction_digits: 6}]"},
		rules: []string{"IDEM_COMPONENT_DIGITS_CHANGED"},
	},
	{
		name: "digits of a time in a header", replace: []string{"occurred_at = 4 [(idem.v1.field).timestamp = {fraction_digits: 3}]", "occurred_at = 4 [(idem.v1.field).timestamp = {fraction_digits: 0}]"},
		rules: []string{"IDEM_COMPONENT_DIGITS_CHANGED"},
	},
	{name: "a lower scale", replace: []string{"total = 3 [(idem.v1.field).decimal = {max_scale: 2}]", "total = 3 [(idem.v1.field).decimal = {max_scale: 1}]"}, rules: []string{"IDEM_COMPONENT_SCALE_LOWERED"}},
	{name: "no decimal any more", replace: []string{"total = 3 [(idem.v1.field).decimal = {max_scale: 2}]", "total = 3"}, rules: []string{"IDEM_COMPONENT_TEXT_CHANGED"}},
	{name: "a UUID from now on", replace: []string{"string payment_id = 5;", "string payment_id = 5 [(idem.v1.field).uuid = true];"}, rules: []string{"IDEM_COMPONENT_TEXT_CHANGED"}},
	{name: "another number", replace: []string{"string payment_id = 5;", "string payment_id = 7;"}, rules: []string{"IDEM_COMPONENT_NUMBER_CHANGED"}},
	{name: "bytes from now on", replace: []string{"string payment_id = 5;", "bytes payment_id = 5;"}, rules: []string{"IDEM_COMPONENT_TYPE_CHANGED"}},
	{name: "another integer", replace: []string{"int64 id = 1 [", "sint64 id = 1 ["}, rules: []string{"IDEM_COMPONENT_TYPE_CHANGED"}},
	{name: "an integer that is too small", replace: []string{"int64 id = 1 [", "int32 id = 1 ["}, rules: []string{"IDEM_COMPONENT_TYPE_CHANGED"}},
	{name: "money as text", replace: []string{"google.type.Money amount = 2;", "string amount = 2;"}, rules: []string{"IDEM_COMPONENT_TYPE_CHANGED"}},
	{name: "presence", replace: []string{"int64 id = 1 [", "optional int64 id = 1 ["}, rules: []string{"IDEM_COMPONENT_PRESENCE_CHANGED"}},
	{name: "no presence", replace: []string{"optional string reason", "string reason"}, rules: []string{"IDEM_COMPONENT_PRESENCE_CHANGED"}},
	{name: "refused where missing", replace: []string{"missing: MISSING_ALLOW", "missing: MISSING_ERROR"}, rules: []string{"IDEM_COMPONENT_MISSING_CHANGED"}},
	{name: "allowed where missing", replace: []string{"channel = 2 [(idem.v1.field).missing = MISSING_ERROR]", "channel = 2 [(idem.v1.field).missing = MISSING_ALLOW]"}, rules: []string{"IDEM_COMPONENT_MISSING_CHANGED"}},
	{name: "no digest any more", replace: []string{"    digest: DIGEST_SHA256\n", ""}, rules: []string{"IDEM_COMPONENT_DIGEST_CHANGED"}},
	{name: "a digest from now on", replace: []string{"string payment_id = 5;", "string payment_id = 5 [(idem.v1.field).digest = DIGEST_SHA256];"}, rules: []string{"IDEM_COMPONENT_DIGEST_CHANGED"}},
	{name: "another number of a value in a key", replace: []string{"CHANNEL_SMS = 2", "CHANNEL_SMS = 3"}, rules: []string{"IDEM_COMPONENT_ENUM_RENUMBERED"}},

	// Retries.
	{name: "a longer base", replace: []string{"backoff_base_seconds: 1\n", "backoff_base_seconds: 2\n"}, rules: []string{"IDEM_RETRY_DELAYS_CHANGED"}},
	{name: "a lower cap", replace: []string{"backoff_max_seconds: 60\n", "backoff_max_seconds: 5\n"}, rules: []string{"IDEM_RETRY_DELAYS_CHANGED"}},
	{name: "less jitter", replace: []string{"backoff_jitter_ms: 1000", "backoff_jitter_ms: 100"}, rules: []string{"IDEM_RETRY_DELAYS_CHANGED"}},
	{name: "another schedule", replace: []string{"        30000,\n", "        45000,\n"}, rules: []string{"IDEM_RETRY_DELAYS_CHANGED"}},
	{name: "fewer retries", replace: []string{"max_retry: 8", "max_retry: 4"}, rules: []string{"IDEM_RETRY_LIMIT_CHANGED"}},
	{name: "fewer holds", replace: []string{"max_hold: 20", "max_hold: 3"}, rules: []string{"IDEM_RETRY_LIMIT_CHANGED"}},
	{
		name: "no policy", rules: []string{"IDEM_RETRY_DELAYS_CHANGED", "IDEM_RETRY_LIMIT_CHANGED"},
		replace: []string{"    retry: {\n      max_retry: 3\n      backoff_base_seconds: 2\n      backoff_jitter_ms: 500\n      backoff_max_seconds: 60\n    }\n", ""},
	},
	{
		name: "no policy, which was the default one", rules: []string{"IDEM_RETRY_HEADERS_CHANGED"},
		replace: []string{"    retry: {\n      max_retry: 5\n      max_hold: 20\n      backoff_base_seconds: 1\n      backoff_jitter_ms: 1000\n      backoff_max_seconds: 300\n    }\n", ""},
	},

	// States.
	{name: "another transition", replace: []string{"to: \"PAID\"\n      on_superseded", "to: \"CANCELLED\"\n      on_superseded"}, rules: []string{"IDEM_TRANSITION_CHANGED"}},
	{
		name: "no transition", rules: []string{"IDEM_TRANSITION_CHANGED"},
		replace: []string{"    transition: {\n      state_machine: \"shop.v1.OrderState\"\n      from: \"\"\n      to: \"CREATED\"\n    }\n", ""},
	},
	{name: "superseded refunds are acknowledged", replace: []string{"to: \"REFUNDED\"\n      on_superseded: ON_SUPERSEDED_DEAD_LETTER", "to: \"REFUNDED\"\n      on_superseded: ON_SUPERSEDED_ACK"}, rules: []string{"IDEM_SUPERSEDED_CHANGED"}},
	{
		name: "a way around", rules: []string{"IDEM_VERDICT_CHANGED"},
		replace: []string{"      to: \"REFUNDED\"\n    }\n  };\n\n  // Not a state.", "      to: \"REFUNDED\"\n    }\n    transition: {from: \"CANCELLED\" to: \"REFUNDED\"}\n  };\n\n  // Not a state."},
	},
	{
		name: "a way less", rules: []string{"IDEM_EDGE_REMOVED"},
		replace: []string{"    transition: {\n      from: \"CREATED\"\n      to: \"CANCELLED\"\n    }\n", ""},
	},
	{
		name: "another text of a state", rules: []string{"IDEM_EDGE_REMOVED", "IDEM_STATE_TEXT_CHANGED", "IDEM_TRANSITION_CHANGED", "IDEM_VERDICT_CHANGED"},
		replace: []string{"ORDER_STATE_REFUNDED", "ORDER_STATE_RETURNED", `"REFUNDED"`, `"RETURNED"`},
	},
	{
		name: "a state less", rules: []string{"IDEM_EDGE_REMOVED", "IDEM_STATE_REMOVED", "IDEM_VERDICT_CHANGED"},
		replace: []string{
			"    transition: {\n      from: \"CREATED\"\n      to: \"CANCELLED\"\n    }\n", "",
			"    transition: {\n      from: \"PAYING\"\n      to: \"CANCELLED\"\n    }\n", "",
			"  ORDER_STATE_CANCELLED = 5;\n", "",
		},
	},
	{
		name: "states that change their numbers", rules: []string{"IDEM_STATE_RENUMBERED"},
		replace: []string{"ORDER_STATE_REFUNDED = 4", "ORDER_STATE_REFUNDED = 50", "ORDER_STATE_CANCELLED = 5", "ORDER_STATE_CANCELLED = 4", "= 50", "= 5"},
	},

	// Classes.
	{name: "another class", replace: []string{"OUTCOME_THROTTLED", "OUTCOME_NON_RETRYABLE"}, rules: []string{"IDEM_ERROR_CLASS_CHANGED"}},
	{name: "no class", replace: []string{" [(idem.v1.error).outcome = OUTCOME_DUPLICATE]", ""}, rules: []string{"IDEM_ERROR_CLASS_CHANGED"}},
	{name: "an error with another number", replace: []string{"PAYMENT_ERROR_TIMEOUT = 3", "PAYMENT_ERROR_TIMEOUT = 7"}, rules: []string{"IDEM_ERROR_RENUMBERED"}},
	{name: "an error less", replace: []string{"  PAYMENT_ERROR_BUSY = 2 [(idem.v1.error).outcome = OUTCOME_THROTTLED];\n", ""}, rules: []string{"IDEM_ERROR_REMOVED"}},

	// Headers and names.
	{name: "no time", replace: []string{"    occurred_at: \"{sent_at}\"\n", ""}, rules: []string{"IDEM_OCCURRED_AT_CHANGED"}},
	{name: "another Go package", replace: []string{"examples/shop/go/shop/v1;shopv1", "examples/shop/go/shop/v1;shop"}, rules: []string{"IDEM_GO_PACKAGE_CHANGED"}},
	{name: "another Java package", replace: []string{"io.github.idemspec.shop.v1", "io.github.idemspec.store.v1"}, rules: []string{"IDEM_JAVA_PACKAGE_CHANGED"}},
	{name: "another file", rename: []string{"shop/v1/notification.proto", "shop/v1/notice.proto"}, rules: []string{"IDEM_PYTHON_MODULE_CHANGED"}},
	{name: "another name", replace: []string{"message RefundRequested", "message RefundWanted"}, rules: []string{"IDEM_MESSAGE_MOVED"}},
	{name: "another name of the machine", replace: []string{"enum OrderState ", "enum Order_State ", "shop.v1.OrderState", "shop.v1.Order_State"}, rules: []string{"IDEM_ENUM_MOVED"}},
	{name: "a redacted key", replace: []string{"string payment_id = 5;", "string payment_id = 5 [debug_redact = true];"}, rules: []string{"IDEM_GENERATION_REFUSED"}},
	{
		name: "no options", rules: []string{"IDEM_MESSAGE_UNANNOTATED"},
		replace: []string{
			"  option (idem.v1.message) = {\n    idempotency_key: \"notifications.sent:v1:{order_id}:{channel}:{template}\"\n    occurred_at: \"{sent_at}\"\n" +
				"    retry: {\n      max_retry: 3\n      backoff_base_seconds: 2\n      backoff_jitter_ms: 500\n      backoff_max_seconds: 60\n    }\n  };\n", "",
		},
	},

	// What alters nothing.
	{name: "a comment", replace: []string{"// The order that was paid.", "// The order that the payment is for."}},
	{name: "a field", replace: []string{"  string payment_id = 5;", "  string payment_id = 5;\n  string note = 6;"}},
	{name: "a field that moves in the file", replace: []string{"  string payment_id = 5;\n", "", "  // The order that was paid.\n", "  string payment_id = 5;\n  // The order that was paid.\n"}},
	{name: "a field that is renamed, in its template too", emits: "the accessor has the name", replace: []string{"string payment_id = 5;", "string id = 5;", "{payment_id}", "{id}"}},
	{name: "a field on a path that is renamed", replace: []string{"Customer customer = 2", "Customer buyer = 2", "fingerprint: \"{customer.id}:{total}:{currency}\"\n", "fingerprint: \"{buyer.id}:{total}:{currency}\"\n"}, rules: []string{"IDEM_FINGERPRINT_CHANGED"}},
	{name: "another number of a field in no template", replace: []string{"string email = 2", "string email = 3"}},
	{name: "another type of a field in no template", replace: []string{"string address = 4", "bytes address = 4"}},
	{name: "presence of a field in no template", replace: []string{"string address = 4", "optional string address = 4"}},
	{name: "a higher scale", emits: "more is accepted", replace: []string{"total = 3 [(idem.v1.field).decimal = {max_scale: 2}]", "total = 3 [(idem.v1.field).decimal = {max_scale: 4}]"}},
	{name: "any scale", emits: "more is accepted", replace: []string{"amount = 2 [(idem.v1.field).decimal = {max_scale: 2}]", "amount = 2 [(idem.v1.field).decimal = {}]"}},
	{name: "a default that is stated", replace: []string{"occurred_at = 5;", "occurred_at = 5 [(idem.v1.field).timestamp = {fraction_digits: 3}];"}},
	{name: "a missing that is stated", replace: []string{"string payment_id = 5;", "string payment_id = 5 [(idem.v1.field).missing = MISSING_ERROR];"}},
	{name: "a class that is stated", emits: "the case is written", replace: []string{"PAYMENT_ERROR_UNSPECIFIED = 0;", "PAYMENT_ERROR_UNSPECIFIED = 0 [(idem.v1.error).outcome = OUTCOME_RETRYABLE];"}},
	{name: "an error", emits: "there is a case more", replace: []string{"OUTCOME_DUPLICATE];\n", "OUTCOME_DUPLICATE];\n  PAYMENT_ERROR_LIMIT = 5 [(idem.v1.error).outcome = OUTCOME_NON_RETRYABLE];\n"}},
	{name: "an error of the usual class less", emits: "the case is gone", replace: []string{"  PAYMENT_ERROR_TIMEOUT = 3 [(idem.v1.error).outcome = OUTCOME_RETRYABLE];\n", ""}},
	{name: "a value of an enum in a key", replace: []string{"CHANNEL_SMS = 2;", "CHANNEL_SMS = 2;\n  CHANNEL_PUSH = 3;"}},
	{name: "a value of an enum in a key that is renamed", replace: []string{"CHANNEL_SMS", "CHANNEL_TEXT"}},
	{
		name: "a state behind the last one", emits: "there is a state more",
		replace: []string{"  };\n\n  // Not a state.", "    transition: {from: \"REFUNDED\" to: \"CLOSED\"}\n  };\n\n  // Not a state.", "ORDER_STATE_CANCELLED = 5;", "ORDER_STATE_CANCELLED = 5;\n  ORDER_STATE_CLOSED = 6;"},
	},
	{name: "a state that is renamed and keeps its text", emits: "the constant has the name", replace: []string{"ORDER_STATE_REFUNDED = 4", "ORDER_STATE_RETURNED = 4 [(idem.v1.state).text = \"REFUNDED\"]"}},
	{name: "a fingerprint", emits: "there was none", replace: []string{`occurred_at: "{sent_at}"`, `occurred_at: "{sent_at}" fingerprint: "{template}"`}},
	{name: "a message", emits: "it has helpers", replace: []string{"// Channel is how", "message NotificationRead {\n  option (idem.v1.message).idempotency_key = \"notifications.read:v1:{order_id}\";\n  string order_id = 1;\n}\n\n// Channel is how"}},
	{
		name: "a key that is migrated", emits: "there are two keys",
		replace: []string{
			`idempotency_key: "orders.created:v1:{order_id}"`,
			`idempotency_key: "orders.created:v2:order:{order_id}" idempotency_key_previous: "orders.created:v1:{order_id}"`,
		},
	},
	{
		name: "a key that is migrated, and its field renamed", emits: "there are two keys",
		replace: []string{
			`idempotency_key: "payments.payment_success:v1:{payment_id}"`,
			`idempotency_key: "payments.payment_success:v2:{id}" idempotency_key_previous: "payments.payment_success:v1:{id}"`,
			"string payment_id = 5;", "string id = 5;",
		},
	},
}

// shop is the schema before, by file name.
func shop(t testing.TB) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..", "..", "examples", "shop", "proto")
	files := make(map[string]string)
	for _, name := range []string{"shop/v1/order.proto", "shop/v1/payment.proto", "shop/v1/notification.proto"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		files[name] = string(text)
	}
	return files
}

// applied is the schema with the edit; false where an old text is not there (any more).
func (e edit) applied(files map[string]string) (map[string]string, bool) {
	after := make(map[string]string)
	for name, text := range files {
		after[name] = text
	}
	for i := 0; i < len(e.replace); i += 2 {
		found := false
		for name, text := range after {
			found = found || strings.Contains(text, e.replace[i])
			after[name] = strings.ReplaceAll(text, e.replace[i], e.replace[i+1])
		}
		if !found {
			return nil, false
		}
	}
	for i := 0; i < len(e.rename); i += 2 {
		text, found := after[e.rename[i]]
		if !found {
			return nil, false
		}
		delete(after, e.rename[i])
		after[e.rename[i+1]] = text
	}
	return after, true
}

// compile compiles files, nil where they do not compile.
func compile(t testing.TB, files map[string]string) (*source.Files, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return source.Read(t.Context(), dir)
}
