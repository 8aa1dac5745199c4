package java

import (
	"fmt"
	"strings"

	"github.com/idem-spec/idem/internal/schema"
)

// maxEdges is the most edges of a machine: the initializer of a class is at most 64 KiB of byte code.
const maxEdges = 3000

// enumView is what the template "enum" shows.
type enumView struct {
	*unit
	// Enum is the name of protoc's class.
	Enum string
	// Open says that protoc's class has UNRECOGNIZED, for the numbers that the enum does not declare.
	Open bool
	// Value and TextName are the names of parameters, which must not hide the package of the enum.
	Value, TextName string
	Machine         *machineView
	Outcomes        []outcomeView
}

type machineView struct {
	Edges  []edgeView
	States []stateView
}

type edgeView struct{ From, To string }

type stateView struct {
	Number int32
	Text   string
}

type outcomeView struct {
	Number        int32
	Name, Outcome string
}

func (r *run) enum(e *schema.Enum) {
	u := r.unit(e.Desc, e.Comment)
	u.Deprecated = isDeprecated(e.Desc)
	u.UsesDeprecated = isDeprecatedOrIn(e.Desc)
	view := &enumView{unit: u, Enum: u.Own(e.Desc), Open: !e.Desc.IsClosed()}
	view.Value, view.TextName = apart("value", view.Enum), apart("text", view.Enum)
	if e.Machine != nil {
		view.Machine = machineOf(e.Machine)
	}
	for _, o := range e.Outcomes {
		view.Outcomes = append(view.Outcomes, outcomeView{int32(o.Value.Number()), string(o.Value.Name()), o.Outcome})
	}
	r.write(u, "enum", view)
}

// checkEdges refuses a machine that is too large for a class. (PLUG-005)
func (r *run) checkEdges(e *schema.Enum) {
	if e.Machine != nil && len(e.Machine.Edges) > maxEdges {
		r.problem(e.Desc, "PLUG-005", fmt.Sprintf("%s has %d transitions, which are too many for a Java class", e.Desc.FullName(), len(e.Machine.Edges)),
			fmt.Sprintf("use at most %d", maxEdges))
	}
}

func machineOf(m *schema.Machine) *machineView {
	view := new(machineView)
	for _, e := range m.Edges {
		view.Edges = append(view.Edges, edgeView{literal(e.From), literal(e.To)})
	}
	for _, s := range m.States {
		view.States = append(view.States, stateView{int32(s.Value.Number()), literal(s.Text)})
	}
	return view
}

// apart is a name for a variable that is not the first part of a class's full name: in an expression
// that part would be the variable.
func apart(name, class string) string {
	if first, _, _ := strings.Cut(class, "."); first == name {
		return name + "_"
	}
	return name
}
