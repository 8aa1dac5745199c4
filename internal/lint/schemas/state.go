package schemas

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// An edge that no message makes is no fault: a service makes it on a call, or on its own.
var states = []*rule{
	{lint.Rule{
		ID: "IDEM_STATE_UNREACHABLE", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that each state of a machine with creations can be reached from one.",
		Spec:    []string{"STATE-004"},
	}, stateUnreachable},
	{lint.Rule{
		ID: "IDEM_STATE_CREATION_MISSING", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that a machine says how an object comes to be.",
		Spec:    []string{"STATE-002", "STATE-004"},
	}, stateCreationMissing},
	{lint.Rule{
		ID: "IDEM_STATE_UNUSED", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that each state is in a transition.",
		Spec:    []string{"STATE-003"},
	}, stateUnused},
	{lint.Rule{
		ID: "IDEM_STATE_UNSPECIFIED", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that no transition begins or ends in what a field reads as that nobody set.",
		Spec:    []string{"STATE-002", "OPT-041"},
	}, stateUnspecified},
	{lint.Rule{
		ID: "IDEM_MACHINE_UNUSED", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that some message makes a transition of each machine.",
		Spec:    []string{"OPT-031"},
	}, machineUnused},
	{lint.Rule{
		ID: "IDEM_TRANSITION_TWICE", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that two messages which make one transition say what happens to the second.",
		Spec:    []string{"STATE-011"},
	}, transitionTwice},
	{lint.Rule{
		ID: "IDEM_SUPERSEDED_MONEY", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that a message with an amount states what happens where another one made its transition.",
		Spec:    []string{"STATE-011"},
	}, supersededMoney},
	{lint.Rule{
		ID: "IDEM_EXPECTED_STATE_UNGUARDED", Kind: lint.Schema, Category: lint.State, Severity: lint.Warning,
		Purpose: "Checks that a message which carries an expected state has a transition.",
		Spec:    []string{"HDR-020", "STATE-010"},
	}, expectedStateUnguarded},
}

// machines are the enums with a state machine, in the order of files and of declaration.
func (p *pass) machines(yield func(*schema.Enum) bool) {
	for _, f := range p.set.Files {
		for _, e := range f.Enums {
			if e.Machine != nil && !yield(e) {
				return
			}
		}
	}
}

// createsRows says whether a machine has a transition from "".
func createsRows(m *schema.Machine) bool {
	return slices.ContainsFunc(m.Edges, func(e schema.Edge) bool { return e.From == "" })
}

// ends are the texts of the states that are in an edge.
func ends(m *schema.Machine) map[string]bool {
	all := make(map[string]bool)
	for _, e := range m.Edges {
		all[e.From], all[e.To] = true, true
	}
	return all
}

func stateUnreachable(p *pass) {
	for e := range p.machines {
		if !createsRows(e.Machine) {
			continue
		}
		named, reached := ends(e.Machine), fromCreation(e.Machine)
		for _, s := range e.Machine.States {
			if named[s.Text] && !reached[s.Text] {
				p.reportf(schema.Decl(s.Value), fmt.Sprintf("add the transition that leads to it, or one from \"\" where objects begin as %s", s.Text),
					"no transition of %s leads from \"\" to %s, so that a message which expects it is never more than too early", e.Desc.FullName(), s.Text)
			}
		}
	}
}

// fromCreation is the states that can be reached from "".
func fromCreation(m *schema.Machine) map[string]bool {
	next := make(map[string][]string)
	for _, e := range m.Edges {
		next[e.From] = append(next[e.From], e.To)
	}
	reached := map[string]bool{"": true}
	for queue := []string{""}; len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}

func stateCreationMissing(p *pass) {
	for e := range p.machines {
		if len(e.Machine.Edges) > 0 && !createsRows(e.Machine) {
			p.reportf(e.Option(), `add transition: {from: "" to: …}, the state in which objects begin`,
				"no transition of %s leads from \"\", so that a message which comes before its object's row waits, whoever makes the row", e.Desc.FullName())
		}
	}
}

func stateUnused(p *pass) {
	for e := range p.machines {
		named := ends(e.Machine)
		for _, s := range e.Machine.States {
			if s.Value.Number() != 0 && !named[s.Text] {
				p.reportf(schema.Decl(s.Value), "add its transitions, or leave the value out",
					"%s is in no transition of %s: where an object is in it, every message about the object fails with STATE_UNKNOWN", s.Text, e.Desc.FullName())
			}
		}
	}
}

