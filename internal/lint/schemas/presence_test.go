package schemas_test

import "testing"

const allow = ` [(idem.v1.field).missing = MISSING_ALLOW]`

func TestKeysOfWhichAllMayBeMissing(t *testing.T) {
	const rule = "IDEM_KEY_ALL_MISSING"
	runAll(t, []given{
		{name: "a string", rule: rule, proto: key("t.m:v1:{x}", `string x = 1`+allow+`;`), want: []string{"all events without x are one event"}},
		{name: "two", rule: rule, proto: key("t.m:v1:{x}:{y}", `optional string x = 1`+allow+`; optional int32 y = 2`+allow+`;`),
			want: []string{"all events without x and y are one event"}},
		{name: "below a message", rule: rule, proto: key("t.m:v1:{s.x}", `Sub s = 1;`) + ` message Sub { int32 x = 1` + allow + `; }`,
			want: []string{"without s.x"}},
		{name: "an enum that is always there does not help", rule: rule,
			proto: key("t.m:v1:{x}:{e}", `string x = 1`+allow+`; E e = 2 [(idem.v1.field).missing = MISSING_ERROR];`), want: []string{"without x"}},
		{name: "one that is always there", rule: rule, proto: key("t.m:v1:{x}:{y}", `string x = 1`+allow+`; string y = 2;`)},
		{name: "a time that is always there", rule: rule, proto: key("t.m:v1:{x}:{at}", `string x = 1`+allow+`; google.protobuf.Timestamp at = 2;`)},
		{name: "a number whose 0 is a value", rule: rule, proto: key("t.m:v1:{n}", `int64 n = 1`+allow+`;`)},
		{name: "members of one oneof", rule: rule,
			proto: key("t.m:v1:{x}:{y}", `oneof o { string x = 1`+allow+`; string y = 2`+allow+`; }`)},
		{name: "one member of a oneof", rule: rule,
			proto: key("t.m:v1:{x}", `oneof o { string x = 1`+allow+`; string y = 2; }`), want: []string{"without x"}},
	})
}

func TestKeysWithTwoTextsForNothing(t *testing.T) {
	const rule = "IDEM_KEY_PRESENCE_AMBIGUOUS"
	runAll(t, []given{
		{name: "an optional string that may be missing", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; optional string x = 2`+allow+`;`), want: []string{"empty"}},
		{name: "a wrapper", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; google.protobuf.Int32Value x = 2`+allow+`;`), want: []string{"0 where it is set"}},
		{name: "a boolean", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; optional bool x = 2`+allow+`;`), want: []string{"false where it is set"}},
		{name: "below a message", rule: rule,
			proto: key("t.m:v1:{id}:{s.x}", `string id = 1; Sub s = 2;`) + ` message Sub { string x = 1` + allow + `; }`, want: []string{"s.x"}},
		{name: "an optional string that is an error where it is missing", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; optional string x = 2;`)},
		{name: "a string without presence", rule: rule, proto: key("t.m:v1:{id}:{x}", `string id = 1; string x = 2`+allow+`;`)},
		{name: "a UUID, of which empty is none", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; optional string x = 2 [(idem.v1.field) = {uuid: true missing: MISSING_ALLOW}];`)},
		{name: "a time", rule: rule, proto: key("t.m:v1:{id}:{x}", `string id = 1; google.protobuf.Timestamp x = 2`+allow+`;`)},
		{name: "a member of a oneof", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; oneof o { string x = 2`+allow+`; string y = 3; }`)},
		{name: "in a fingerprint", rule: rule, proto: message(`fingerprint: "{x}"`, `optional string x = 2`+allow+`;`)},
	})
}

func TestTemplatesThatNameAMemberOfAOneof(t *testing.T) {
	const rule = "IDEM_COMPONENT_IN_ONEOF"
	const oneof = `oneof o { string x = 2; string y = 3; }`
	runAll(t, []given{
		{name: "the key", rule: rule, proto: key("t.m:v1:{id}:{x}", `string id = 1; `+oneof), want: []string{"where y is set"}},
		{name: "the biz key", rule: rule, proto: message(`biz_key: "{y}"`, oneof), want: []string{"biz_key of t.v1.M names y"}},
		{name: "the fingerprint", rule: rule, proto: message(`fingerprint: "{x}"`, oneof), want: []string{"fingerprint of t.v1.M names x"}},
		{name: "a message that is a member", rule: rule,
			proto: key("t.m:v1:{s.x}", `oneof o { Sub s = 1; string y = 2; }`) + ` message Sub { string x = 1; }`, want: []string{"s is a member of the oneof o"}},
		{name: "a member of a message on the path", rule: rule,
			proto: key("t.m:v1:{s.x}", `Sub s = 1;`) + ` message Sub { ` + oneof + ` }`, want: []string{"x is a member of the oneof o"}},
		{name: "one that may be missing", rule: rule,
			proto: key("t.m:v1:{id}:{x}", `string id = 1; oneof o { string x = 2`+allow+`; string y = 3; }`)},
		{name: "the only member", rule: rule, proto: key("t.m:v1:{x}", `oneof o { string x = 1; }`)},
		{name: "the only one that is not deprecated", rule: rule,
			proto: key("t.m:v1:{x}", `oneof o { string x = 1; string y = 2 [deprecated = true]; }`)},
		{name: "optional, which is a oneof too", rule: rule, proto: key("t.m:v1:{x}", `optional string x = 1;`)},
		{name: "the key before", rule: rule,
			proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v2:{id}" idempotency_key_previous: "t.m:v1:{x}"}; string id = 1; ` + oneof + ` }`},
	})
}

func TestTemplatesThatNameADeprecatedField(t *testing.T) {
	const rule = "IDEM_COMPONENT_DEPRECATED"
	const old = `string x = 2 [deprecated = true];`
	runAll(t, []given{
		{name: "the key", rule: rule, proto: keyed(old), want: []string{"t.v1.M.x is deprecated"}},
		{name: "the fingerprint", rule: rule, proto: message(`fingerprint: "{x}"`, old), want: []string{"fingerprint of t.v1.M names x"}},
		{name: "a message on the path", rule: rule,
			proto: key("t.m:v1:{s.x}", `Sub s = 1 [deprecated = true];`) + ` message Sub { string x = 1; }`, want: []string{"t.v1.M.s is deprecated"}},
		{name: "named by none", rule: rule, proto: message(``, old)},
		{name: "the key before", rule: rule,
			proto: `message M { option (idem.v1.message) = {idempotency_key: "t.m:v2:{id}" idempotency_key_previous: "t.m:v1:{x}"}; string id = 1; ` + old + ` }`},
		{name: "stated to be none", rule: rule, proto: keyed(`string x = 2 [deprecated = false];`)},
	})
}
