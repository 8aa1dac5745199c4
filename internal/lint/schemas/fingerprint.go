package schemas

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var fingerprints = []*rule{
	{lint.Rule{
		ID: "IDEM_FINGERPRINT_IN_KEY", Kind: lint.Schema, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that a fingerprint names a field that the key does not.",
		Spec:    []string{"HASH-031"},
	}, fingerprintInKey},
	{lint.Rule{
		ID: "IDEM_FINGERPRINT_MISSING", Kind: lint.Schema, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that a message with an amount has a fingerprint.",
		Spec:    []string{"HASH-031"},
	}, fingerprintMissing},
}

func fingerprintInKey(p *pass) {
	for m := range p.messages {
		if m.Fingerprint == nil {
			continue
		}
		fields := components(m.Fingerprint)
		if !slices.ContainsFunc(fields, func(c *schema.Component) bool { return !names(m.Key, c.Name) }) {
			p.reportf(m.Fingerprint.Place, "name what the event says beside its key, as in {amount}:{currency}, or leave the fingerprint out",
				"the fingerprint of %s names %s alone, which the key has too: where two keys are equal, it cannot differ",
				m.Desc.FullName(), nameList(fields))
		}
	}
}

// names says whether a template has a placeholder.
func names(t *schema.Template, name string) bool {
	return slices.ContainsFunc(components(t), func(c *schema.Component) bool { return c.Name == name })
}

func fingerprintMissing(p *pass) {
	for m := range p.messages {
		if m.Options.Fingerprint != nil {
			continue // also one that is refused
		}
		if d := p.amountOf(m); d != nil {
			p.reportf(m.Option(), `add fingerprint: "`+amountTemplate(d)+`"`,
				"%s has the amount %s and no fingerprint: where one key comes with two amounts, nobody notices",
				m.Desc.FullName(), d.Name())
		}
	}
}

// amountOf is a field of the message that is an amount by its type or its option, and that the key does
// not name.
func (p *pass) amountOf(m *schema.Message) protoreflect.FieldDescriptor {
	fields := m.Desc.Fields()
	for i := range fields.Len() {
		d := fields.Get(i)
		if d.IsList() || d.IsMap() || names(m.Key, string(d.Name())) || isRedacted(d) {
			continue
		}
		isMoney := d.Message() != nil && (d.Message().FullName() == "google.type.Money" || d.Message().FullName() == "google.type.Decimal")
		if isMoney || p.set.FieldOptions(d).GetDecimal() != nil {
			return d
		}
	}
	return nil
}

func isRedacted(d protoreflect.FieldDescriptor) bool {
	o, _ := d.Options().(*descriptorpb.FieldOptions)
	return o.GetDebugRedact()
}

// amountTemplate names an amount, and the currency beside it.
func amountTemplate(amount protoreflect.FieldDescriptor) string {
	text := "{" + string(amount.Name()) + "}"
	if amount.Message() != nil && amount.Message().FullName() == "google.type.Money" {
		return text
	}
	fields := amount.ContainingMessage().Fields()
	for i := range fields.Len() {
		if d := fields.Get(i); isCurrency(d.Name(), amount.Name()) && d.Kind() == protoreflect.StringKind && !d.IsList() {
			return text + ":{" + string(d.Name()) + "}"
		}
	}
	return text
}
