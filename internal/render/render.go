// Package render computes the texts of a message's templates without generated code: from a Schema,
// a message of any implementation, and the core. It is what the command line shows, step by step; what
// generated code computes is the same by the vectors.
package render

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// Step is one segment of a template.
type Step struct {
	// Segment is the segment as the template has it.
	Segment string `json:"segment"`
	// Kind says how a placeholder's value becomes text; "literal" for a literal.
	Kind string `json:"kind"`
	// Value is the field's value for people. It is empty for a literal, and where no one may read it.
	Value string `json:"value,omitempty"`
	// Canonical is the canonical text of chapter 2, empty where no one may read it.
	Canonical string `json:"canonical,omitempty"`
	// Absent, Digest and Redacted say that the component is `~`, that it is a digest, and that the field
	// is marked debug_redact.
	Absent   bool `json:"absent,omitempty"`
	Digest   bool `json:"digest,omitempty"`
	Redacted bool `json:"redacted,omitempty"`
	// Component is what stands in the text.
	Component string `json:"component"`
	// Error is the code where there is no component.
	Error string `json:"error,omitempty"`
}

// Template renders a template. Where a component fails it returns the steps up to it, the last of them
// with the code, and an *idem.Error that names the field; the length of the whole is the caller's to
// check.
func Template(t *schema.Template, m protoreflect.Message) ([]byte, []Step, error) {
	var text []byte
	var steps []Step
	for i, segment := range t.Segments {
		if i > 0 {
			text = append(text, ':')
		}
		step := Step{Segment: segment.Literal, Kind: "literal", Component: segment.Literal}
		if segment.Component != nil {
			var err error
			if step, err = component(segment.Component, m); err != nil {
				step.Error = string(idem.CodeOf(err))
				return nil, append(steps, step), err
			}
		}
		steps = append(steps, step)
		text = append(text, step.Component...)
	}
	return text, steps, nil
}

// Key renders an idempotency key, or the one before.
func Key(t *schema.Template, m protoreflect.Message) (string, []Step, error) {
	return finish(t, m, idem.FinishKey)
}

// BizKey renders a biz key.
func BizKey(t *schema.Template, m protoreflect.Message) (string, []Step, error) {
	return finish(t, m, idem.FinishBizKey)
}

// Fingerprint renders the text of a fingerprint and hashes it.
func Fingerprint(t *schema.Template, m protoreflect.Message) (string, []Step, error) {
	return finish(t, m, func(dst []byte, start int) ([]byte, error) {
		return idem.FinishFingerprint(dst, start, idem.TemplateHash(t.Text))
	})
}

func finish(t *schema.Template, m protoreflect.Message, end func([]byte, int) ([]byte, error)) (string, []Step, error) {
	text, steps, err := Template(t, m)
	if err == nil {
		text, err = end(text, 0)
	}
	return string(text), steps, err
}

// component renders one component. (KEY-001 to KEY-006)
func component(c *schema.Component, m protoreflect.Message) (Step, error) {
	step := Step{Segment: "{" + c.Name + "}", Kind: c.Kind.String(), Digest: c.Digest, Redacted: c.Redacted}
	v, state := walk(c, m)
	switch {
	case state == unset && c.AllowMissing:
		step.Absent, step.Digest = true, false
		step.Component = string(idem.AppendAbsent(nil))
		return step, nil
	case state == unset:
		return step, idem.Missing(c.Name)
	}
	if !c.Redacted {
		step.Value = show(c, v)
	}
	if state == zero && !c.AllowMissing {
		return step, idem.Missing(c.Name)
	}
	text, err := canonical(c, v)
	if err != nil {
		if c.Redacted {
			err = idem.Redacted(err)
		}
		return step, idem.InField(err, c.Name)
	}
	if !c.Redacted {
		step.Canonical = text
	}
	switch {
	case c.Digest:
		step.Component = string(idem.AppendDigest(nil, text))
	case c.Kind == schema.String:
		escaped, err := idem.AppendString(nil, text)
		if err != nil {
			return step, idem.InField(err, c.Name)
		}
		step.Component = string(escaped)
	default:
		step.Component = text // nothing in it is to be escaped, or it is a timestamp
	}
	return step, nil
}

// presence is what there is of a component's field.
type presence int

const (
	set presence = iota
	zero
	unset
)

