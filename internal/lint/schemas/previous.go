package schemas

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var previousKeys = []*rule{
	{lint.Rule{
		ID: "IDEM_KEY_PREVIOUS_COLLIDES", Kind: lint.Schema, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that the key of one event cannot be the previous key of another one.",
		Spec:    []string{"KEY-030", "OPT-032"},
	}, keyPreviousCollides},
	{lint.Rule{
		ID: "IDEM_KEY_PREVIOUS_VERSION_SAME", Kind: lint.Schema, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that the version of a changed key is another one than before.",
		Spec:    []string{"KEY-030"},
	}, keyPreviousVersionSame},
}

func keyPreviousCollides(p *pass) {
	for m := range p.messages {
		if changed(m) && collide(m.Key, m.KeyPrevious) {
			p.reportf(m.KeyPrevious.Place, versionMend(m.Key),
				"idempotency_key of %s can give one event the text that idempotency_key_previous gives another: the second is taken for a duplicate, and is lost",
				m.Desc.FullName())
		}
	}
}

// changed says whether a message has a key before the last change. The key itself is refused as one.
func changed(m *schema.Message) bool {
	return m.KeyPrevious != nil && m.KeyPrevious.Text != m.Key.Text
}

func keyPreviousVersionSame(p *pass) {
	for m := range p.messages {
		if !changed(m) || collide(m.Key, m.KeyPrevious) {
			continue
		}
		if v := versionOf(m.Key); v != "" && v == versionOf(m.KeyPrevious) {
			p.reportf(m.KeyPrevious.Place, versionMend(m.Key),
				"the key of %s is another one than before, and its version is still %s: nobody who reads a key can say which template made it",
				m.Desc.FullName(), v)
		}
	}
}

// versionMend says which version to write into a key.
func versionMend(t *schema.Template) string {
	v := versionOf(t)
	if v == "" {
		return "give the key a version segment, v1, behind the event type"
	}
	return "count the version of the key up, from " + v + " to " + nextVersion(v)
}

// collide says whether a text of one template can be a text of the other, of other values.
func collide(a, b *schema.Template) bool {
	if len(a.Segments) != len(b.Segments) {
		return false // no component but a timestamp has a ':'
	}
	for i, s := range a.Segments {
		if !mayEqual(s, b.Segments[i]) {
			return false
		}
	}
	return true
}

// mayEqual says whether two segments can be one text. A version is no value of any field.
func mayEqual(a, b schema.Segment) bool {
	switch {
	case a.Component == nil && b.Component == nil:
		return a.Literal == b.Literal
	case isVersion(a) || isVersion(b):
		return false
	case a.Component == nil:
		return shapeOf(b.Component) == anyText
	case b.Component == nil:
		return shapeOf(a.Component) == anyText
	case a.Component.Name == b.Component.Name:
		return true
	}
	x, y := shapeOf(a.Component), shapeOf(b.Component)
	return x != ownText && (x == y || x == anyText && y != ownText || y == anyText)
}

// shape is what texts a component has.
type shape int

const (
	anyText shape = iota
	numbers       // that count from 0 in more than one field
	ownText       // of which no two fields have the same, unless they mean the same: a UUID, a time, a digest
)

func shapeOf(c *schema.Component) shape {
	switch {
	case c.Digest:
		return ownText
	case c.Kind == schema.String:
		return anyText
	case c.Kind == schema.Int || c.Kind == schema.Enum32 || isAmount(c.Kind):
		return numbers
	}
	return ownText
}
