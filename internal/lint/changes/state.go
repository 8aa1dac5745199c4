package changes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var states = []*rule{
	{lint.Rule{
		ID: "IDEM_TRANSITION_CHANGED", Kind: lint.Change, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that a message stands for the transition that it stood for.",
		Spec:    []string{"OPT-031", "STATE-004", "HDR-020"},
	}, transitionChanged},
	{lint.Rule{
		ID: "IDEM_SUPERSEDED_CHANGED", Kind: lint.Change, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that a message whose transition another one has made ends as it did.",
		Spec:    []string{"STATE-011"},
	}, supersededChanged},
	{lint.Rule{
		ID: "IDEM_VERDICT_CHANGED", Kind: lint.Change, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that a transition has the verdict that it had in each state.",
		Spec:    []string{"STATE-004"},
	}, verdictChanged},
	{lint.Rule{
		ID: "IDEM_EDGE_REMOVED", Kind: lint.Change, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that a state machine keeps its transitions.",
		Spec:    []string{"STATE-003"},
	}, edgeRemoved},
	{lint.Rule{
		ID: "IDEM_STATE_REMOVED", Kind: lint.Change, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that a state machine keeps its states.",
		Spec:    []string{"OPT-040", "STATE-003"},
	}, stateRemoved},
	{lint.Rule{
		ID: "IDEM_STATE_TEXT_CHANGED", Kind: lint.Change, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that a state keeps its text.",
		Spec:    []string{"OPT-040", "STATE-006"},
	}, stateTextChanged},
	{lint.Rule{
		ID: "IDEM_STATE_RENUMBERED", Kind: lint.Change, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that a state keeps its number.",
		Spec:    []string{"OPT-040"},
	}, stateRenumbered},
	{lint.Rule{
		ID: "IDEM_MACHINE_REMOVED", Kind: lint.Change, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that an enum with a state machine keeps it.",
		Spec:    []string{"STATE-001"},
	}, machineRemoved},
}

// onSuperseded is the number of TransitionOptions.on_superseded.
const onSuperseded = 4

// moves are the messages that stand for a transition on both sides.
func (p *pass) moves(yield func(*pair) bool) {
	for _, m := range p.messages {
		if m.before.Transition != nil && m.after.Transition != nil && !yield(m) {
			return
		}
	}
}

func transitionChanged(p *pass) {
	for _, m := range p.messages {
		before, after := p.transitionText(m.before.Transition), p.transitionText(m.after.Transition)
		if before == after {
			continue
		}
		p.report(m.after.Option(schema.TransitionNumber), change{before, after},
			"write the transition as it was, or give the new one to a message of its own",
			"the transition of %s is %s, before %s: what is in flight gets other verdicts, and its header expects another state",
			m.after.Desc.FullName(), after, before)
	}
}

// transitionText is a transition for people. A machine that is renamed goes by its new name.
func (p *pass) transitionText(t *schema.Transition) string {
	if t == nil {
		return "none"
	}
	name := t.Enum.Desc.FullName()
	for _, e := range p.enums {
		if e.before == t.Enum {
			name = e.after.Desc.FullName()
		}
	}
	return edgeText(schema.Edge{From: t.From, To: t.To}) + " of " + string(name)
}

func edgeText(e schema.Edge) string { return strconv.Quote(e.From) + " -> " + strconv.Quote(e.To) }

func supersededChanged(p *pass) {
	end := func(t *schema.Transition) string {
		if t.DeadLetterSuperseded {
			return "dead-lettered"
		}
		return "acknowledged"
	}
	for m := range p.moves {
		if before, after := end(m.before.Transition), end(m.after.Transition); before != after {
			p.report(m.after.Option(schema.TransitionNumber, onSuperseded), change{before, after},
				"write on_superseded as it was, or ignore this with the reason",
				"a %s whose transition another message has made is %s, before %s", m.after.Desc.FullName(), after, before)
		}
	}
}

// maxVerdicts bounds the work of comparing the edges of one machine: a machine is not trusted to be small.
const maxVerdicts = 1 << 22

// verdictChanged compares each transition that a message stands for, and then the edges that none does.
func verdictChanged(p *pass) {
	seen := make(map[*schema.Enum]map[schema.Edge]bool)
	for m := range p.moves {
		before, after := m.before.Transition, m.after.Transition
		if seen[after.Enum] == nil {
			seen[after.Enum] = make(map[schema.Edge]bool)
		}
		seen[after.Enum][schema.Edge{From: after.From, To: after.To}] = true
		if before.From == after.From && before.To == after.To {
			p.compareVerdicts(m.after.Option(schema.TransitionNumber), m.after.Desc.FullName(), before, after)
		}
	}
	for e := range p.machines {
		edges, work := e.after.Machine.Edges, len(e.after.Machine.Edges)+len(e.after.Machine.States)
		for _, edge := range edges[:min(len(edges), maxVerdicts/max(work, 1))] {
			if seen[e.after][edge] || !slices.Contains(e.before.Machine.Edges, edge) {
				continue
			}
			p.compareVerdicts(e.after.Option(), e.after.Desc.FullName(),
				&schema.Transition{Enum: e.before, From: edge.From, To: edge.To},
				&schema.Transition{Enum: e.after, From: edge.From, To: edge.To})
		}
	}
}

