package schemas

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var presences = []*rule{
	{lint.Rule{
		ID: "IDEM_KEY_ALL_MISSING", Kind: lint.Schema, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that a key names a field that tells events apart and is never missing.",
		Spec:    []string{"KEY-005"},
	}, keyAllMissing},
	{lint.Rule{
		ID: "IDEM_KEY_PRESENCE_AMBIGUOUS", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that a key has one text for a field that is unset and for one that has its zero value.",
		Spec:    []string{"KEY-005"},
	}, keyPresenceAmbiguous},
	{lint.Rule{
		ID: "IDEM_COMPONENT_IN_ONEOF", Kind: lint.Schema, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that a member of a oneof may be missing, as it is where another member is set.",
		Spec:    []string{"KEY-004", "OPT-022"},
	}, componentInOneof},
	{lint.Rule{
		ID: "IDEM_COMPONENT_DEPRECATED", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that no template names a deprecated field.",
		Spec:    []string{"KEY-004"},
	}, componentDeprecated},
}

func keyAllMissing(p *pass) {
	for m := range p.messages {
		var missing []*schema.Component
		sure := false
		for _, c := range components(m.Key) {
			switch {
			case mayBeMissing(c):
				missing = append(missing, c)
			case c.Kind != schema.Bool && c.Kind != schema.Enum32:
				sure = true
			}
		}
		if sure || len(missing) == 0 || shareOneof(missing) {
			continue
		}
		p.reportf(m.Key.Place, "leave MISSING_ALLOW out of a field that every event has, or name one",
			"the key of %s has nothing in it that is always there: all events without %s are one event", m.Desc.FullName(), nameList(missing))
	}
}

// mayBeMissing says whether a message without the field has a key. A number without presence does not
// count, whose zero is a value.
func mayBeMissing(c *schema.Component) bool {
	return c.AllowMissing && (c.HasPresence || len(c.Path) > 1 || c.Kind == schema.String || c.Kind == schema.Bytes)
}

// shareOneof says whether two of the components are in one oneof, of which one is set.
func shareOneof(all []*schema.Component) bool {
	seen := make(map[protoreflect.FullName]int)
	for i, c := range all {
		for _, d := range c.Path {
			o := realOneof(d)
			if o == nil {
				continue
			}
			if first, ok := seen[o.FullName()]; ok && first != i {
				return true
			}
			seen[o.FullName()] = i
		}
	}
	return false
}

func keyPresenceAmbiguous(p *pass) {
	for u := range p.usedInKeys {
		c := u.component
		zero := zeroText(c.Kind)
		if zero == "" || !c.AllowMissing || !c.HasPresence && len(c.Path) == 1 || realOneof(c.Leaf()) != nil {
			continue
		}
		p.reportf(u.template.Place, "leave MISSING_ALLOW out, or give the field no presence, so that both are one text",
			"%s, which is ~ where it is unset and %s where it is set to that: one producer sets what another one leaves unset, and the event has two keys",
			u.names(), zero)
	}
}

// zeroText is the zero value, for people, of a kind that is set to it without a thought, and "" of others.
func zeroText(k schema.Kind) string {
	switch k {
	case schema.String, schema.Bytes:
		return "empty"
	case schema.Bool:
		return "false"
	case schema.Enum32, schema.Int, schema.DecimalMessage:
		return "0"
	}
	return ""
}

func componentInOneof(p *pass) {
	for u := range p.used {
		if u.component.AllowMissing || u.template == u.message.KeyPrevious {
			continue
		}
		for _, d := range u.component.Path {
			if other := otherMember(d); other != nil {
				p.reportf(u.template.Place,
					"name a field beside the oneof, or all members, each with [(idem.v1.field).missing = MISSING_ALLOW]",
					"%s, and %s is a member of the oneof %s: where %s is set in its place, the message cannot be sent",
					u.names(), d.Name(), d.ContainingOneof().Name(), other.Name())
				break
			}
		}
	}
}

// otherMember is another member of the oneof of a field, one that is not deprecated.
func otherMember(d protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	o := realOneof(d)
	if o == nil {
		return nil
	}
	for i := range o.Fields().Len() {
		if other := o.Fields().Get(i); other.Number() != d.Number() && !isDeprecated(other) {
			return other
		}
	}
	return nil
}

// realOneof is the oneof of a field, nil where it is one that `optional` makes.
func realOneof(d protoreflect.FieldDescriptor) protoreflect.OneofDescriptor {
	if o := d.ContainingOneof(); o != nil && !o.IsSynthetic() {
		return o
	}
	return nil
}

func componentDeprecated(p *pass) {
	for u := range p.used {
		if u.template == u.message.KeyPrevious {
			continue // as it was
		}
		for _, d := range u.component.Path {
			if isDeprecated(d) {
				p.reportf(u.template.Place, "name what takes its place",
					"%s, and %s is deprecated: once nobody sets it, the message cannot be sent", u.names(), d.FullName())
				break
			}
		}
	}
}

func isDeprecated(d protoreflect.FieldDescriptor) bool {
	o, _ := d.Options().(*descriptorpb.FieldOptions)
	return o.GetDeprecated()
}
