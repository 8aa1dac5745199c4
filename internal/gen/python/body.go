package python

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// maxKeyBytes is the most bytes of a key. (KEY-011)
const maxKeyBytes = 1024

// boundEvery is the number of components after which a text that is too long already is cut, so that a
// template of many long ones needs no more memory than one of a few. What comes later is still checked,
// since the first fault is the answer. (KEY-011)
const boundEvery = 8

// body is the statements of a method that renders a template, or one component.
type body struct {
	module *module
	lines  []string
	// locals are the variables of the method by what they hold: "customer.id" for a component,
	// "customer" for a message that is read more than once.
	locals map[string]string
	taken  map[string]bool
	// reads is how often the messages on the paths are read, which says which get a variable.
	reads map[string]int
}

func (m *module) newBody(components []*schema.Component) *body {
	b := &body{module: m, locals: make(map[string]string), taken: make(map[string]bool), reads: make(map[string]int)}
	seen := make(map[string]bool)
	for _, c := range components {
		if seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		// Names of components come first, so that they are those of the fields.
		b.local(c.Name, c.Name)
		b.countReads(c)
	}
	return b
}

// local is the variable for what, which is made when it is asked for first.
func (b *body) local(what, wish string) string {
	if local, ok := b.locals[what]; ok {
		return local
	}
	local := strings.ReplaceAll(wish, ".", "_")
	for keywords[local] || globals[local] || b.taken[local] || strings.HasPrefix(local, redactedPrefix) {
		local = strings.TrimPrefix(local, "_") + "_"
	}
	b.taken[local] = true
	b.locals[what] = local
	return local
}

// line adds a line, and add a statement of one or more.
func (b *body) line(indent int, line string) { b.lines = append(b.lines, pad(indent)+line) }

func (b *body) add(indent int, lead string, e expression) {
	b.lines = append(b.lines, layout(indent, lead, e, "")...)
}

// holder is the expression of a message on a path, the message m itself where the path is empty. A
// message that is not set reads as an empty one. One that is read more than once has a variable.
func (b *body) holder(path []protoreflect.FieldDescriptor) string {
	if len(path) == 0 {
		return "m"
	}
	what := "message " + pathName(path)
	if local, ok := b.locals[what]; ok {
		return local
	}
	last := len(path) - 1
	value := attribute(b.holder(path[:last]), path[last].Name())
	if b.reads[what] < 2 {
		return value
	}
	local := b.local(what, pathName(path))
	b.add(bodyIndent, local+" = ", plain(value))
	return local
}

// countReads counts the reads of the messages on a component's path.
func (b *body) countReads(c *schema.Component) {
	b.countRead(c.Path[:len(c.Path)-1])
	if asked := presence(c); len(asked) > 0 {
		b.countRead(asked[:len(asked)-1])
	}
}

// countRead counts a read of a message, and one of the message around it: either this one has a variable,
// or this read is the only one.
func (b *body) countRead(path []protoreflect.FieldDescriptor) {
	if len(path) == 0 {
		return
	}
	what := "message " + pathName(path)
	if b.reads[what] == 0 {
		b.countRead(path[:len(path)-1])
	}
	b.reads[what]++
}

// pathName is a path as a template has it.
func pathName(path []protoreflect.FieldDescriptor) string {
	names := make([]string, len(path))
	for i, d := range path {
		names[i] = string(d.Name())
	}
	return strings.Join(names, ".")
}

// method is a template and the method that renders it: what the templates show.
type method struct {
	Text string
	Body []string
}

// method makes the method of a template, nil where there is none. What it returns is made of the rendered
// text, which a variable holds.
func (m *module) method(t *schema.Template, variable string, result func(rendered string) string) *method {
	if t == nil {
		return nil
	}
	var components []*schema.Component
	for _, s := range t.Segments {
		if s.Component != nil {
			components = append(components, s.Component)
		}
	}
	b := m.newBody(components)
	pieces := b.render(t, variable)
	inline := result(fstring(pieces))
	if strings.Count(inline, fstring(pieces)) == 1 && fits(bodyIndent, "return "+inline) {
		b.line(bodyIndent, "return "+inline)
	} else {
		b.lines = append(b.lines, text(variable, pieces)...)
		b.line(bodyIndent, "return "+result(variable))
	}
	return &method{Text: t.Text, Body: b.lines}
}

// render adds the statements that render a template, and returns the pieces of an f-string that is the
// text, or what is left of it after a variable was assigned.
func (b *body) render(t *schema.Template, variable string) (pieces []string) {
	done := make(map[string]bool)
	components := 0
	for i, s := range t.Segments {
		piece := s.Literal
		if c := s.Component; c != nil {
			if components == boundEvery {
				b.lines = append(b.lines, text(variable, pieces)...)
				// One character more than a key may have says as much as many.
				pieces = []string{"{" + variable + "[:" + strconv.Itoa(maxKeyBytes+1) + "]}"}
				components = 0
			}
			if !done[c.Name] {
				done[c.Name] = true
				b.component(c)
			}
			components++
			piece = "{" + b.locals[c.Name] + "}"
		}
		if i > 0 {
			piece = ":" + piece
		}
		pieces = append(pieces, piece)
	}
	return pieces
}
