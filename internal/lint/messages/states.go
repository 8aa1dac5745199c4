package messages

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var stateRules = []*rule{
	{lint.Rule{
		ID: "IDEM_HEADER_STATE_UNKNOWN", Kind: lint.Message, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that the expected state is one that the state machine names.",
		Spec:    []string{"STATE-003"},
	}, headerStateUnknown, headers | known},
	{lint.Rule{
		ID: "IDEM_HEADER_STATE_DIFFERS", Kind: lint.Message, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that the expected state is the one that the message's transition begins from.",
		Spec:    []string{"HDR-020", "STATE-003"},
	}, headerStateDiffers, headers | known},
}

// statesOf are the states of a transition's machine that an edge names.
func statesOf(t *schema.Transition) map[string]bool {
	if t == nil {
		return nil
	}
	states := map[string]bool{}
	for _, e := range t.Enum.Machine.Edges {
		states[e.From], states[e.To] = true, true
	}
	return states
}

func headerStateUnknown(p *pass) {
	state := p.envelope.ExpectedCurrentState
	if p.event.states == nil || !p.envelope.Present.Has(idem.ExpectedCurrentState) || p.event.states[state] {
		return
	}
	p.reportf("write the text of a state, as the schema has it: without the enum's prefix",
		"expected_current_state is %s, which no transition of %s names", cut(state), p.event.Transition.Enum.Desc.FullName())
}

func headerStateDiffers(p *pass) {
	state := p.envelope.ExpectedCurrentState
	if p.event.states == nil || !p.envelope.Present.Has(idem.ExpectedCurrentState) || !p.event.states[state] || state == p.event.Transition.From {
		return
	}
	p.reportf("let generated code write the header: it is the from of the message's transition",
		"expected_current_state is %s, and %s goes from %s to %s", cut(state), p.event.Desc.FullName(), cut(p.event.Transition.From), cut(p.event.Transition.To))
}
