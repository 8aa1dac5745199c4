package schemas_test

import "testing"

func TestClasses(t *testing.T) {
	t.Parallel()
	const (
		unclassified = "IDEM_ERROR_UNCLASSIFIED"
		unset        = "IDEM_ERROR_UNSET_DONE"
		busy         = "E_BUSY = 1 [(idem.v1.error).outcome = OUTCOME_THROTTLED];"
	)
	runAll(t, []given{
		{name: "two values", rule: unclassified, proto: "enum E { E_UNSPECIFIED = 0; " + busy + " E_A = 2; E_B = -3; }", want: []string{"E_A of t.v1.E", "E_B of t.v1.E"}},
		{name: "no error enum", rule: unclassified, proto: "enum E { E_UNSPECIFIED = 0; E_A = 2; }"},
		{name: "aliases", rule: unclassified, proto: "enum E { option allow_alias = true; E_UNSPECIFIED = 0; E_C = 1; " + busy + " E_A = 2; E_B = 2; }", want: []string{"E_A of"}},
		{name: "an outcome that is not said", rule: unclassified, proto: "enum E { E_UNSPECIFIED = 0; E_A = 2 [(idem.v1.error) = {}]; }"},
		{name: "in a message", rule: unclassified, proto: "message M { enum E { E_UNSPECIFIED = 0; " + busy + " E_A = 2; } }", want: []string{"E_A of t.v1.M.E"}},

		{name: "OK", rule: unset, proto: "enum E { E_UNSPECIFIED = 0 [(idem.v1.error).outcome = OUTCOME_OK]; }", want: []string{"has the outcome OK"}},
		{name: "DUPLICATE", rule: unset, proto: "enum E { E_UNKNOWN = 0 [(idem.v1.error).outcome = OUTCOME_DUPLICATE]; }", want: []string{"has the outcome DUPLICATE"}},
		{name: "no error", rule: unset, proto: "enum E { E_OK = 0 [(idem.v1.error).outcome = OUTCOME_OK]; }"},
		{name: "no error, by one word", rule: unset, proto: "enum E { NONE = 0 [(idem.v1.error).outcome = OUTCOME_OK]; }"},
		{name: "a word that ends so", rule: unset, proto: "enum E { E_BOOK = 0 [(idem.v1.error).outcome = OUTCOME_OK]; }", want: []string{"E_BOOK"}},
		{name: "another outcome, another value", rule: unset, proto: "enum E { E_UNSPECIFIED = 0 [(idem.v1.error).outcome = OUTCOME_NON_RETRYABLE]; E_FINE = 1 [(idem.v1.error).outcome = OUTCOME_OK]; }"},
	})
}
