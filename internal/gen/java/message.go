package java

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// messageView is what the template "message" shows.
type messageView struct {
	*unit
	// Message is the name of protoc's class.
	Message                               string
	EventType                             string
	Key, KeyPrevious, BizKey, Fingerprint *text
	OccurredAt                            *step
	Policy                                *schema.Policy
	Transition                            *transitionView
}

type transitionView struct {
	Machine              string
	From, To             string
	DeadLetterSuperseded bool
	Verdicts             []verdictView
}

type verdictView struct {
	Name   string
	States []string
}

func (r *run) message(m *schema.Message) {
	u := r.unit(m.Desc, m.Comment)
	u.Deprecated = isDeprecated(m.Desc)
	u.UsesDeprecated = isDeprecatedOrIn(m.Desc)
	view := &messageView{
		unit:        u,
		Message:     u.Own(m.Desc),
		EventType:   literal(m.EventType),
		Key:         r.text(u, m.Key),
		KeyPrevious: r.text(u, m.KeyPrevious),
		BizKey:      r.text(u, m.BizKey),
		Fingerprint: r.text(u, m.Fingerprint),
		Policy:      m.Retry,
		Transition:  transitionOf(m.Transition),
	}
	if m.OccurredAt != nil {
		s := r.component(u, m.OccurredAt)
		_, s.Missing = r.present(m.OccurredAt)
		view.OccurredAt = &s
	}
	r.write(u, "message", view)
}

func transitionOf(t *schema.Transition) *transitionView {
	if t == nil {
		return nil
	}
	view := &transitionView{
		Machine:              string(t.Enum.Desc.FullName()),
		From:                 literal(t.From),
		To:                   literal(t.To),
		DeadLetterSuperseded: t.DeadLetterSuperseded,
	}
	all := t.Verdicts()
	for _, v := range []struct {
		name   string
		states []string
	}{
		{"APPLY", all.Apply}, {"DUPLICATE", all.Duplicate}, {"EARLY", all.Early}, {"CONFLICT", all.Conflict},
	} {
		if len(v.states) == 0 {
			continue
		}
		verdict := verdictView{Name: v.name}
		for _, s := range v.states {
			verdict.States = append(verdict.States, literal(s))
		}
		view.Verdicts = append(view.Verdicts, verdict)
	}
	return view
}

// isDeprecated says whether protoc marks the class or the accessors of a declaration as deprecated.
func isDeprecated(d protoreflect.Descriptor) bool {
	o, ok := d.Options().(interface{ GetDeprecated() bool })
	return ok && o.GetDeprecated()
}

// isDeprecatedOrIn is the same for a class that is named with the classes around it.
func isDeprecatedOrIn(d protoreflect.Descriptor) bool {
	for ; d != nil; d = d.Parent() {
		if isDeprecated(d) {
			return true
		}
	}
	return false
}
