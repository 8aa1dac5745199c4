package schemas_test

import "testing"

func TestOrder(t *testing.T) {
	t.Parallel()
	const (
		missing = "IDEM_BIZ_KEY_MISSING"
		differs = "IDEM_BIZ_KEY_DIFFERS"
		isKey   = "IDEM_BIZ_KEY_IS_KEY"
		hasTime = "IDEM_BIZ_KEY_TIME"
		coarse  = "IDEM_BIZ_KEY_COARSE"
		empty   = "IDEM_BIZ_KEY_EMPTY"
		ids     = "string tenant = 2; string order = 3; optional int64 number = 4; optional bool flag = 5; google.protobuf.Timestamp at = 6; E e = 7 [(idem.v1.field).missing = MISSING_ERROR];"
		enum    = "enum E { E_UNSPECIFIED = 0; } "
	)
	// pair is two messages of one machine.
	pair := func(a, b string) string {
		return shortMachine + enum + another("A", `biz_key: "`+a+`"`+toA, ids) + another("B", `biz_key: "`+b+`"`+toB, ids)
	}
	biz := func(text string) string { return enum + message(`biz_key: "`+text+`"`, ids) }
	runAll(t, []given{
		{name: "transition", rule: missing, proto: shortMachine + message(toB, ""), want: []string{"t.v1.M makes a transition"}},
		{name: "no transition", rule: missing, proto: message("", "")},
		{name: "there", rule: missing, proto: shortMachine + message(`biz_key: "{id}"`+toB, "")},
		{name: "there, and refused", rule: missing, proto: shortMachine + message(`biz_key: "{unknown}"`+toB, "")},

		{name: "other names", rule: differs, proto: pair("{order}", "{id}")},
		{name: "integer and string", rule: differs, proto: pair("{order}", "{number}")},
		{name: "literal", rule: differs, proto: pair("order:{order}", "{order}"), want: []string{`the biz_key of t.v1.B is "{order}" and that of t.v1.A is "order:{order}"`}},
		{name: "another literal", rule: differs, proto: pair("order:{order}", "o:{order}"), want: []string{"B"}},
		{name: "the same literal", rule: differs, proto: pair("order:{order}", "order:{id}")},
		{name: "literal in the place of a component", rule: differs, proto: pair("{tenant}:{order}", "shop:{order}"), want: []string{"B"}},
		{name: "more components", rule: differs, proto: pair("{order}", "{tenant}:{order}"), want: []string{"B"}},
		{name: "another order", rule: differs, proto: pair("{tenant}:{order}", "{order}:{tenant}"), want: []string{"B"}},
		{name: "other kinds", rule: differs, proto: pair("{order}", "{flag}"), want: []string{"B"}},
		{name: "no biz key", rule: differs, proto: shortMachine + another("A", `biz_key: "{id}"`+toA, "") + another("B", toB, "")},
		{name: "no machine", rule: differs, proto: another("A", `biz_key: "a:{id}"`, "") + another("B", `biz_key: "{id}"`, "")},

		{name: "the key", rule: isKey, proto: biz("t.m:v1:{id}"), want: []string{"t.v1.M"}},
		{name: "more than the key", rule: isKey, proto: biz("t.m:{id}:{order}"), want: []string{"t.v1.M"}},
		{name: "without the event type", rule: isKey, proto: biz("{id}")},
		{name: "with the event type and another field", rule: isKey, proto: biz("t.m:{order}")},

		{name: "timestamp", rule: hasTime, proto: biz("{order}:{at}"), want: []string{"has {at}, a timestamp"}},
		{name: "date", rule: hasTime, proto: message(`biz_key: "{day}"`, "google.type.Date day = 2;")},

		{name: "enum and bool", rule: coarse, proto: biz("x:{e}:{flag}"), want: []string{"x:{e}:{flag}"}},
		{name: "enum and id", rule: coarse, proto: biz("{e}:{id}")},

		{name: "string", rule: empty, proto: message(`biz_key: "{o}"`, "string o = 2 [(idem.v1.field).missing = MISSING_ALLOW];"), want: []string{"KEY_EMPTY"}},
		{name: "bytes", rule: empty, proto: message(`biz_key: "{o}"`, "bytes o = 2 [(idem.v1.field).missing = MISSING_ALLOW];"), want: []string{"KEY_EMPTY"}},
		{name: "optional", rule: empty, proto: message(`biz_key: "{o}"`, "optional string o = 2 [(idem.v1.field).missing = MISSING_ALLOW];")},
		{name: "integer", rule: empty, proto: message(`biz_key: "{o}"`, "int64 o = 2 [(idem.v1.field).missing = MISSING_ALLOW];")},
		{name: "digest", rule: empty, proto: message(`biz_key: "{o}"`, "string o = 2 [(idem.v1.field) = {missing: MISSING_ALLOW digest: DIGEST_SHA256}];")},
		{name: "behind a literal", rule: empty, proto: message(`biz_key: "o:{o}"`, "string o = 2 [(idem.v1.field).missing = MISSING_ALLOW];")},
		{name: "not missing", rule: empty, proto: biz("{order}")},
	})
}
