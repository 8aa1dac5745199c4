package schemas_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint/config"
)

// machineOf is an enum S of package t.v1 with edges "A>B" and values UNSPECIFIED, A, B, C, D.
func machineOf(edges ...string) string {
	text := "enum S { option (idem.v1.state_machine) = {"
	for _, e := range edges {
		from, to, _ := strings.Cut(e, ">")
		text += ` transition: {from: "` + from + `" to: "` + to + `"}`
	}
	return text + "}; S_UNSPECIFIED = 0; S_A = 1; S_B = 2; S_C = 3; S_D = 4; } "
}

// another is an annotated message with another event type.
func another(name, option, fields string) string {
	return `message ` + name + ` { option (idem.v1.message) = {idempotency_key: "t.` + name + `:v1:{id}" ` + option + `}; string id = 1; ` + fields + ` } `
}

func TestStates(t *testing.T) {
	t.Parallel()
	const (
		unreachable = "IDEM_STATE_UNREACHABLE"
		creation    = "IDEM_STATE_CREATION_MISSING"
		unused      = "IDEM_STATE_UNUSED"
		zero        = "IDEM_STATE_UNSPECIFIED"
		machine     = "IDEM_MACHINE_UNUSED"
		twice       = "IDEM_TRANSITION_TWICE"
		money       = "IDEM_SUPERSEDED_MONEY"
		expected    = "IDEM_EXPECTED_STATE_UNGUARDED"
	)
	acked := strings.Replace(toB, `to: "B"`, `to: "B" on_superseded: ON_SUPERSEDED_ACK`, 1)
	runAll(t, []given{
		{name: "two states behind no creation", rule: unreachable, proto: machineOf(">A", "A>B", "C>D"), want: []string{"to C,", "to D,"}},
		{name: "a dead end, two ways, two creations", rule: unreachable, proto: machineOf(">A", ">B", "A>C", "B>C", "C>D")},
		{name: "no creation at all", rule: unreachable, proto: machineOf("A>B")},
		{name: "no edge", rule: unreachable, proto: machineOf()},

		{name: "no creation", rule: creation, proto: machineOf("A>B"), want: []string{`no transition of t.v1.S leads from ""`}},
		{name: "a creation", rule: creation, proto: machineOf(">A")},
		{name: "no edge", rule: creation, proto: machineOf()},

		{name: "two values", rule: unused, proto: machineOf(">A", "A>B"), want: []string{"C is in", "D is in"}},
		{name: "all but 0", rule: unused, proto: machineOf(">A", "A>B", "B>C", "B>D")},
		{name: "an alias", rule: unused, proto: `enum S { option allow_alias = true; option (idem.v1.state_machine) = {transition: {from: "" to: "A"}}; S_UNSPECIFIED = 0; S_A = 1; S_B = 1; }`},
		{name: "no machine", rule: unused, proto: `enum E { E_UNSPECIFIED = 0; E_A = 1; }`},

		{name: "from", rule: zero, proto: machineOf(">A", "UNSPECIFIED>B"), want: []string{"UNSPECIFIED, the value 0"}},
		{name: "a name of its own", rule: zero, proto: `enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "NEW"}}; S_NEW = 0; }`, want: []string{"NEW, the value 0"}},
		{name: "a text of its own", rule: zero, proto: `enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "x"}}; S_NEW = 0 [(idem.v1.state).text = "x"]; }`, want: []string{"x, the value 0"}},
		{name: "in no edge", rule: zero, proto: machineOf(">A")},

		{name: "beside messages", rule: machine, proto: machineOf(">A") + message("", ""), want: []string{"of t.v1.S"}},
		{name: "named", rule: machine, proto: machineOf(">A", "A>B") + message(toA, "")},
		{name: "named by an edge that is not there", rule: machine, proto: machineOf(">A", "A>C") + message(toB, "")},
		{name: "named by a refused message", rule: machine,
			proto: machineOf(">A") + another("N", "", "") + `message M { option (idem.v1.message) = {idempotency_key: "t.m:{unknown}" ` + toA + `}; }`},
		{name: "no messages", rule: machine, proto: machineOf(">A")},

		{name: "nothing said", rule: twice, proto: shortMachine + message(toB, "") + another("N", toB, "") + another("O", toA, ""), want: []string{`t.v1.M and t.v1.N both make the transition "A" -> "B"`}},
		{name: "said by the first", rule: twice, proto: shortMachine + message(acked, "") + another("N", toB, ""), want: []string{"t.v1.M and t.v1.N"}},
		{name: "said by the second", rule: twice, proto: shortMachine + message(toB, "") + another("N", acked, ""), want: []string{"t.v1.M and t.v1.N"}},
		{name: "said by both", rule: twice, proto: shortMachine + message(acked, "") + another("N", acked, "")},
		{name: "another machine", rule: twice, proto: shortMachine + strings.ReplaceAll(strings.ReplaceAll(shortMachine, "S_", "T_"), " S ", " T ") + message(toB, "") +
			another("N", strings.Replace(toB, "t.v1.S", "t.v1.T", 1), "")},

		{name: "Money", rule: money, proto: shortMachine + message(toB, "google.type.Money paid = 2;"), want: []string{"carries paid"}},
		{name: "named as an amount", rule: money, proto: shortMachine + message(toB, "string unit_price = 2;"), want: []string{"carries unit_price"}},
		{name: "said", rule: money, proto: shortMachine + message(acked, "google.type.Money paid = 2;")},
		{name: "a creation", rule: money, proto: shortMachine + message(toA, "google.type.Money paid = 2;")},
		{name: "no amount", rule: money, proto: shortMachine + message(toB, "string note = 2; bool fee = 3; int64 count = 4;")},
		{name: "no transition", rule: money, proto: message("", "google.type.Money paid = 2;")},

		{name: "all names", rule: expected, proto: message("", "string expected_state = 2; string expected_status = 3; string expected_current_state = 4; string expected_current_status = 5;"),
			want: []string{"expected_state", "expected_status", "expected_current_state", "expected_current_status"}},
		{name: "with a transition", rule: expected, proto: shortMachine + message(toB, "string expected_state = 2;")},
		{name: "other names, and messages that are not annotated", rule: expected, proto: message("", "string state = 2; string expected = 3;") + ` message N { string expected_state = 1; }`},
	})
}

// A field of a closed enum can tell that nobody set it.
func TestZeroOfAClosedEnumMayBeAState(t *testing.T) {
	t.Parallel()
	closed := func(zero string) gentest.Sources {
		return gentest.Sources{"t.proto": `syntax = "proto2"; package t.v1; import "idem/v1/options.proto";
			enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "` + zero + `"}}; S_` + zero + ` = 0; }`}
	}
	require.Empty(t, findings(t, "IDEM_STATE_UNSPECIFIED", closed("NEW"), config.Facts{}))
	require.Len(t, findings(t, "IDEM_STATE_UNSPECIFIED", closed("UNSPECIFIED"), config.Facts{}), 1)
}
