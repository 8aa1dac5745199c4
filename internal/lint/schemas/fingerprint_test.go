package schemas_test

import "testing"

func TestFingerprintsOfWhatTheKeyHas(t *testing.T) {
	const rule = "IDEM_FINGERPRINT_IN_KEY"
	runAll(t, []given{
		{name: "the id", rule: rule, proto: message(`fingerprint: "{id}"`, ``), want: []string{"names id alone"}},
		{name: "the id and a literal", rule: rule, proto: message(`fingerprint: "id:{id}"`, ``), want: []string{"names id alone"}},
		{name: "a part of the key", rule: rule,
			proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{a}:{b}:{c}" fingerprint: "{c}:{a}"}; string a = 1; string b = 2; string c = 3; }`,
			want:  []string{"names c and a alone"}},
		{name: "something else too", rule: rule, proto: message(`fingerprint: "{id}:{x}"`, `string x = 2;`)},
		{name: "none", rule: rule, proto: message(``, ``)},
		{name: "another field of that name", rule: rule,
			proto: message(`fingerprint: "{s.id}"`, `Sub s = 2;`) + ` message Sub { string id = 1; }`},
	})
}

func TestAmountsWithoutAFingerprint(t *testing.T) {
	const rule = "IDEM_FINGERPRINT_MISSING"
	runAll(t, []given{
		{name: "money", rule: rule, proto: message(``, `google.type.Money price = 2;`), want: []string{"has the amount price"}},
		{name: "a decimal", rule: rule, proto: message(``, `google.type.Decimal total = 2;`), want: []string{"has the amount total"}},
		{name: "a decimal in a string", rule: rule, proto: message(``, `string x = 2 [(idem.v1.field).decimal = {}];`), want: []string{"has the amount x"}},
		{name: "two", rule: rule, proto: message(``, `google.type.Money a = 2; google.type.Money b = 3;`), want: []string{"has the amount a"}},
		{name: "a name alone", rule: rule, proto: message(``, `string amount = 2; int64 price = 3;`)},
		{name: "a list", rule: rule, proto: message(``, `repeated google.type.Money prices = 2;`)},
		{name: "in the key", rule: rule, proto: keyed(`google.type.Money price = 2;`)},
		{name: "that nobody may read", rule: rule, proto: message(``, `google.type.Money price = 2 [debug_redact = true];`)},
		{name: "of a message that is not sent", rule: rule, proto: `message M { google.type.Money price = 2; }`},
		{name: "with a fingerprint that is refused", rule: rule, proto: message(`fingerprint: "{none}"`, `google.type.Money price = 2;`)},
		{name: "with a fingerprint of something else", rule: rule, proto: message(`fingerprint: "{x}"`, `google.type.Money price = 2; string x = 3;`)},
	})
}

func TestFingerprintToWriteHasTheCurrency(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, fields, want string }{
		{"beside it", `string amount = 2 [(idem.v1.field).decimal = {}]; string currency = 3;`, `add fingerprint: "{amount}:{currency}"`},
		{"of its own", `string fee = 2 [(idem.v1.field).decimal = {}]; string fee_currency = 3;`, `add fingerprint: "{fee}:{fee_currency}"`},
		{"of what it is an amount of", `string refund_amount = 2 [(idem.v1.field).decimal = {}]; string refund_currency = 3;`, `add fingerprint: "{refund_amount}:{refund_currency}"`},
		{"of another amount", `string refund_amount = 2 [(idem.v1.field).decimal = {}]; string fee_currency = 3;`, `add fingerprint: "{refund_amount}"`},
		{"none", `string amount = 2 [(idem.v1.field).decimal = {}];`, `add fingerprint: "{amount}"`},
		{"in the money", `google.type.Money price = 2; string currency = 3;`, `add fingerprint: "{price}"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			found := findings(t, "IDEM_FINGERPRINT_MISSING", sources(message(``, test.fields)), noFacts)
			if len(found) != 1 || found[0].Mend != test.want {
				t.Errorf("%v", found)
			}
		})
	}
}
