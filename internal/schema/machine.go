package schema

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// maxStates is the most states of a machine: every language works out which state can be reached from
// which. (OPT-041)
const maxStates = 1000

// The field numbers of StateMachineOptions and its Edge.
const (
	machineEdges = 1
	edgeFrom     = 1
	edgeTo       = 2
)

// machine reads (idem.v1.state_machine); nil where it has a problem. (OPT-040 to OPT-042)
func (b *builder) machine(d protoreflect.EnumDescriptor, o *idempb.StateMachineOptions) *Machine {
	before := len(b.problems)
	m := &Machine{States: b.states(d)}
	texts := map[string]bool{"": true}
	for _, s := range m.States {
		texts[s.Text] = true
	}
	seen := make(map[Edge]bool, len(o.GetTransition()))
	place := at(d, extension)
	for i, e := range o.GetTransition() {
		edge := Edge{e.GetFrom(), e.GetTo()}
		stated := e.From != nil && e.To != nil
		if stated && seen[edge] {
			continue
		}
		seen[edge] = stated
		here := place.Below(machineEdges, int32(i))
		switch {
		case e.From == nil:
			b.problem(here, "OPT-041", fmt.Sprintf("a transition of %s has no from", short(d.FullName())), creationMend)
		case e.To == nil:
			b.problem(here, "OPT-041", fmt.Sprintf("a transition of %s has no to", short(d.FullName())), `add to: "…", the text of the state after`)
		case !texts[edge.From]:
			b.unknownState(here.Below(edgeFrom), d, "from", edge.From, m)
		case edge.To == "":
			b.problem(here, "OPT-041", fmt.Sprintf("a transition of %s leads to \"\", the state of what does not exist", short(d.FullName())),
				"give the end a value of its own, DELETED")
		case !texts[edge.To]:
			b.unknownState(here.Below(edgeTo), d, "to", edge.To, m)
		case edge.From == edge.To:
			b.problem(here, "OPT-042", fmt.Sprintf("a transition of %s leads from %s to itself", short(d.FullName()), quote(edge.From)),
				"leave it out: what stays in its state makes no transition")
		default:
			m.Edges = append(m.Edges, edge)
		}
	}
	if len(b.problems) > before {
		return nil
	}
	m.graph = newGraph(m.Edges)
	if cycle := m.graph.cycle(); cycle != nil {
		b.problem(place, "OPT-042", "the transitions of "+short(d.FullName())+" lead back: "+path(cycle),
			"leave one of them out: with a way back nobody can tell early from late")
		return nil
	}
	return m
}

func (b *builder) unknownState(p Place, d protoreflect.EnumDescriptor, end, text string, m *Machine) {
	b.problem(p, "OPT-041", fmt.Sprintf("a transition of %s has %s: %s, which is the text of no value", short(d.FullName()), end, quote(text)),
		stateMend(d, text, m.States))
}

// stateMend is how to mend the text of no state: by the text of the value whose name it is, by the
// prefix that the value lacks to have it, or by what there is.
func stateMend(d protoreflect.EnumDescriptor, text string, states []State) string {
	var texts []string
	for _, s := range states[:min(len(states), 20)] {
		texts = append(texts, s.Text)
	}
	mend := "the states are " + list(texts, 12)
	value := d.Values().ByName(protoreflect.Name(text))
	for _, s := range states {
		name := string(s.Value.Name())
		switch {
		case value != nil && value.Number() == s.Value.Number():
			if s.Text == withoutPrefix(string(d.Name()), text) {
				return "states are written without the enum's prefix: write " + short(s.Text) + "; " + mend
			}
			return "write " + short(s.Text) + ", the text of that value; " + mend
		case s.Text == name && strings.HasSuffix(name, "_"+text):
			prefix := short(prefix(string(d.Name())))
			return fmt.Sprintf("write %s, name the value %s%s, or give it [(idem.v1.state).text = %s]: no prefix but %s is left out; %s",
				short(name), prefix, short(text), quote(text), prefix, mend)
		}
	}
	return mend
}

