package python

import (
	"fmt"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// messageView is what the template "message" shows.
type messageView struct {
	class
	EventType                             string
	Key, KeyPrevious, BizKey, Fingerprint *method
	OccurredAt                            []string
	Policy                                *schema.Policy
	Transition                            *transitionView
}

type transitionView struct {
	// Enum is the full name of the enum, and Machine the same as a literal.
	Enum, Machine        string
	From, To             string
	DeadLetterSuperseded bool
	Verdicts             []verdictView
}

type verdictView struct{ State, Name string }

// Param is the parameter of a method that reads the message.
func (v *messageView) Param() string { return "m: " + v.Type }

func (m *module) message(d *schema.Message) {
	// A call less for keys that are short enough.
	bounded := func(key string) string {
		return fmt.Sprintf("%s if len(%[1]s) <= %d else idemspec.bounded(%[1]s)", key, maxKeyBytes)
	}
	view := &messageView{
		class: class{
			Class:   idemClass(d.Desc),
			Name:    string(d.Desc.FullName()),
			Type:    m.typeOf(d.Desc, "Any"),
			Comment: docLines(d.Comment),
		},
		EventType:   literal(d.EventType),
		Key:         m.method(d.Key, "key", bounded),
		KeyPrevious: m.method(d.KeyPrevious, "key", bounded),
		BizKey:      m.method(d.BizKey, "key", func(key string) string { return "idemspec.biz_key(" + key + ")" }),
		OccurredAt:  m.occurredAt(d.OccurredAt),
		Policy:      d.Retry,
		Transition:  transitionOf(d.Transition),
	}
	if t := d.Fingerprint; t != nil {
		tag := fmt.Sprintf("%08x", idem.TemplateHash(t.Text))
		view.Fingerprint = m.method(t, "content", func(content string) string {
			return `idemspec.fingerprint("` + tag + `", idemspec.bounded(` + content + `))`
		})
	}
	m.add("message", view)
}

func transitionOf(t *schema.Transition) *transitionView {
	if t == nil {
		return nil
	}
	view := &transitionView{
		Enum:                 string(t.Enum.Desc.FullName()),
		Machine:              literal(string(t.Enum.Desc.FullName())),
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
		for _, s := range v.states {
			view.Verdicts = append(view.Verdicts, verdictView{literal(s), v.name})
		}
	}
	return view
}
