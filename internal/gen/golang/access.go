package golang

import (
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/gofeaturespb"

	"github.com/idem-spec/idem/internal/schema"
)

// access is how Go reads a component. Getters may be called on nil, so that a chain of them needs no
// check between: below a message that is not set, everything is unset.
type access struct {
	t *target
	c *schema.Component
	// fields are protogen's view of the path, holders the expressions of the messages that hold them:
	// "x", "x.GetCustomer()".
	fields  []*protogen.Field
	holders []string
	// value is the expression of the leaf, and of what is in a wrapper.
	value string
}

func (t *target) access(c *schema.Component) *access {
	a := &access{t: t, c: c, value: "x"}
	for _, d := range c.Path {
		field := t.run.messages[d.ContainingMessage().FullName()].Fields[d.Index()]
		a.fields = append(a.fields, field)
		a.holders = append(a.holders, a.value)
		getter, _ := field.MethodName("Get")
		a.value += "." + getter + "()"
	}
	if c.Wrapper {
		a.value += ".GetValue()"
	}
	return a
}

// missing is the condition under which the component is missing, to stand behind if. (KEY-004)
func (a *access) missing() string {
	if a.c.HasPresence {
		return a.fieldUnset(len(a.fields) - 1)
	}
	switch a.c.Kind {
	case schema.Bytes:
		return "len(" + a.value + ") == 0"
	case schema.Bool:
		return "!" + a.value
	case schema.Enum32, schema.Int, schema.TimestampEpoch:
		return a.value + " == 0"
	}
	return a.value + ` == ""`
}

// unset is the condition under which the component is written as absent where it may be missing, and
// "" where it never is. (KEY-005)
func (a *access) unset() string {
	last := len(a.fields) - 1
	if !a.c.HasPresence {
		last--
	}
	if last < 0 {
		return ""
	}
	return a.fieldUnset(last)
}

// fieldUnset is the condition under which a field of the path, which has presence, is not set.
func (a *access) fieldUnset(i int) string {
	field, holder := a.fields[i], a.holders[i]
	getter, _ := field.MethodName("Get")
	switch {
	case field.Parent.APILevel != gofeaturespb.GoFeatures_API_OPEN:
		has, _ := field.MethodName("Has")
		return "!" + holder + "." + has + "()"
	case field.Oneof != nil && !field.Oneof.Desc.IsSynthetic():
		return "_, ok := " + holder + ".Get" + field.Oneof.GoName + "().(*" + a.t.qualified(field.GoIdent) + "); !ok"
	case field.Message != nil:
		return holder + "." + getter + "() == nil"
	default:
		// The open API has a pointer, or a slice for bytes, and no method that looks at it.
		return holder + " == nil || " + holder + "." + field.GoName + " == nil"
	}
}
