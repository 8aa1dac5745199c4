package decode

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// Decoder reads payloads, one after the other, and reuses its memory. It is not for several goroutines.
type Decoder struct {
	plan   *Plan
	values []value
	// Odd is what is odd about the last payload.
	Odd []Odd
	// scratch is the memory of texts that are not in the payload as they are.
	scratch []byte
	text    []byte
	seen    []uint64
	depth   int
	// payload is what is walked, for offsets.
	payload []byte
}

// Oddity is what is odd about a value.
type Oddity uint8

// What a payload can be odd about, while it still is the message.
const (
	UnknownField Oddity = iota
	UnknownEnum
	NotCanonical // a decimal, timestamp or UUID with another canonical text
	Invalid      // a string that is no decimal, timestamp or UUID, though it has the option
	Fraction     // an integer with a point or an exponent, in JSON
	Unquoted     // an integer beyond 2^53 that is a JSON number
	NumberText   // a string that is a number in JSON
)

// Odd is one oddity.
type Odd struct {
	What Oddity
	// In is the message, and Field its field; nil where the field is unknown.
	In    protoreflect.MessageDescriptor
	Field protoreflect.FieldDescriptor
	// Name is the name or the number of an unknown field, or of an unknown value of an enum.
	Name string
	// Kind is the kind of text of NotCanonical and Invalid.
	Kind schema.Kind
	// Value is the value, and Canonical what it should be; empty where nobody may see them.
	Value, Canonical string
	// Err says why it is Invalid.
	Err error
	// Redacted says that nobody may see the value.
	Redacted bool
}

// maxOdd bounds what is remembered of one payload: a hostile one has millions.
const maxOdd = 16

func (d *Decoder) odd(o Odd) {
	if len(d.Odd) < maxOdd {
		d.Odd = append(d.Odd, o)
	}
}

// Error says why a payload is no message. It tells no value of it.
type Error struct {
	// Offset is the first byte that does not fit, -1 where it is not known.
	Offset int
	// What does not fit.
	What string
}

// Error is "at byte 17: the string is ill-formed UTF-8".
func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.What
	}
	return fmt.Sprintf("at byte %d: %s", e.Offset, e.What)
}

// reset makes the decoder ready for a payload of a plan.
func (d *Decoder) reset(p *Plan) {
	d.plan = p
	if cap(d.values) < len(p.slots) {
		d.values = make([]value, len(p.slots))
	}
	d.values = d.values[:len(p.slots)]
	clear(d.values)
	d.Odd, d.scratch, d.depth = d.Odd[:0], d.scratch[:0], 0
	for _, i := range p.root.leaves {
		d.values[i].parent = true
	}
}

// checkText looks at a string with an option of idem.
func (d *Decoder) checkText(n *node, f *field, text []byte) {
	if len(text) == 0 && !f.desc.HasPresence() {
		return // it is not set
	}
	var err error
	s := str(text)
	switch f.text.kind {
	case schema.DecimalText:
		if plainDecimal(text, f.text.scale) {
			return
		}
		d.text, err = idem.AppendDecimal(d.text[:0], s, f.text.scale)
	case schema.TimestampText:
		d.text, err = idem.AppendTimestampText(d.text[:0], s, fractionDigits(text))
	default:
		d.text, err = idem.AppendUUID(d.text[:0], s)
	}
	o := Odd{What: NotCanonical, In: n.desc, Field: f.desc, Kind: f.text.kind, Redacted: f.redacted}
	switch {
	case err != nil:
		o.What, o.Err = Invalid, err
		if f.redacted {
			o.Err = idem.Redacted(err)
		}
	case string(d.text) == s:
		return
	}
	if !f.redacted {
		o.Value = string(text[:min(len(text), maxShown)])
		if err == nil {
			o.Canonical = string(d.text)
		}
	}
	d.odd(o)
}

// maxShown is more than is shown of a value.
const maxShown = 256

// plainDecimal says of many canonical decimals that they are: up to 15 digits with a point or none.
func plainDecimal(s []byte, scale int) bool {
	if len(s) == 0 || len(s) > 16 || s[0] == '0' && len(s) > 1 && s[1] != '.' {
		return false
	}
	point := -1
	for i, c := range s {
		switch {
		case c-'0' < 10:
		case c == '.' && point < 0 && i > 0:
			point = i
		default:
			return false
		}
	}
	if point < 0 {
		return true
	}
	digits := len(s) - point - 1
	return digits > 0 && s[len(s)-1] != '0' && (scale < 0 || digits <= scale)
}

// fractionDigits is how many digits of a second a timestamp has.
func fractionDigits(s []byte) int {
	const seconds = len("2025-01-01T04:00:00.")
	if len(s) < seconds || s[seconds-1] != '.' {
		return 0
	}
	n := 0
	for n < 9 && seconds+n < len(s) && s[seconds+n]-'0' < 10 {
		n++
	}
	return n
}

// numberName is the name of an unknown field.
func numberName(n protowire.Number) string { return fmt.Sprint(int32(n)) }
