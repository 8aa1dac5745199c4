package java

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// step is a step of rendering: literals, or a component.
type step struct {
	// Literal is a Java literal, empty for a component.
	Literal string
	// Path is the component's path, a Java literal.
	Path string
	// Present is a condition, empty where the component is never missing.
	Present string
	// Missing is the opposite, for a header that is left out.
	Missing string
	// OrAbsent says that a missing component is "~".
	OrAbsent bool
	// Calls are the statements that append the component.
	Calls []string
}

// text is a template, rendered by a method of its own.
type text struct {
	Unit *unit
	// Text is the template as it is written, and Literal the same as a Java literal.
	Text, Literal string
	Steps         []step
}

func (r *run) text(u *unit, t *schema.Template) *text {
	if t == nil {
		return nil
	}
	view := &text{Unit: u, Text: t.Text, Literal: literal(t.Text)}
	between := ""
	for i, s := range t.Segments {
		if i > 0 {
			between += ":"
		}
		if s.Component == nil {
			between += s.Literal
			continue
		}
		if between != "" {
			view.Steps = append(view.Steps, step{Literal: literal(between)})
			between = ""
		}
		view.Steps = append(view.Steps, r.component(u, s.Component))
	}
	if between != "" {
		view.Steps = append(view.Steps, step{Literal: literal(between)})
	}
	return view
}

func (r *run) component(u *unit, c *schema.Component) step {
	s := step{Path: literal(c.Name), OrAbsent: c.AllowMissing}
	if c.AllowMissing {
		s.Present = r.set(c)
		s.OrAbsent = s.Present != ""
	} else {
		s.Present, _ = r.present(c)
	}
	for _, d := range c.Path {
		u.UsesDeprecated = u.UsesDeprecated || isDeprecated(d)
	}
	if c.Redacted {
		s.Calls = append(s.Calls, "key.redacted();")
	}
	if c.Digest {
		s.Calls = append(s.Calls, "key.sha256();")
	}
	s.Calls = append(s.Calls, r.append(u, c)...)
	return s
}

// holder is the expression of the message that has the leaf. A getter of a message that is not set gives
// an empty one, in which nothing is set.
func (r *run) holder(path []protoreflect.FieldDescriptor) string {
	var b strings.Builder
	b.WriteString("m")
	for _, d := range path[:len(path)-1] {
		b.WriteString(".get" + r.names.accessor(d) + "()")
	}
	return b.String()
}

// set is the condition under which a component is set: where the leaf has no presence, that the message
// around it is; empty where that is the message itself. (KEY-005)
func (r *run) set(c *schema.Component) string {
	path := c.Path
	if !c.HasPresence {
		path = path[:len(path)-1]
	}
	if len(path) == 0 {
		return ""
	}
	return r.holder(path) + ".has" + r.names.accessor(path[len(path)-1]) + "()"
}

// present is the condition under which a component is not missing, and missing the one under which it is.
// (KEY-004)
func (r *run) present(c *schema.Component) (present, missing string) {
	if c.HasPresence {
		set := r.set(c)
		return set, "!" + set
	}
	value := r.value(c)
	switch kind := c.Leaf().Kind(); kind {
	case protoreflect.StringKind, protoreflect.BytesKind:
		return "!" + value + ".isEmpty()", value + ".isEmpty()"
	case protoreflect.BoolKind:
		return value, "!" + value
	default:
		return value + " != 0", value + " == 0"
	}
}

// value is the expression of what the leaf holds; of an enum, its number.
func (r *run) value(c *schema.Component) string {
	value := r.holder(c.Path) + ".get" + r.names.accessor(c.Leaf())
	if c.Kind == schema.Enum32 {
		value += "Value"
	}
	value += "()"
	if c.Wrapper {
		value += ".getValue()"
	}
	return value
}

// append is the statements that append the text of a component that is not missing.
func (r *run) append(u *unit, c *schema.Component) []string {
	value := r.value(c)
	at := literal(c.Name)
	scale, digits := strconv.Itoa(c.MaxScale), strconv.Itoa(c.Digits)
	bits := strconv.Itoa(c.Bits)
	switch c.Kind {
	case schema.String:
		if leaf := c.Leaf(); !c.Wrapper && !checksUTF8(leaf) {
			return unchecked(u, value, r.holder(c.Path)+".get"+r.names.accessor(leaf)+"Bytes()", at)
		}
		return call("string", value, at)
	case schema.Bytes:
		return call("bytes", value+".toByteArray()")
	case schema.Bool:
		return call("bool", value)
	case schema.Enum32:
		return call("int32", value)
	case schema.Int:
		if c.Signed {
			return call("int"+bits, value)
		}
		return call("uint"+bits, value)
	case schema.UUID:
		return call("uuid", value, at)
	case schema.DecimalText:
		return call("decimal", value, scale, at)
	case schema.DecimalMessage:
		return call("decimalOrZero", value+".getValue()", scale, at)
	case schema.Money:
		return call("money", value+".getCurrencyCode()", value+".getUnits()", value+".getNanos()", at)
	case schema.Timestamp:
		return call("timestamp", value+".getSeconds()", value+".getNanos()", digits, at)
	case schema.TimestampText:
		return call("rfc3339", value, digits, at)
	case schema.TimestampEpoch:
		unit := u.Support("EpochUnit") + "." + epochUnits[c.Unit]
		switch {
		case c.Signed:
			return call("epoch", value, unit, digits, at)
		case c.Bits == 32:
			return call("epochUnsigned", value+" & 0xffffffffL", unit, digits, at)
		default:
			return call("epochUnsigned", value, unit, digits, at)
		}
	case schema.Duration:
		return call("duration", value+".getSeconds()", value+".getNanos()", digits, at)
	case schema.Date:
		return call("date", value+".getYear()", value+".getMonth()", value+".getDay()", at)
	}
	panic("no call for " + c.Kind.String())
}

// epochUnits are the constants of the support class EpochUnit.
var epochUnits = map[schema.Unit]string{"s": "SECONDS", "ms": "MILLIS", "us": "MICROS", "ns": "NANOS"}

func call(method string, args ...string) []string {
	return []string{"key." + method + "(" + strings.Join(args, ", ") + ");"}
}

// unchecked reads a string that Java's parser has not looked at. Its getter writes U+FFFD for what is
// ill-formed, so that where there is one the bytes decide. (GEN-004)
func unchecked(u *unit, value, bytes, at string) []string {
	return []string{
		"if (" + u.Support("KeyBuilder") + ".isDoubtful(" + value + ") && !" + bytes + ".isValidUtf8()) {",
		"  " + call("utf8", bytes+".toByteArray()", at)[0],
		"} else {",
		"  " + call("string", value, at)[0],
		"}",
	}
}
