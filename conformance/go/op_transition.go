package main

import "github.com/idem-spec/idem/runtime/go/idem"

func opTransition(in *object, out *output) error {
	list := in.list("transitions")
	edges := make([]idem.Edge, len(list))
	for i, v := range list {
		e, ok := v.object()
		in.bad = in.bad || !ok
		edges[i] = idem.Edge{From: e.text("from"), To: e.text("to")}
		in.done(&e)
	}
	current, from, to := in.text("current"), in.text("from"), in.text("to")
	if !in.ok() {
		return errInput
	}
	m, err := idem.MachineOf(edges)
	if err != nil {
		return err
	}
	verdict, err := m.Verdict(current, from, to)
	out.text("verdict", verdict.String())
	return err
}
