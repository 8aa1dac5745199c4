package schemas

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var identities = []*rule{
	{lint.Rule{
		ID: "IDEM_KEY_WITHOUT_ID", Kind: lint.Schema, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that a key names a field that tells two events apart: more than a time, an amount or an enum.",
		Spec:    []string{"KEY-021", "OPT-010"},
	}, keyWithoutID},
	{lint.Rule{
		ID: "IDEM_TEMPLATE_TOO_LONG", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that the shortest text of a template is not over 1024 bytes.",
		Spec:    []string{"KEY-011", "KEY-013"},
	}, templateTooLong},
}

func keyWithoutID(p *pass) {
	for m := range p.messages {
		var said []string
		for _, c := range components(m.Key) {
			what := onlySays(c)
			if what == "" {
				said = nil
				break
			}
			said = append(said, c.Name+" is "+what)
		}
		if said == nil {
			continue
		}
		p.reportf(m.Key.Place, "add the id of what happened, as in "+m.Key.Text+":{"+string(idOf(m))+"}",
			"the key of %s names nothing that tells two events apart: %s, and of two events that have the same the second is taken for the first",
			m.Desc.FullName(), strings.Join(said, ", "))
	}
}

// onlySays is what a component is that two events may well have in common, "" of what may be an id.
func onlySays(c *schema.Component) string {
	switch c.Kind {
	case schema.Bool:
		return "true or false"
	case schema.Enum32:
		return "an enum"
	case schema.Timestamp, schema.TimestampText, schema.TimestampEpoch:
		return "a time"
	case schema.Date:
		return "a day"
	case schema.Duration:
		return "a duration"
	case schema.Money, schema.DecimalText, schema.DecimalMessage:
		return "an amount"
	case schema.String:
		if w := words(c.Leaf().Name()); isCurrency(c.Leaf().Name(), "") || len(w) > 1 && w[len(w)-1] == "currency" {
			return "a currency"
		}
	}
	return ""
}

// idOf is a field of the message that is named an id, or an example of one.
func idOf(m *schema.Message) protoreflect.Name {
	fields := m.Desc.Fields()
	for i := range fields.Len() {
		d := fields.Get(i)
		isText := d.Kind() == protoreflect.StringKind || d.Kind() == protoreflect.BytesKind
		if isText && !d.IsList() && endsIn(d.Name(), []string{"id", "uuid"}) {
			return d.Name()
		}
	}
	return "payment_id"
}

func templateTooLong(p *pass) {
	for m := range p.messages {
		for _, t := range m.Templates() {
			if least := leastLen(t); least > idem.MaxKeyLen {
				p.reportf(t.Place, "shorten its literals, or name fewer fields",
					"a template of %s has at least %d bytes when it is rendered, and a text of more than %d is KEY_TOO_LONG: the message can never be sent",
					m.Desc.FullName(), least, idem.MaxKeyLen)
			}
		}
	}
}

// leastLen is the length of the shortest text of a template.
func leastLen(t *schema.Template) int {
	n := len(t.Segments) - 1
	for _, s := range t.Segments {
		if s.Component != nil {
			n += leastComponent(s.Component)
		} else {
			n += len(s.Literal)
		}
	}
	return n
}

func leastComponent(c *schema.Component) int {
	fraction := 0
	if c.Digits > 0 {
		fraction = 1 + c.Digits
	}
	switch {
	case mayBeMissing(c):
		return 0 // an empty string, or the `~` of one
	case c.Digest:
		return len("d7a8fbb307d7809469ca9abcb0082e4f")
	}
	switch c.Kind {
	case schema.UUID:
		return len("f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
	case schema.Timestamp, schema.TimestampText, schema.TimestampEpoch:
		return len("2025-01-01T04:00:00Z") + fraction
	case schema.Duration:
		return len("0s") + fraction
	case schema.Date:
		return len("2025-01-01")
	case schema.Money:
		return len("USD0")
	case schema.Bool:
		return len("true")
	case schema.String, schema.Bytes:
		return 0
	}
	return len("0")
}