// prefix is what the names of an enum's values begin with: ORDER_STATE_ of OrderState, HTTP_STATE_ of
// HTTPState.
func prefix(enum string) string {
	var b strings.Builder
	upper := func(i int) bool { return i < len(enum) && 'A' <= enum[i] && enum[i] <= 'Z' }
	lower := func(i int) bool { return i < len(enum) && 'a' <= enum[i] && enum[i] <= 'z' }
	for i := range len(enum) {
		if i > 0 && upper(i) && enum[i-1] != '_' && (!upper(i-1) || lower(i+1)) {
			b.WriteByte('_')
		}
		b.WriteByte(enum[i])
	}
	return strings.ToUpper(b.String()) + "_"
}

// states reads the text of each number. An alias has the text of the first value of its number.
// (OPT-040, OPT-041)
func (b *builder) states(d protoreflect.EnumDescriptor) []State {
	var states []State
	byNumber := make(map[protoreflect.EnumNumber]State)
	byText := make(map[string]State)
	for i := 0; i < d.Values().Len(); i++ {
		value := d.Values().Get(i)
		option := b.stateOption(value)
		text := option.GetText()
		if option == nil || option.Text == nil {
			text = withoutPrefix(string(d.Name()), string(value.Name()))
		}
		place := at(value, extension)
		if first, alias := byNumber[value.Number()]; alias {
			if option != nil && option.Text != nil && text != first.Text {
				b.problem(place, "OPT-041", fmt.Sprintf("%s is an alias of %s and has another text", short(value.Name()), short(first.Value.Name())),
					"leave its text out: both are one state, "+first.Text)
			}
			continue
		}
		state := State{Text: text, Value: value}
		byNumber[value.Number()] = state
		if !isText(text) {
			b.problem(place, "OPT-041", fmt.Sprintf("the state %s of %s has the text %s", short(value.Name()), short(d.FullName()), quote(text)),
				"use 1 to 200 letters, digits, '.', '_' or '-'")
			continue
		}
		if other, taken := byText[text]; taken {
			b.problem(place, "OPT-041", fmt.Sprintf("%s and %s have the text %s", short(other.Value.Name()), short(value.Name()), quote(text)),
				`give one of them another: [(idem.v1.state).text = "…"]`)
			continue
		}
		byText[text] = state
		states = append(states, state)
	}
	if len(states) > maxStates {
		b.problem(at(d, extension), "OPT-041", fmt.Sprintf("%s has %d states", short(d.FullName()), len(states)), fmt.Sprintf("use at most %d", maxStates))
	}
	return states
}

// withoutPrefix drops the enum's name from the name of a value: ORDER_STATE_PAYING of OrderState is
// PAYING. How the name is split into words does not matter, so '_' does not count in the prefix.
// (OPT-040)
func withoutPrefix(enum, value string) string {
	prefix := strings.ToUpper(strings.ReplaceAll(enum, "_", ""))
	i := 0
	for len(prefix) > 0 && i < len(value) {
		switch value[i] {
		case prefix[0]:
			prefix = prefix[1:]
		case '_':
		default:
			return value
		}
		i++
	}
	if len(prefix) > 0 || i+1 >= len(value) || value[i] != '_' {
		return value
	}
	return value[i+1:]
}

func (m *Machine) hasEdge(from, to string) bool {
	a, known := m.graph.ids[from]
	b, knownTo := m.graph.ids[to]
	return known && knownTo && slices.Contains(m.graph.next[a], b)
}

// edgesFrom lists the edges from a state, or all where there is none, for people.
func (m *Machine) edgesFrom(from string) string {
	var some, all []string
	for _, e := range m.Edges {
		text := quote(e.From) + " -> " + quote(e.To)
		if e.From == from && len(some) <= 4 {
			some = append(some, text)
		}
		if len(all) <= 4 {
			all = append(all, text)
		}
	}
	if len(some) == 0 {
		some = all
	}
	if len(some) == 0 {
		return "another machine: this one has none"
	}
	if len(some) > 4 {
		return strings.Join(some[:4], ", ") + ", …"
	}
	return strings.Join(some, ", ")
}

// path prints the states of a cycle.
func path(states []string) string {
	if len(states) > 9 {
		states = append(append(states[:4:4], "…"), states[len(states)-4:]...)
	}
	return strings.Join(states, " -> ")
}
