package schemas

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// A float or a double that is no amount is refused in templates; elsewhere it may well be right, as a latitude.
var values = []*rule{
	{lint.Rule{
		ID: "IDEM_MONEY_FLOAT", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that no amount of money is a float or a double.",
		Spec:    []string{"OPT-013"},
	}, moneyFloat},
	{lint.Rule{
		ID: "IDEM_DECIMAL_OPTION_MISSING", Kind: lint.Schema, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that an amount in a template is a decimal and not any text.",
		Spec:    []string{"TXT-004", "OPT-020"},
	}, decimalOptionMissing},
	{lint.Rule{
		ID: "IDEM_DECIMAL_UNDECLARED", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that an amount in a string says that it is a decimal, also where no template names it.",
		Spec:    []string{"TXT-001", "OPT-020"},
	}, decimalUndeclared},
	{lint.Rule{
		ID: "IDEM_DECIMAL_SCALE_MISSING", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a decimal in a key or a fingerprint states its max_scale.",
		Spec:    []string{"TXT-005", "OPT-021"},
	}, decimalScaleMissing},
	{lint.Rule{
		ID: "IDEM_FINGERPRINT_CURRENCY_MISSING", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a fingerprint with an amount has its currency too.",
		Spec:    []string{"HASH-031"},
	}, fingerprintCurrencyMissing},
	{lint.Rule{
		ID: "IDEM_UUID_OPTION_MISSING", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a UUID in a template is a UUID and not any text.",
		Spec:    []string{"TXT-060"},
	}, uuidOptionMissing},
}

const decimalMend = "make it a string with [(idem.v1.field).decimal = {max_scale: 2}], a google.type.Money, or an integer of the smallest unit"

func moneyFloat(p *pass) {
	for d := range p.payload {
		if holdsFloat(d) && isDecimal(d.Name()) {
			p.reportf(schema.Decl(d), decimalMend,
				"%s is a %s: 0.1 and 0.2 have no exact value in it, and no two languages write it alike", d.FullName(), typeName(d))
		}
	}
}

// holdsFloat says whether a field is a float or a double, or a wrapper of one.
func holdsFloat(d protoreflect.FieldDescriptor) bool {
	if m := d.Message(); m != nil {
		return m.FullName() == "google.protobuf.FloatValue" || m.FullName() == "google.protobuf.DoubleValue"
	}
	return d.Kind() == protoreflect.FloatKind || d.Kind() == protoreflect.DoubleKind
}

// holdsString says whether a field is a string, or a wrapper of one.
func holdsString(d protoreflect.FieldDescriptor) bool {
	if m := d.Message(); m != nil {
		return m.FullName() == "google.protobuf.StringValue"
	}
	return d.Kind() == protoreflect.StringKind
}

// typeName is the type as the .proto has it.
func typeName(d protoreflect.FieldDescriptor) string {
	if m := d.Message(); m != nil {
		return string(m.FullName())
	}
	return d.Kind().String()
}

func decimalOptionMissing(p *pass) {
	for u := range p.used {
		if d := u.component.Leaf(); u.component.Kind == schema.String && isDecimal(d.Name()) {
			p.reportf(p.place(u), "add [(idem.v1.field).decimal = {max_scale: 2}], with the digits that it has at most",
				"%s is any text in a template, so that 100, 100.0 and 1e2 are three", d.FullName())
		}
	}
}

func decimalUndeclared(p *pass) {
	named := make(map[protoreflect.FieldDescriptor]bool)
	for u := range p.used {
		named[u.component.Leaf()] = true
	}
	for d := range p.payload {
		if !named[d] && holdsString(d) && isDecimal(d.Name()) && !p.stated(d) {
			p.reportf(schema.Decl(d), "add [(idem.v1.field).decimal = {max_scale: 2}], so that `idem check` looks at it",
				"%s does not say that its text is a decimal", d.FullName())
		}
	}
}

func decimalScaleMissing(p *pass) {
	for u := range p.used {
		c := u.component
		isDecimal := c.Kind == schema.DecimalText || c.Kind == schema.DecimalMessage
		if isDecimal && c.MaxScale < 0 && (u.template == u.message.Key || u.template == u.message.Fingerprint) {
			p.reportf(p.place(u), "add max_scale: [(idem.v1.field).decimal = {max_scale: 2}]",
				"%s has any number of digits, so that an amount that went through a float, 100.10000000000001, is taken for another one", c.Leaf().FullName())
		}
	}
}

func fingerprintCurrencyMissing(p *pass) {
	for m := range p.messages {
		for _, c := range components(m.Fingerprint) {
			currency := currencyOf(c)
			if currency == nil || in(currency, m.Key, m.Fingerprint) {
				continue
			}
			path := strings.TrimSuffix(c.Name, string(c.Leaf().Name())) + string(currency.Name())
			p.reportf(m.Fingerprint.Place, "write {"+c.Name+"}:{"+path+"}",
				"the fingerprint of %s has {%s} and not {%s}, so that 100 of one currency and 100 of another are the same content",
				m.Desc.FullName(), c.Name, path)
		}
	}
}

// currencyOf is the field beside an amount that has its currency, or nil.
func currencyOf(c *schema.Component) protoreflect.FieldDescriptor {
	switch c.Kind {
	case schema.String, schema.DecimalText, schema.DecimalMessage, schema.Int:
	default:
		return nil
	}
	amount := c.Leaf()
	if !isDecimal(amount.Name()) {
		return nil
	}
	fields := amount.ContainingMessage().Fields()
	for i := range fields.Len() {
		d := fields.Get(i)
		isText := d.Kind() == protoreflect.StringKind || d.Kind() == protoreflect.EnumKind
		if isText && !d.IsList() && isCurrency(d.Name(), amount.Name()) {
			return d
		}
	}
	return nil
}

func uuidOptionMissing(p *pass) {
	for u := range p.used {
		if d := u.component.Leaf(); u.component.Kind == schema.String && isUUID(d.Name()) {
			p.reportf(p.place(u), "add [(idem.v1.field).uuid = true], which writes it in lower case",
				"%s is any text in a template, so that a UUID in capitals, as some languages write it, is another one", d.FullName())
		}
	}
}
