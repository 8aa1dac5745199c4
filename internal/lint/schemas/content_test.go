package schemas_test

import (
	"testing"

	"github.com/idem-spec/idem/internal/lint/config"
)

func TestKeysOfAmounts(t *testing.T) {
	const rule = "IDEM_KEY_AMOUNT"
	runAll(t, []given{
		{name: "money", rule: rule, proto: keyed(`google.type.Money price = 2;`), want: []string{"names price, an amount"}},
		{name: "a decimal", rule: rule, proto: keyed(`google.type.Decimal x = 2;`), want: []string{"names x, an amount"}},
		{name: "a decimal in a string", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; string x = 2 [(idem.v1.field).decimal = {}];`), want: []string{"names x, an amount"}},
		{name: "a number", rule: rule, proto: keyedBy("M", "n", `optional int64 n = 2;`)},
		{name: "in the fingerprint", rule: rule, proto: message(`fingerprint: "{price}"`, `google.type.Money price = 2;`)},
	})
}

func TestKeysOfTextsThatPeopleWrite(t *testing.T) {
	const rule = "IDEM_KEY_FREE_TEXT"
	runAll(t, []given{
		{name: "a reason", rule: rule, proto: keyed(`string reason = 2;`), want: []string{"names reason"}},
		{name: "the last word", rule: rule, proto: keyed(`string cancel_reason = 2;`), want: []string{"names cancel_reason"}},
		{name: "a wrapper", rule: rule, proto: keyed(`google.protobuf.StringValue note = 2;`), want: []string{"names note"}},
		{name: "a code", rule: rule, proto: keyed(`string reason_code = 2;`)},
		{name: "a part of a word", rule: rule, proto: keyed(`string keynote = 2;`)},
		{name: "an enum", rule: rule, proto: keyedBy("M", "reason", "optional E reason = 2;")},
		{name: "a digest", rule: rule, proto: key("t.m:v1:{id}:{reason}", `string id = 1; string reason = 2 [(idem.v1.field).digest = DIGEST_SHA256];`)},
		{name: "in the fingerprint", rule: rule, proto: message(`fingerprint: "{reason}"`, `string reason = 2;`)},
	})
}

func TestKeysOfPersonalData(t *testing.T) {
	const rule = "IDEM_KEY_PERSONAL_DATA"
	readBy := func(who string) config.Facts { return config.Facts{Default: config.Fact{KeyReaders: &who}} }
	everyone := readBy("everyone")
	runAll(t, []given{
		{name: "a mail address", rule: rule, facts: everyone, proto: keyed(`string customer_email = 2;`), want: []string{"names customer_email"}},
		{name: "an address alone", rule: rule, facts: everyone, proto: keyed(`string address = 2;`), want: []string{"names address"}},
		{name: "an address of something else", rule: rule, facts: everyone, proto: keyed(`string wallet_address = 2;`)},
		{name: "in a biz key", rule: rule, facts: everyone, proto: message(`biz_key: "{phone}"`, `string phone = 2;`), want: []string{"biz_key of t.v1.M names phone"}},
		{name: "in the key before", rule: rule, facts: everyone,
			proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v2:{id}" idempotency_key_previous: "t.m:v1:{iban}"}; string id = 1; string iban = 2; }`,
			want:  []string{"idempotency_key_previous of t.v1.M names iban"}},
		{name: "of one event type", rule: rule, proto: keyed(`string email = 2;`), want: []string{"names email"},
			facts: config.Facts{Events: map[string]config.Fact{"t.m": everyone.Default}}},
		{name: "of another event type", rule: rule, proto: keyed(`string email = 2;`),
			facts: config.Facts{Events: map[string]config.Fact{"t.n": everyone.Default}}},
		{name: "in a fingerprint, which is a hash", rule: rule, facts: everyone, proto: message(`fingerprint: "{email}"`, `string email = 2;`)},
		{name: "a digest", rule: rule, facts: everyone,
			proto: key("t.m:v1:{id}:{email}", `string id = 1; string email = 2 [(idem.v1.field).digest = DIGEST_SHA256];`)},
		{name: "an id of one", rule: rule, facts: everyone, proto: keyed(`string email_id = 2;`)},
		{name: "a name of a thing", rule: rule, facts: everyone, proto: keyed(`string name = 2;`)},
		{name: "that operators alone read", rule: rule, facts: readBy("operators"), proto: keyed(`string email = 2;`)},
		{name: "where nobody says who reads it", rule: rule, proto: keyed(`string email = 2;`)},
	})
}