// compareVerdicts reports the states that had a verdict and have another one.
func (p *pass) compareVerdicts(at schema.Place, of protoreflect.FullName, before, after *schema.Transition) {
	was, is := table(before), table(after)
	var states, old, now []string
	for _, s := range append([]schema.State{{}}, before.Enum.Machine.States...) {
		if v := verdictIn(was, s.Text); v != unknownState && v != verdictIn(is, s.Text) && len(states) < maxShownDelays {
			states = append(states, strconv.Quote(s.Text))
			old = append(old, "in "+strconv.Quote(s.Text)+" "+v)
			now = append(now, "in "+strconv.Quote(s.Text)+" "+verdictIn(is, s.Text))
		}
	}
	if len(states) > 0 {
		p.report(at, change{strings.Join(old, ", "), strings.Join(now, ", ")},
			"leave the transitions that lead there as they were, or see that no object is in these states and no such message is in flight",
			"the transition %s of %s has other verdicts in the states %s", edgeText(schema.Edge{From: after.From, To: after.To}), of, strings.Join(states, ", "))
	}
}

// unknownState is what a state is that no edge names.
const unknownState = "STATE_UNKNOWN"

// table is the verdicts of a transition by state.
func table(t *schema.Transition) map[string]string {
	v := t.Verdicts()
	all := make(map[string]string)
	for verdict, states := range map[string][]string{"APPLY": v.Apply, "DUPLICATE": v.Duplicate, "EARLY": v.Early, "CONFLICT": v.Conflict} {
		for _, s := range states {
			all[s] = verdict
		}
	}
	return all
}

func verdictIn(table map[string]string, state string) string {
	if v, known := table[state]; known {
		return v
	}
	return unknownState
}

// machines are the enums with a state machine on both sides.
func (p *pass) machines(yield func(*enumPair) bool) {
	for _, e := range p.enums {
		if e.before.Machine != nil && e.after.Machine != nil && !yield(e) {
			return
		}
	}
}

func edgeRemoved(p *pass) {
	for e := range p.machines {
		left := make(map[schema.Edge]bool)
		for _, edge := range e.after.Machine.Edges {
			left[edge] = true
		}
		for _, edge := range e.before.Machine.Edges {
			if !left[edge] {
				p.report(e.after.Option(), change{"in " + strconv.Quote(edge.From) + " APPLY", "TRANSITION_UNDECLARED"},
					"write it again, or see that no such message is in flight",
					"%s has the transition %s no more: a message that makes it is refused", e.after.Desc.FullName(), edgeText(edge))
			}
		}
	}
}

// stateChanges are the states of a machine that are not what they were.
type stateChanges struct {
	removed            []schema.State
	retexted, numbered []statePair
}

type statePair struct{ before, after schema.State }

func changedStates(e *enumPair) stateChanges {
	byNumber := make(map[protoreflect.EnumNumber]schema.State)
	byText := make(map[string]schema.State)
	for _, s := range e.after.Machine.States {
		byNumber[s.Value.Number()], byText[s.Text] = s, s
	}
	var c stateChanges
	for _, s := range e.before.Machine.States {
		sameNumber, hasNumber := byNumber[s.Value.Number()]
		sameText, hasText := byText[s.Text]
		switch {
		case hasNumber && sameNumber.Text == s.Text:
		case hasText:
			c.numbered = append(c.numbered, statePair{s, sameText})
		case hasNumber:
			c.retexted = append(c.retexted, statePair{s, sameNumber})
		default:
			c.removed = append(c.removed, s)
		}
	}
	return c
}

func stateRemoved(p *pass) {
	for e := range p.machines {
		for _, s := range changedStates(e).removed {
			p.report(schema.Decl(e.after.Desc), change{strconv.Quote(s.Text), "no state"},
				"declare "+string(s.Value.Name())+" again: rows and headers may have it",
				"%s has the state %s no more", e.after.Desc.FullName(), strconv.Quote(s.Text))
		}
	}
}

func stateTextChanged(p *pass) {
	for e := range p.machines {
		for _, s := range changedStates(e).retexted {
			p.report(schema.Decl(s.after.Value), change{strconv.Quote(s.before.Text), strconv.Quote(s.after.Text)},
				"add [(idem.v1.state).text = "+strconv.Quote(s.before.Text)+"]: rows and headers have it",
				"the text of the state %s is %s, before %s", s.after.Value.FullName(), strconv.Quote(s.after.Text), strconv.Quote(s.before.Text))
		}
	}
}

func stateRenumbered(p *pass) {
	for e := range p.machines {
		for _, s := range changedStates(e).numbered {
			before, after := s.before.Value.Number(), s.after.Value.Number()
			p.report(schema.Decl(s.after.Value), change{fmt.Sprintf("%q = %d", s.before.Text, before), fmt.Sprintf("%q = %d", s.after.Text, after)},
				fmt.Sprintf("give it the number %d again", before),
				"the state %s has the number %d, before %d: a payload in flight with the number means another state",
				strconv.Quote(s.after.Text), after, before)
		}
	}
}

func machineRemoved(p *pass) {
	for e := range p.before.annotatedEnums {
		if e.Machine == nil {
			continue
		}
		desc := p.after.enums[e.Desc.FullName()]
		after := p.after.set.Enum(e.Desc.FullName())
		if desc == nil || schema.Annotated(desc) || after != nil && after.Machine != nil {
			continue // gone with the enum, refused, or there
		}
		p.report(schema.Decl(desc), change{transitions(e), "none"},
			"write option (idem.v1.state_machine) again",
			"%s is a state machine no more: the verdicts of its %s are gone", e.Desc.FullName(), transitions(e))
	}
}
