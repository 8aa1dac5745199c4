package schema

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// The field numbers of TransitionOptions.
const (
	transitionMachine = 1
	transitionFrom    = 2
	transitionTo      = 3
)

// creationMend is how to mend an edge without from: one that is left out by mistake is not to be read
// as the state of what does not exist.
const creationMend = `add from: "…", the text of the state before, or from: "" for a creation`

// transition reads the edge that a message stands for. (OPT-031)
func (b *builder) transition(p Place, d protoreflect.MessageDescriptor, o *idempb.TransitionOptions) *Transition {
	if o == nil {
		return nil
	}
	complete := true
	for _, part := range []struct {
		there      bool
		name, mend string
	}{
		{o.GetStateMachine() != "", "state_machine", `add the full name of an enum with one, state_machine: "shop.v1.OrderState"`},
		{o.From != nil, "from", creationMend},
		{o.To != nil, "to", `add to: "…", the text of the state after`},
	} {
		if !part.there {
			b.problem(p, "OPT-031", fmt.Sprintf("transition of %s has no %s", short(d.FullName()), part.name), part.mend)
			complete = false
		}
	}
	if !complete {
		return nil
	}
	name := protoreflect.FullName(o.GetStateMachine())
	desc := b.findEnum(name)
	if desc == nil {
		b.problem(p.Below(transitionMachine), "OPT-031",
			fmt.Sprintf("transition of %s names the state machine %s, which is no enum of these files", short(d.FullName()), quote(string(name))),
			`write the enum's full name, "shop.v1.OrderState", and import its file`)
		return nil
	}
	enum := b.enum(desc)
	switch {
	case enum == nil || enum.Machine == nil:
		if b.machineOption(desc) == nil {
			b.problem(p.Below(transitionMachine), "OPT-031",
				fmt.Sprintf("transition of %s names %s, which declares no state machine", short(d.FullName()), short(name)),
				"add option (idem.v1.state_machine) = { transition: {from: … to: …} } to the enum")
		}
		return nil // a machine with a problem, which is reported
	case !b.knownStates(p, d, enum, o):
		return nil
	case !enum.Machine.hasEdge(o.GetFrom(), o.GetTo()):
		b.problem(p.Below(transitionFrom), "OPT-031",
			fmt.Sprintf("transition of %s is %s -> %s, which %s does not allow", short(d.FullName()), quote(o.GetFrom()), quote(o.GetTo()), short(name)),
			"add the transition to the enum's state_machine, or name "+enum.Machine.edgesFrom(o.GetFrom()))
		return nil
	}
	return &Transition{
		Enum: enum, From: o.GetFrom(), To: o.GetTo(),
		DeadLetterSuperseded: o.GetOnSuperseded() == idempb.OnSuperseded_ON_SUPERSEDED_DEAD_LETTER,
	}
}

// knownStates refuses ends that are no state of the machine. (OPT-031)
func (b *builder) knownStates(p Place, d protoreflect.MessageDescriptor, enum *Enum, o *idempb.TransitionOptions) bool {
	known := true
	for _, end := range []struct {
		number     int32
		name, text string
	}{
		{transitionFrom, "from", o.GetFrom()},
		{transitionTo, "to", o.GetTo()},
	} {
		isState := func(s State) bool { return s.Text == end.text }
		if end.text == "" && end.number == transitionFrom || slices.ContainsFunc(enum.Machine.States, isState) {
			continue
		}
		b.problem(p.Below(end.number), "OPT-031",
			fmt.Sprintf("transition of %s has %s: %s, which is the text of no value of %s",
				short(d.FullName()), end.name, quote(end.text), short(enum.Desc.FullName())),
			stateMend(enum.Desc, end.text, enum.Machine.States))
		known = false
	}
	return known
}

// Verdicts is the verdict of a transition for each state that an edge of its machine names, and for "",
// the state of a missing row. A state that is not listed is STATE_UNKNOWN. (STATE-003, STATE-004)
type Verdicts struct {
	// Each in the order of declaration, "" first.
	Apply, Duplicate, Early, Conflict []string
}

// Verdicts works the table out, in time linear in the machine. The verdict depends on the current
// state alone once the transition is known.
func (t *Transition) Verdicts() Verdicts {
	m := t.Enum.Machine
	g := m.graph
	past := g.reach(g.next, t.To)
	ahead := g.reach(g.prev, t.From)
	var v Verdicts
	for _, state := range append([]State{{}}, m.States...) {
		s := state.Text
		id, named := g.ids[s]
		switch {
		case s == t.From:
			v.Apply = append(v.Apply, s)
		case named && past[id]:
			v.Duplicate = append(v.Duplicate, s)
		case named && ahead[id], !named && s == "":
			v.Early = append(v.Early, s)
		case named:
			v.Conflict = append(v.Conflict, s)
		}
	}
	return v
}
