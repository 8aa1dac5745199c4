package golang

import (
	"strconv"
	"strings"

	"github.com/idem-spec/idem/internal/schema"
)

// boundEvery is the number of components after which a text that is too long already is cut, so that
// a template of many long ones needs no more memory than one of a few. What comes later is still
// checked, since the first fault is the answer. (KEY-011)
const boundEvery = 8

// render writes the statements that append a template to dst, from start on.
func (t *target) render(template *schema.Template) {
	t.P("start := len(dst)")
	var fails, marks bool
	for _, s := range template.Segments {
		if s.Component != nil {
			fails = fails || canFail(s.Component)
			marks = marks || s.Component.Digest && canFail(s.Component) && s.Component.Kind != schema.String
		}
	}
	if fails {
		t.P("var err error")
	}
	if marks {
		t.P("var mark int")
	}
	literal := ""
	components := 0
	for i, s := range template.Segments {
		if i > 0 {
			literal += ":"
		}
		if s.Component == nil {
			literal += s.Literal
			continue
		}
		t.literal(literal)
		literal = ""
		if components > 0 && components%boundEvery == 0 {
			t.P("if len(dst)-start > ", t.idem("MaxKeyLen"), " {")
			t.P("dst = dst[:start+", t.idem("MaxKeyLen"), "+1]")
			t.P("}")
		}
		t.component(s.Component)
		components++
	}
	t.literal(literal)
}

func (t *target) literal(text string) {
	switch {
	case len(text) == 1:
		t.P("dst = append(dst, ", strconv.QuoteRune(rune(text[0])), ")")
	case text != "":
		t.P("dst = append(dst, ", strconv.Quote(text), "...)")
	}
}

// component writes the statements that append one component.
func (t *target) component(c *schema.Component) {
	a := t.access(c)
	if !c.AllowMissing {
		t.P("if ", a.missing(), " {")
		t.P("return dst[:start], ", t.idem("Missing"), "(", strconv.Quote(c.Name), ")")
		t.P("}")
		t.appendText(c, a)
		return
	}
	unset := a.unset()
	if unset == "" {
		t.appendText(c, a)
		return
	}
	t.P("if ", unset, " {")
	t.P("dst = ", t.idem("AppendAbsent"), "(dst)")
	t.P("} else {")
	t.appendText(c, a)
	t.P("}")
}

// appendText writes the statements that append the text of a component that is not missing.
func (t *target) appendText(c *schema.Component, a *access) {
	if !canFail(c) {
		call := a.call()
		if c.Digest && c.Kind != schema.Bytes {
			call = t.idem("DigestTail") + "(" + call + ", len(dst))"
		}
		t.P("dst = ", call)
		return
	}
	digestTail := c.Digest && c.Kind != schema.String
	if digestTail {
		t.P("mark = len(dst)")
	}
	t.P("if dst, err = ", a.call(), "; err != nil {")
	t.P("return dst[:start], ", a.inField("err"))
	t.P("}")
	if digestTail {
		t.P("dst = ", t.idem("DigestTail"), "(dst, mark)")
	}
}

// canFail says whether a value of the kind may have no text.
func canFail(c *schema.Component) bool {
	switch c.Kind {
	case schema.Bytes, schema.Bool, schema.Enum32, schema.Int:
		return false
	}
	return true
}

// inField gives an error the path of the field, and takes the value out where no one may read it.
func (a *access) inField(err string) string {
	if a.c.Redacted {
		err = a.t.idem("Redacted") + "(" + err + ")"
	}
	return a.t.idem("InField") + "(" + err + ", " + strconv.Quote(a.c.Name) + ")"
}

// call is the call of the core that appends the value, without its missing and its digest.
func (a *access) call() string {
	c, v := a.c, a.value
	maxScale, digits := strconv.Itoa(c.MaxScale), strconv.Itoa(c.Digits)
	switch c.Kind {
	case schema.String:
		if c.Digest {
			return a.core("AppendStringDigest", v)
		}
		return a.core("AppendString", v)
	case schema.Bytes:
		if c.Digest {
			return a.core("AppendBytesDigest", v)
		}
		return a.core("AppendBytes", v)
	case schema.Bool:
		return a.core("AppendBool", v)
	case schema.Enum32:
		return a.core("AppendEnum", "int32("+v+")")
	case schema.Int:
		if c.Signed {
			return a.core("AppendInt", as64("int64", c.Bits, v))
		}
		return a.core("AppendUint", as64("uint64", c.Bits, v))
	case schema.UUID:
		return a.core("AppendUUID", v)
	case schema.DecimalText:
		return a.core("AppendDecimal", v, maxScale)
	case schema.DecimalMessage:
		// An empty value is 0 here, and no decimal elsewhere. (TXT-008)
		orZero := a.t.name(cmpPackage.Ident("Or")) + "(" + v + `.GetValue(), "0")`
		return a.core("AppendDecimal", orZero, maxScale)
	case schema.Money:
		return a.core("AppendMoney", v+".GetCurrencyCode()", v+".GetUnits()", v+".GetNanos()")
	case schema.Timestamp:
		return a.core("AppendTimestamp", v+".GetSeconds()", v+".GetNanos()", digits)
	case schema.TimestampText:
		return a.core("AppendTimestampText", v, digits)
	case schema.TimestampEpoch:
		unit := a.t.idem(units[c.Unit])
		if c.Signed {
			return a.core("AppendTimestampEpoch", as64("int64", c.Bits, v), unit, digits)
		}
		return a.core("AppendTimestampEpochUint", as64("uint64", c.Bits, v), unit, digits)
	case schema.Duration:
		return a.core("AppendDuration", v+".GetSeconds()", v+".GetNanos()", digits)
	case schema.Date:
		return a.core("AppendDate", v+".GetYear()", v+".GetMonth()", v+".GetDay()")
	}
	panic("no call for " + c.Kind.String())
}

// units are the constants of the core.
var units = map[schema.Unit]string{
	"s": "UnitSeconds", "ms": "UnitMilliseconds", "us": "UnitMicroseconds", "ns": "UnitNanoseconds",
}

func (a *access) core(function string, args ...string) string {
	return a.t.idem(function) + "(dst, " + strings.Join(args, ", ") + ")"
}

func as64(to string, bits int, v string) string {
	if bits == 64 {
		return v
	}
	return to + "(" + v + ")"
}
