package schemas_test

import "testing"

// previous is an annotated message M with a key and the one before.
func previous(key, before string) string {
	return `message M {
  option (idem.v1.message) = {idempotency_key: "` + key + `" idempotency_key_previous: "` + before + `"};
  string a = 1;
  string b = 2;
  optional int64 n = 3;
  optional uint32 m = 4;
  string u = 5 [(idem.v1.field).uuid = true];
  string w = 6 [(idem.v1.field).uuid = true];
  google.protobuf.Timestamp at = 7;
  bytes raw = 8;
  string d = 9 [(idem.v1.field).digest = DIGEST_SHA256];
}`
}

func TestKeysThatAreTheKeyBeforeOfAnotherEvent(t *testing.T) {
	const rule = "IDEM_KEY_PREVIOUS_COLLIDES"
	one := []string{"idempotency_key of t.v1.M can give one event the text that idempotency_key_previous gives another"}
	runAll(t, []given{
		{name: "two fields that change places", rule: rule, proto: previous("t.m:v1:{a}:{b}", "t.m:v1:{b}:{a}"), want: one},
		{name: "another field", rule: rule, proto: previous("t.m:v1:{a}", "t.m:v1:{b}"), want: one},
		{name: "a literal where there was a field", rule: rule, proto: previous("t.m:v1:card:{a}", "t.m:v1:{b}:{a}"), want: one},
		{name: "a field where there was a literal", rule: rule, proto: previous("t.m:{a}:{b}", "t.m:card:{b}"), want: one},
		{name: "two numbers", rule: rule, proto: previous("t.m:v1:{n}", "t.m:v1:{m}"), want: one},
		{name: "a string and a number", rule: rule, proto: previous("t.m:v1:{a}", "t.m:v1:{m}"), want: one},
		{name: "no version", rule: rule, proto: previous("t.m:{a}", "t.m:{b}"), want: one},
		{name: "another version", rule: rule, proto: previous("t.m:v2:{a}:{b}", "t.m:v1:{b}:{a}")},
		{name: "a version where there was a field", rule: rule, proto: previous("t.m:v1:{a}", "t.m:{b}:{a}")},
		{name: "another literal", rule: rule, proto: previous("t.m:v1:card:{a}", "t.m:v1:bank:{b}")},
		{name: "a literal that is no number", rule: rule, proto: previous("t.m:v1:card:{a}", "t.m:v1:{n}:{a}")},
		{name: "a number where there was a literal that is none", rule: rule, proto: previous("t.m:v1:{n}:{a}", "t.m:v1:card:{a}")},
		{name: "a field more", rule: rule, proto: previous("t.m:v1:{a}:{b}", "t.m:v1:{a}")},
		{name: "two UUIDs", rule: rule, proto: previous("t.m:v1:{u}", "t.m:v1:{w}")},
		{name: "a string and a time", rule: rule, proto: previous("t.m:v1:{a}", "t.m:v1:{at}")},
		{name: "a string and a digest", rule: rule, proto: previous("t.m:v1:{a}", "t.m:v1:{d}")},
		{name: "the key itself", rule: rule, proto: previous("t.m:v1:{a}", "t.m:v1:{a}")},
	})
}

func TestChangedKeysOfTheVersionBefore(t *testing.T) {
	const rule = "IDEM_KEY_PREVIOUS_VERSION_SAME"
	runAll(t, []given{
		{name: "a field more", rule: rule, proto: previous("t.m:v1:{a}:{b}", "t.m:v1:{a}"), want: []string{"its version is still v1"}},
		{name: "at another place", rule: rule, proto: previous("t.m:{a}:v3", "t.m:v3:{a}:{b}"), want: []string{"its version is still v3"}},
		{name: "counted up", rule: rule, proto: previous("t.m:v2:{a}:{b}", "t.m:v1:{a}")},
		{name: "a first version", rule: rule, proto: previous("t.m:v1:{a}", "t.m:{a}")},
		{name: "none in both, which other rules find", rule: rule, proto: previous("t.m:{a}:{b}", "t.m:{a}")},
		{name: "keys that collide, which is worse", rule: rule, proto: previous("t.m:v1:{a}", "t.m:v1:{b}")},
	})
}

func TestVersionToWriteIsTheNext(t *testing.T) {
	t.Parallel()
	const mend = "count the version of the key up, from v9 to v10"
	for _, proto := range []string{previous("t.m:v9:{a}:{b}", "t.m:v9:{a}"), previous("t.m:v9:{a}", "t.m:v9:{b}")} {
		for _, rule := range []string{"IDEM_KEY_PREVIOUS_VERSION_SAME", "IDEM_KEY_PREVIOUS_COLLIDES"} {
			for _, f := range findings(t, rule, sources(proto), noFacts) {
				if f.Mend != mend {
					t.Errorf("%s: %s", rule, f.Mend)
				}
			}
		}
	}
}
