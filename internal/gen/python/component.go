package python

import (
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// presence is the path whose last field says whether a component is set: where the leaf has no presence,
// that of the message around it; empty where that is the message itself. (KEY-005)
func presence(c *schema.Component) []protoreflect.FieldDescriptor {
	if c.HasPresence {
		return c.Path
	}
	return c.Path[:len(c.Path)-1]
}

// isSet asks whether the last field of a path is set. Below a message that is not set nothing is. A field
// named HasField hides the method.
func (b *body) isSet(path []protoreflect.FieldDescriptor) string {
	last := len(path) - 1
	holder, field := b.holder(path[:last]), path[last]
	name := literal(string(field.Name()))
	if field.ContainingMessage().Fields().ByName("HasField") != nil {
		b.module.typing["Any"], b.module.typing["cast"] = true, true
		return "cast(Any, type(" + holder + ")).HasField(" + holder + ", " + name + ")"
	}
	return holder + ".HasField(" + name + ")"
}

// component adds the statements that assign the text of a component to its variable. (KEY-001 to KEY-006)
func (b *body) component(c *schema.Component) {
	to := b.locals[c.Name] + " = "
	path := presence(c)
	switch {
	case c.AllowMissing && len(path) == 0, !c.AllowMissing && !c.HasPresence:
		b.add(bodyIndent, to, b.text(c, bodyIndent))
	case c.AllowMissing && readOnce(c):
		test := plain(b.isSet(path))
		b.add(bodyIndent, to, choice{b.text(c, bodyIndent), test, support("ABSENT")})
	case c.AllowMissing:
		test := b.isSet(path)
		b.add(bodyIndent, to, support("ABSENT"))
		b.line(bodyIndent, "if "+test+":")
		value := b.text(c, bodyIndent+4)
		b.add(bodyIndent+4, to, value)
	default:
		b.line(bodyIndent, "if not "+b.isSet(path)+":")
		b.add(bodyIndent+4, "", missing(c))
		b.add(bodyIndent, to, b.text(c, bodyIndent))
	}
}

// occurredAt makes the method of a time that is left out where it is missing. (HDR-021)
func (m *module) occurredAt(c *schema.Component) []string {
	if c == nil {
		return nil
	}
	b := m.newBody([]*schema.Component{c})
	there := *c
	if c.HasPresence {
		b.line(bodyIndent, "if not "+b.isSet(c.Path)+":")
	} else {
		there.AllowMissing = true
		b.line(bodyIndent, "if not "+b.value(c, bodyIndent)+":")
	}
	b.line(bodyIndent+4, "return None")
	b.add(bodyIndent, "return ", b.text(&there, bodyIndent))
	return b.lines
}

// support is a name of the support sources.
func support(n string) expression { return plain("idemspec." + n) }

func supportCall(function string, args ...expression) expression {
	return call{"idemspec." + function, args}
}

func number(n int) expression { return plain(strconv.Itoa(n)) }

// missing raises KEY_COMPONENT_MISSING.
func missing(c *schema.Component) expression {
	return supportCall("missing", plain(literal(c.Name)))
}

// field is the path that an error shows; of a component that is redacted, one that hides the value.
func (b *body) field(c *schema.Component) expression {
	if c.Redacted {
		return plain(b.module.redacted(c.Name))
	}
	return plain(literal(c.Name))
}

// readOnce says whether the text of a component takes one read of the leaf.
func readOnce(c *schema.Component) bool {
	switch c.Kind {
	case schema.Money, schema.Timestamp, schema.Duration, schema.Date:
		return false
	}
	return true
}

// value is the expression of what the leaf holds. A message of several fields gets a variable.
func (b *body) value(c *schema.Component, indent int) string {
	value := attribute(b.holder(c.Path[:len(c.Path)-1]), c.Leaf().Name())
	if c.Wrapper {
		value += ".value"
	}
	if readOnce(c) {
		return value
	}
	local := b.local("value "+c.Name, c.Name+"_value")
	b.add(indent, local+" = ", plain(value))
	return local
}

// text is the expression of a component that is set, or that raises where a leaf without presence is
// missing.
func (b *body) text(c *schema.Component, indent int) expression {
	value := b.value(c, indent)
	// A zero that is missing is false, whatever its type.
	needed := !c.AllowMissing && !c.HasPresence
	var v expression = plain(value)
	if needed {
		v = either{v, missing(c)}
	}
	part := func(field string) expression { return plain(value + "." + field) }
	field, digits := b.field, number(c.Digits)
	var scale expression = plain("None")
	if c.MaxScale >= 0 {
		scale = number(c.MaxScale)
	}

	var t expression
	switch c.Kind {
	case schema.String:
		if mayBeBytes(c) {
			v = supportCall("well_formed", v, field(c))
		}
		if c.Digest {
			return supportCall("digest", v, field(c))
		}
		return supportCall("text", v, field(c))
	case schema.Bytes:
		t = supportCall("hexadecimal", v)
		if c.Digest {
			t = supportCall("hexadecimal", v, plain("None"))
		}
	case schema.Bool:
		t = supportCall("boolean", v)
		if needed {
			t = choice{plain(`"true"`), plain(value), missing(c)}
		}
	case schema.Enum32, schema.Int:
		if !c.Digest {
			return v
		}
		t = call{"str", []expression{v}}
	case schema.UUID:
		t = supportCall("uuid", scannable(c, v), field(c))
	case schema.DecimalText:
		t = supportCall("decimal", scannable(c, v), scale, field(c))
	case schema.DecimalMessage:
		// An empty value is 0 here, and no decimal elsewhere. (TXT-008)
		t = supportCall("decimal", either{part("value"), plain(`"0"`)}, scale, field(c))
	case schema.Money:
		t = supportCall("money", part("currency_code"), part("units"), part("nanos"), field(c))
	case schema.Timestamp:
		t = supportCall("timestamp", part("seconds"), part("nanos"), digits, field(c))
	case schema.TimestampText:
		t = supportCall("timestamp_of_text", scannable(c, v), digits, field(c))
	case schema.TimestampEpoch:
		t = supportCall("timestamp_of_epoch", v, plain(literal(string(c.Unit))), digits, field(c))
	case schema.Duration:
		t = supportCall("duration", part("seconds"), part("nanos"), digits, field(c))
	case schema.Date:
		t = supportCall("date", part("year"), part("month"), part("day"), field(c))
	default:
		panic("no text for " + c.Kind.String())
	}
	if c.Digest {
		t = supportCall("digest", t)
	}
	return t
}

// scannable is a string that a scanner reads, of whose grammar ill-formed text is not. (CONF-040)
func scannable(c *schema.Component, v expression) expression {
	if mayBeBytes(c) {
		return supportCall("scannable", v)
	}
	return v
}

// mayBeBytes says whether protobuf does not look at the string when it parses: what is no UTF-8 it gives
// as bytes. (GEN-004)
func mayBeBytes(c *schema.Component) bool {
	leaf := c.Leaf()
	if c.Wrapper {
		leaf = leaf.Message().Fields().ByName("value")
	}
	checked, ok := leaf.(interface{ EnforceUTF8() bool })
	return !ok || !checked.EnforceUTF8()
}