func stateUnspecified(p *pass) {
	for e := range p.machines {
		named := ends(e.Machine)
		for _, s := range e.Machine.States {
			// A field of a closed enum can tell that nobody set it.
			if s.Value.Number() == 0 && named[s.Text] && (!e.Desc.IsClosed() || s.Text == "UNSPECIFIED") {
				p.reportf(schema.Decl(s.Value), `give the state a number of its own, and name the value 0 …_UNSPECIFIED; where there is no object yet, the state is ""`,
					"%s, the value 0 of %s, is in a transition: a field that nobody set reads as that state", s.Text, e.Desc.FullName())
			}
		}
	}
}

func machineUnused(p *pass) {
	if p.incomplete {
		return // the message may be among the refused ones
	}
	named := make(map[protoreflect.FullName]bool)
	annotated := make(map[protoreflect.FullName]bool) // packages with messages
	for m := range p.messages {
		annotated[m.Desc.ParentFile().Package()] = true
		named[protoreflect.FullName(m.Options.GetTransition().GetStateMachine())] = true
	}
	for e := range p.machines {
		if annotated[e.Desc.ParentFile().Package()] && !named[e.Desc.FullName()] {
			p.reportf(e.Option(), `add transition: {state_machine: "`+string(e.Desc.FullName())+`" from: … to: …} to the messages that make its transitions`,
				"no message makes a transition of %s, so that nothing guards it", e.Desc.FullName())
		}
	}
}

func transitionTwice(p *pass) {
	type edge struct {
		enum     *schema.Enum
		from, to string
	}
	first := make(map[edge]*schema.Message)
	for m := range p.messages {
		if m.Transition == nil {
			continue
		}
		e := edge{m.Transition.Enum, m.Transition.From, m.Transition.To}
		other := first[e]
		if other == nil {
			first[e] = m
			continue
		}
		if !statesSuperseded(m) || !statesSuperseded(other) {
			p.reportf(m.Option(schema.TransitionNumber), "state on_superseded in both: ON_SUPERSEDED_ACK, or ON_SUPERSEDED_DEAD_LETTER where somebody has to see it",
				"%s and %s both make the transition %q -> %q: where both come for one object, the second is acknowledged without effect",
				other.Desc.FullName(), m.Desc.FullName(), e.from, e.to)
		}
	}
}

// statesSuperseded says whether the author of a transition decided what happens to a superseded message.
func statesSuperseded(m *schema.Message) bool {
	return m.Options.GetTransition().GetOnSuperseded() != idempb.OnSuperseded_ON_SUPERSEDED_UNSPECIFIED
}

func supersededMoney(p *pass) {
	for m := range p.messages {
		// An object that is created twice moves nothing.
		if m.Transition == nil || m.Transition.From == "" || statesSuperseded(m) {
			continue
		}
		if amount := moneyIn(m.Desc); amount != nil {
			p.reportf(m.Option(schema.TransitionNumber), "write on_superseded: ON_SUPERSEDED_DEAD_LETTER, or ON_SUPERSEDED_ACK where nobody has to see it",
				"%s carries %s: a second one for the same object, with a key of its own, is acknowledged and nobody sees that money moved twice",
				m.Desc.FullName(), amount.Name())
		}
	}
}

// moneyIn is the first field of a message that holds an amount of money, or nil.
func moneyIn(d protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		isMoney := f.Message() != nil && f.Message().FullName() == "google.type.Money"
		if isMoney || isDecimal(f.Name()) && f.Kind() != protoreflect.BoolKind && f.Kind() != protoreflect.EnumKind {
			return f
		}
	}
	return nil
}

// expected are the names of fields that say in which state an object has to be.
var expected = []protoreflect.Name{"expected_current_state", "expected_state", "expected_current_status", "expected_status"}

func expectedStateUnguarded(p *pass) {
	for m := range p.messages {
		if m.Options.GetTransition() != nil {
			continue
		}
		for _, name := range expected {
			if f := m.Desc.Fields().ByName(name); f != nil {
				p.reportf(schema.Decl(f), `add transition: {state_machine: "…" from: "…" to: "…"} to (idem.v1.message), and leave the field to the header expected_current_state`,
					"%s carries %s and has no transition, so that nobody compares the two states", m.Desc.FullName(), name)
			}
		}
	}
}
