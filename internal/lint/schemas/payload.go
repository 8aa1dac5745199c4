package schemas

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// used is a component where a template names it.
type used struct {
	message   *schema.Message
	template  *schema.Template
	component *schema.Component
}

// used are the components of all templates; occurred_at is none.
func (p *pass) used(yield func(used) bool) {
	for m := range p.messages {
		for _, t := range m.Templates() {
			for _, s := range t.Segments {
				if s.Component != nil && !yield(used{m, t, s.Component}) {
					return
				}
			}
		}
	}
}

// place is the leaf of a component where its file is linted, and the template otherwise: nobody can mend
// another module's file.
func (p *pass) place(u used) schema.Place {
	if p.linted(u.component.Leaf()) {
		return schema.Decl(u.component.Leaf())
	}
	return u.template.Place
}

// linted says whether a declaration is in a file that was asked for.
func (p *pass) linted(d protoreflect.Descriptor) bool {
	path := d.ParentFile().Path()
	_, found := slices.BinarySearchFunc(p.set.Files, path, func(f *schema.File, path string) int {
		return strings.Compare(f.Desc.Path(), path)
	})
	return found
}

// payload is the fields of the annotated messages and of what they hold, as far as it is declared in
// linted files. An amount in a list of items is as much a part of the event as one beside its key.
func (p *pass) payload(yield func(protoreflect.FieldDescriptor) bool) {
	seen := make(map[protoreflect.FullName]bool)
	var queue []protoreflect.MessageDescriptor
	enter := func(d protoreflect.MessageDescriptor) {
		if d != nil && !seen[d.FullName()] && p.linted(d) {
			seen[d.FullName()] = true
			queue = append(queue, d)
		}
	}
	for m := range p.messages {
		enter(m.Desc)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		fields := queue[0].Fields()
		for i := range fields.Len() {
			enter(fields.Get(i).Message())
			if !yield(fields.Get(i)) {
				return
			}
		}
	}
}

// in says whether one of the templates names the field.
func in(d protoreflect.FieldDescriptor, templates ...*schema.Template) bool {
	for _, t := range templates {
		if t == nil {
			continue
		}
		if slices.ContainsFunc(t.Segments, func(s schema.Segment) bool { return s.Component != nil && s.Component.Leaf() == d }) {
			return true
		}
	}
	return false
}

// components are those of a template, nil of none.
func components(t *schema.Template) []*schema.Component {
	if t == nil {
		return nil
	}
	var all []*schema.Component
	for _, s := range t.Segments {
		if s.Component != nil {
			all = append(all, s.Component)
		}
	}
	return all
}

// stated says whether the field says by an option how its text is written.
func (p *pass) stated(d protoreflect.FieldDescriptor) bool {
	o := p.set.FieldOptions(d)
	return o.GetDecimal() != nil || o.GetTimestamp() != nil || o.GetDuration() != nil || o.GetUuid()
}
