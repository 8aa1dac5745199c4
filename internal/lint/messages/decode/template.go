package decode

import (
	"errors"
	"unsafe"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// Template is a template of a plan.
type Template struct {
	// Schema is what it was compiled from.
	Schema *schema.Template
	// Redacted says that a component of it is a digest of what nobody may see.
	Redacted bool
	// hash is the first half of fingerprints.
	hash  uint32
	parts []Part
}

// Part is a segment: a literal, or a component.
type Part struct {
	literal   string
	component *schema.Component
	slot      int
}

func (c *compiler) template(t *schema.Template) *Template {
	if t == nil {
		return nil
	}
	made := &Template{Schema: t, hash: idem.TemplateHash(t.Text)}
	for _, s := range t.Segments {
		p := Part{literal: s.Literal, component: s.Component}
		if s.Component != nil {
			p.slot = c.slot(s.Component)
			made.Redacted = made.Redacted || s.Component.Redacted
		}
		made.parts = append(made.parts, p)
	}
	return made
}

// AppendKey appends the template's text as an idempotency key. (KEY-010, KEY-011)
func (d *Decoder) AppendKey(dst []byte, t *Template) ([]byte, error) {
	start := len(dst)
	dst, err := d.append(dst, t)
	if err != nil {
		return dst, err
	}
	return idem.FinishKey(dst, start)
}

// AppendBizKey appends the template's text as a biz key. (KEY-013)
func (d *Decoder) AppendBizKey(dst []byte, t *Template) ([]byte, error) {
	start := len(dst)
	dst, err := d.append(dst, t)
	if err != nil {
		return dst, err
	}
	return idem.FinishBizKey(dst, start)
}

// AppendFingerprint appends the template's fingerprint. (HASH-030)
func (d *Decoder) AppendFingerprint(dst []byte, t *Template) ([]byte, error) {
	start := len(dst)
	dst, err := d.append(dst, t)
	if err != nil {
		return dst, err
	}
	return idem.FinishFingerprint(dst, start, t.hash)
}

// AppendOccurredAt appends the text of occurred_at; false where its field is missing. (HDR-021)
func (d *Decoder) AppendOccurredAt(dst []byte) ([]byte, bool, error) {
	p := d.plan.OccurredAt
	v := &d.values[p.slot]
	if d.missing(p.component, v) != there {
		return dst, false, nil
	}
	dst, err := appendCanonical(dst, p.component, v)
	return dst, true, inField(p.component, err)
}

// The range of a google.protobuf.Timestamp. (TXT-022)
const (
	minSeconds = -62135596800
	maxSeconds = 253402300799
	maxNanos   = 999999999
)

// OccurredAtSound says that AppendOccurredAt has no error, where that is plain to see.
func (d *Decoder) OccurredAtSound() bool {
	p := d.plan.OccurredAt
	if p == nil {
		return true
	}
	v := &d.values[p.slot]
	seconds := int64(v.n)
	return p.component.Kind == schema.Timestamp && minSeconds <= seconds && seconds <= maxSeconds && 0 <= v.nanos && v.nanos <= maxNanos
}

func (d *Decoder) append(dst []byte, t *Template) ([]byte, error) {
	for i := range t.parts {
		if i > 0 {
			dst = append(dst, ':')
		}
		p := &t.parts[i]
		if p.component == nil {
			dst = append(dst, p.literal...)
			continue
		}
		var err error
		if dst, err = d.component(dst, p); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// component appends a component. (KEY-001 to KEY-006)
func (d *Decoder) component(dst []byte, p *Part) ([]byte, error) {
	c, v := p.component, &d.values[p.slot]
	switch d.missing(c, v) {
	case unset:
		if !c.AllowMissing {
			return dst, idem.Missing(c.Name)
		}
		return idem.AppendAbsent(dst), nil
	case zero:
		if !c.AllowMissing {
			return dst, idem.Missing(c.Name)
		}
	}
	start := len(dst)
	var err error
	switch {
	case c.Digest && c.Kind == schema.String:
		dst, err = idem.AppendStringDigest(dst, str(v.text))
	case c.Digest && c.Kind == schema.Bytes:
		dst = idem.AppendBytesDigest(dst, v.text)
	case c.Digest:
		if dst, err = appendCanonical(dst, c, v); err == nil {
			dst = idem.DigestTail(dst, start)
		}
	default:
		dst, err = appendCanonical(dst, c, v)
	}
	if err != nil {
		return dst, inField(c, err)
	}
	return dst, nil
}

func inField(c *schema.Component, err error) error {
	if err == nil {
		return nil
	}
	if c.Redacted {
		err = idem.Redacted(err)
	}
	return idem.InField(err, c.Name)
}

// presence is what there is of a component.
type presence uint8

const (
	there presence = iota
	zero
	unset
)

func (d *Decoder) missing(c *schema.Component, v *value) presence {
	switch {
	case c.HasPresence && v.there:
		return there
	case c.HasPresence || !v.parent:
		return unset
	case v.zero():
		return zero
	}
	return there
}

// appendCanonical appends the canonical text of chapter 2, escaped where it is a string.
func appendCanonical(dst []byte, c *schema.Component, v *value) ([]byte, error) {
	switch c.Kind {
	case schema.String:
		return idem.AppendString(dst, str(v.text))
	case schema.Bytes:
		return idem.AppendBytes(dst, v.text), nil
	case schema.Bool:
		return idem.AppendBool(dst, v.n != 0), nil
	case schema.Enum32:
		return idem.AppendEnum(dst, int32(v.n)), nil
	case schema.Int:
		if c.Signed {
			return idem.AppendInt(dst, int64(v.n)), nil
		}
		return idem.AppendUint(dst, v.n), nil
	case schema.UUID:
		return idem.AppendUUID(dst, str(v.text))
	case schema.DecimalText:
		return idem.AppendDecimal(dst, str(v.text), c.MaxScale)
	case schema.DecimalMessage:
		if len(v.text) == 0 { // TXT-008
			return append(dst, '0'), nil
		}
		return idem.AppendDecimal(dst, str(v.text), c.MaxScale)
	case schema.Money:
		return idem.AppendMoney(dst, str(v.text), int64(v.n), v.nanos)
	case schema.Timestamp:
		return idem.AppendTimestamp(dst, int64(v.n), v.nanos, c.Digits)
	case schema.TimestampText:
		return idem.AppendTimestampText(dst, str(v.text), c.Digits)
	case schema.TimestampEpoch:
		if c.Signed {
			return idem.AppendTimestampEpoch(dst, int64(v.n), units[c.Unit], c.Digits)
		}
		return idem.AppendTimestampEpochUint(dst, v.n, units[c.Unit], c.Digits)
	case schema.Duration:
		return idem.AppendDuration(dst, int64(v.n), v.nanos, c.Digits)
	case schema.Date:
		return idem.AppendDate(dst, int32(v.n), v.nanos, v.day)
	}
	return dst, errors.New(c.Name + " has " + c.Kind.String())
}

var units = map[schema.Unit]idem.Unit{
	"s": idem.UnitSeconds, "ms": idem.UnitMilliseconds, "us": idem.UnitMicroseconds, "ns": idem.UnitNanoseconds,
}

// str reads bytes as a string without a copy. The core keeps nothing of what it is given: an error has a
// quoted copy.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
