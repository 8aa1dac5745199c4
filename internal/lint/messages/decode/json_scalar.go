package decode

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint/messages/jsonscan"
)

// timestamp reads a timestamp as protojson does.
func (w *jsonWalk) timestamp(f *field) bool {
	text, ok := w.String()
	if !ok {
		return false
	}
	s := str(text)
	t, err := time.Parse(time.RFC3339Nano, s)
	point, zone := strings.LastIndexByte(s, '.'), strings.LastIndexAny(s, "Z-+")
	if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 || point >= 0 && zone >= point && zone-point > len(".999999999") {
		return false
	}
	if f.slot >= 0 {
		v := &w.values[f.slot]
		v.n, v.nanos = uint64(t.Unix()), int32(t.Nanosecond())
	}
	return true
}

// scalar reads a value that is no message.
func (w *jsonWalk) scalar(n *node, f *field) bool {
	c := w.Peek()
	switch f.kind {
	case protoreflect.StringKind:
		return w.text(n, f, c)
	case protoreflect.BytesKind:
		return w.base64(n, f)
	case protoreflect.BoolKind:
		if c == 't' {
			w.numeric(n, f, 1)
			return w.Literal("true")
		}
		w.numeric(n, f, 0)
		return w.Literal("false")
	case protoreflect.EnumKind:
		if c == '"' {
			return w.enumName(n, f)
		}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		token, ok := w.Number()
		// Others, NaN among them, may be out of range.
		return ok && len(token) <= 30 && !bytes.ContainsAny(token, "eE")
	}
	return w.integer(n, f, c)
}

// text reads a string. A number in its place is taken as its text: what it was before is lost.
func (w *jsonWalk) text(n *node, f *field, c byte) bool {
	var text []byte
	var ok bool
	if c == '-' || c-'0' < 10 {
		if text, ok = w.Number(); ok {
			o := Odd{What: NumberText, In: n.desc, Field: f.desc, Kind: f.text.kind, Redacted: f.redacted}
			if !f.redacted {
				o.Value = string(text[:min(len(text), maxShown)])
			}
			w.odd(o)
		}
	} else {
		text, ok = w.String()
	}
	if !ok {
		return false
	}
	w.put(n, f, text)
	if f.text.kind != 0 && c == '"' {
		w.checkText(n, f, text)
	}
	return true
}

// put puts a text into its slot.
func (w *jsonWalk) put(n *node, f *field, text []byte) {
	if f.slot < 0 {
		return
	}
	v := &w.values[f.slot]
	v.text = text
	if f.part == whole && !w.inWrapper(n) {
		v.there = true
	}
}

// numeric puts a number into its slot.
func (w *jsonWalk) numeric(n *node, f *field, v uint64) {
	if f.slot < 0 {
		return
	}
	w.values[f.slot].put(f.part, v)
	if f.part == whole && !w.inWrapper(n) {
		w.values[f.slot].there = true
	}
}

// base64 reads bytes as protojson does.
func (w *jsonWalk) base64(n *node, f *field) bool {
	text, ok := w.String()
	if !ok {
		return false
	}
	encoding := base64.StdEncoding
	if bytes.ContainsAny(text, "-_") {
		encoding = base64.URLEncoding
	}
	if len(text)%4 != 0 {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	start := len(w.Text)
	made, err := encoding.AppendDecode(w.Text, text)
	if err != nil {
		return false
	}
	w.Text = made
	w.put(n, f, made[start:])
	return true
}

func (w *jsonWalk) enumName(n *node, f *field) bool {
	name, ok := w.String()
	if !ok {
		return false
	}
	v, known := f.names[string(name)]
	if !known {
		w.unknownEnum(n, f, string(name[:min(len(name), maxShown)]))
		return true // left out, as protojson does
	}
	w.numeric(n, f, uint64(int64(v)))
	return true
}

// maxExact is the largest integer up to which all are exact in a double.
const maxExact = 1 << 53

// integer reads an integer or the number of an enum, quoted or not.
func (w *jsonWalk) integer(n *node, f *field, c byte) bool {
	token, quoted := []byte(nil), c == '"'
	ok := false
	if quoted {
		token, ok = w.String()
		ok = ok && jsonscan.IsNumber(token)
	} else {
		token, ok = w.Number()
	}
	if !ok || quoted && f.kind == protoreflect.EnumKind {
		return false
	}
	o := Odd{What: Fraction, In: n.desc, Field: f.desc, Redacted: f.redacted}
	if !f.redacted {
		o.Value = string(token[:min(len(token), maxShown)])
	}
	if bytes.ContainsAny(token, ".eE") {
		w.odd(o)
		w.rare = true
		return true
	}
	v, magnitude, ok := parseInteger(token, f.kind)
	if !ok {
		w.rare = true // out of its range
		return true
	}
	if o.What = Unquoted; !quoted && magnitude > maxExact {
		w.odd(o)
	}
	if f.enum != nil && !f.enum[int32(v)] {
		w.unknownEnum(n, f, string(token))
	}
	w.numeric(n, f, v)
	return true
}

// parseInteger is an integer of a kind; false where it is out of range, or -0.
func parseInteger(token []byte, kind protoreflect.Kind) (v, magnitude uint64, ok bool) {
	negative := token[0] == '-'
	if negative {
		token = token[1:]
	}
	if len(token) > 19 {
		parsed, err := strconv.ParseUint(string(token), 10, 64)
		if err != nil {
			return 0, 0, false
		}
		magnitude = parsed
	} else {
		for _, c := range token {
			magnitude = magnitude*10 + uint64(c-'0')
		}
	}
	most, least := uint64(1<<63-1), uint64(1<<63)
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind, protoreflect.EnumKind:
		most, least = 1<<31-1, 1<<31
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		most, least = 1<<32-1, 0
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		most, least = 1<<64-1, 0
	}
	if negative {
		return -magnitude, magnitude, magnitude > 0 && magnitude <= least
	}
	return magnitude, magnitude, magnitude <= most
}
