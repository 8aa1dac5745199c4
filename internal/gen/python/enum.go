package python

import "github.com/idem-spec/idem/internal/schema"

// enumView is what the template "enum" shows.
type enumView struct {
	class
	Machine  *machineView
	Outcomes []outcomeView
}

type machineView struct {
	Edges  []edgeView
	States []stateView
}

type edgeView struct{ From, To string }

type stateView struct {
	Number int32
	Text   string
	Remark string
}

type outcomeView struct {
	Number  int32
	Outcome string
	Remark  string
}

func (m *module) enum(e *schema.Enum) {
	view := &enumView{class: class{Class: idemClass(e.Desc), Name: string(e.Desc.FullName()), Comment: docLines(e.Comment)}}
	if e.Machine != nil {
		m.typing["Any"] = true
		view.Type = m.typeOf(e.Desc, "int")
		view.Machine = machineOf(e.Machine)
	}
	for _, o := range e.Outcomes {
		view.Outcomes = append(view.Outcomes, outcomeView{int32(o.Value.Number()), o.Outcome, remark(o.Value)})
	}
	m.add("enum", view)
}

func machineOf(m *schema.Machine) *machineView {
	view := new(machineView)
	for _, e := range m.Edges {
		view.Edges = append(view.Edges, edgeView{literal(e.From), literal(e.To)})
	}
	for _, s := range m.States {
		view.States = append(view.States, stateView{int32(s.Value.Number()), literal(s.Text), remark(s.Value)})
	}
	return view
}
