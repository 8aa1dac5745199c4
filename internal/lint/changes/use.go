package changes

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// use is a component that a template has on both sides.
type use struct {
	*pair
	// text is what the component is in.
	text text
	// from and to are the component before and after.
	from, to *schema.Component
}

// text is a template before and after, and what renders it.
type text struct {
	option        string
	before, after *schema.Template
	render        renderFunc
}

// uses are the components of the texts that are the same on both sides but for their fields. A template
// that changed by itself is the matter of other rules.
func (p *pair) uses() []use {
	var all []use
	for _, t := range p.texts() {
		for i, s := range t.before.Segments {
			if s.Component != nil {
				all = append(all, use{p, t, s.Component, t.after.Segments[i].Component})
			}
		}
	}
	return all
}

// texts are the templates that are the same on both sides, by name.
func (p *pair) texts() []text {
	var all []text
	add := func(option string, before, after *schema.Template, render renderFunc) {
		if same(before, after) {
			all = append(all, text{option, before, after, render})
		}
	}
	add("idempotency_key", p.before.Key, p.after.Key, renderKey)
	if !same(p.before.Key, p.after.Key) {
		add("idempotency_key_previous", p.before.Key, p.after.KeyPrevious, renderKey)
	}
	add("idempotency_key_previous", p.before.KeyPrevious, p.after.KeyPrevious, renderKey)
	add("biz_key", p.before.BizKey, p.after.BizKey, renderBizKey)
	if sameText(p.before.Fingerprint, p.after.Fingerprint) {
		add("fingerprint", p.before.Fingerprint, p.after.Fingerprint, renderFingerprint)
	}
	add("occurred_at", occurredAt(p.before), occurredAt(p.after), renderOccurredAt)
	return all
}

// occurredAt is the header's component as a template of its own.
func occurredAt(m *schema.Message) *schema.Template {
	if m.OccurredAt == nil {
		return nil
	}
	return &schema.Template{
		Text: m.Options.GetOccurredAt(), Place: m.Option(schema.OccurredAtNumber),
		Segments: []schema.Segment{{Component: m.OccurredAt}},
	}
}

func sameText(a, b *schema.Template) bool { return a != nil && b != nil && a.Text == b.Text }

// same says whether two templates are there and have the same segments: the same literals, and
// components of the same field. A field is the same by its name or by its numbers, so that one that is
// renamed stays what it was, as on the wire.
func same(a, b *schema.Template) bool {
	return a != nil && b != nil && slices.EqualFunc(a.Segments, b.Segments, func(a, b schema.Segment) bool {
		if a.Component == nil || b.Component == nil {
			return a.Component == b.Component && a.Literal == b.Literal
		}
		return sameNumbers(a.Component, b.Component) || a.Component.Name == b.Component.Name
	})
}

// sameNumbers says whether two components are at the same place on the wire.
func sameNumbers(a, b *schema.Component) bool {
	return slices.EqualFunc(a.Path, b.Path, func(a, b protoreflect.FieldDescriptor) bool { return a.Number() == b.Number() })
}