// walk follows the path to the leaf's value, that of a wrapper unwrapped.
func walk(c *schema.Component, m protoreflect.Message) (protoreflect.Value, presence) {
	for _, field := range c.Path[:len(c.Path)-1] {
		if !m.Has(field) {
			return protoreflect.Value{}, unset
		}
		m = m.Get(field).Message()
	}
	leaf := c.Leaf()
	if !m.Has(leaf) {
		if c.HasPresence {
			return protoreflect.Value{}, unset
		}
		return m.Get(leaf), zero
	}
	v := m.Get(leaf)
	if c.Wrapper {
		v = field(v.Message(), "value")
	}
	return v, set
}

// field returns the value of a field of a well-known message by its name.
func field(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

// canonical returns the canonical text of a value: before it is escaped, before its digest.
func canonical(c *schema.Component, v protoreflect.Value) (string, error) {
	var text []byte
	var err error
	switch c.Kind {
	case schema.String:
		text = []byte(v.String())
		_, err = idem.AppendString(nil, v.String()) // checks the whole of it
	case schema.Bytes:
		return fmt.Sprintf("%x", v.Bytes()), nil
	case schema.Bool:
		text = idem.AppendBool(nil, v.Bool())
	case schema.Enum32:
		text = idem.AppendEnum(nil, int32(v.Enum()))
	case schema.Int:
		if c.Signed {
			text = idem.AppendInt(nil, v.Int())
		} else {
			text = idem.AppendUint(nil, v.Uint())
		}
	case schema.UUID:
		text, err = idem.AppendUUID(nil, v.String())
	case schema.DecimalText:
		text, err = idem.AppendDecimal(nil, v.String(), c.MaxScale)
	case schema.DecimalMessage:
		s := field(v.Message(), "value").String()
		if s == "" {
			s = "0" // TXT-008
		}
		text, err = idem.AppendDecimal(nil, s, c.MaxScale)
	case schema.Money:
		m := v.Message()
		text, err = idem.AppendMoney(nil, field(m, "currency_code").String(), field(m, "units").Int(), int32(field(m, "nanos").Int()))
	case schema.Timestamp:
		m := v.Message()
		text, err = idem.AppendTimestamp(nil, field(m, "seconds").Int(), int32(field(m, "nanos").Int()), c.Digits)
	case schema.TimestampText:
		text, err = idem.AppendTimestampText(nil, v.String(), c.Digits)
	case schema.TimestampEpoch:
		if c.Signed {
			text, err = idem.AppendTimestampEpoch(nil, v.Int(), units[c.Unit], c.Digits)
		} else {
			text, err = idem.AppendTimestampEpochUint(nil, v.Uint(), units[c.Unit], c.Digits)
		}
	case schema.Duration:
		m := v.Message()
		text, err = idem.AppendDuration(nil, field(m, "seconds").Int(), int32(field(m, "nanos").Int()), c.Digits)
	case schema.Date:
		m := v.Message()
		text, err = idem.AppendDate(nil, int32(field(m, "year").Int()), int32(field(m, "month").Int()), int32(field(m, "day").Int()))
	default:
		return "", fmt.Errorf("%s has %s", c.Name, c.Kind)
	}
	return string(text), err
}

var units = map[schema.Unit]idem.Unit{
	"s": idem.UnitSeconds, "ms": idem.UnitMilliseconds, "us": idem.UnitMicroseconds, "ns": idem.UnitNanoseconds,
}

// show is a value for people.
func show(c *schema.Component, v protoreflect.Value) string {
	switch x := v.Interface().(type) {
	case string:
		return strconv.QuoteToGraphic(x)
	case []byte:
		return fmt.Sprintf("%d bytes", len(x))
	case protoreflect.EnumNumber:
		if d := c.Leaf().Enum().Values().ByNumber(x); d != nil {
			return fmt.Sprintf("%s (%d)", d.Name(), x)
		}
		return strconv.Itoa(int(x))
	case protoreflect.Message:
		text := ""
		fields := x.Descriptor().Fields()
		for i := range fields.Len() {
			if d := fields.Get(i); x.Has(d) {
				if text != "" {
					text += " "
				}
				text += fmt.Sprintf("%s:%v", d.Name(), x.Get(d).Interface())
			}
		}
		return "{" + text + "}"
	default:
		return fmt.Sprint(x)
	}
}
