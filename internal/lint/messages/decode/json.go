package decode

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/lint/messages/jsonscan"
)

// JSON reads a payload in protobuf's JSON mapping, without unknown fields being an error. The error is an
// *Error; without one the payload is what protojson takes, but for strings that are written as numbers, which
// are Odd.
//
// A walk reads what most payloads have. Where it meets anything else, protojson decides.
func (d *Decoder) JSON(p *Plan, payload []byte) error {
	d.reset(p)
	w := jsonWalk{Decoder: d, Scanner: jsonscan.Scanner{In: payload, Text: d.scratch}, rare: p.verify}
	w.Blanks()
	whole := w.object(p.root)
	w.Blanks()
	d.scratch = w.Text
	if whole && w.Pos == len(payload) && !w.rare {
		return nil
	}
	return d.slowJSON(payload)
}

// slowJSON reads a payload by protojson.
func (d *Decoder) slowJSON(payload []byte) error {
	odd := append([]Odd(nil), d.Odd...)
	m := dynamicpb.NewMessage(d.plan.Message.Desc)
	err := protojson.UnmarshalOptions{DiscardUnknown: true, Resolver: d.plan.types()}.Unmarshal(payload, m)
	if err != nil {
		return jsonError(payload, err)
	}
	binary, err := proto.Marshal(m)
	if err != nil {
		return verified(err)
	}
	d.reset(d.plan)
	if err := d.binary(binary); err != nil {
		return err
	}
	inJSON := odd[:0]
	for _, o := range odd {
		if o.What != NotCanonical && o.What != Invalid {
			inJSON = append(inJSON, o)
		}
	}
	for _, o := range d.Odd {
		if o.What == NotCanonical || o.What == Invalid {
			inJSON = append(inJSON, o)
		}
	}
	d.Odd = append(d.Odd[:0], inJSON...)
	return nil
}

// jsonError keeps the place of a fault alone: protojson's words repeat the value.
func jsonError(payload []byte, err error) error {
	text := err.Error()
	e := &Error{-1, "it is no JSON of the message"}
	if _, place, ok := strings.Cut(text, "(line "); ok {
		place, _, _ = strings.Cut(place, ")")
		line, column, _ := strings.Cut(place, ":")
		e.Offset = offset(payload, line, column)
	} else if strings.Contains(text, "unexpected EOF") {
		e.Offset = len(payload)
	} else if strings.Contains(text, "required field") {
		e.What = "a required field is missing"
	}
	if e.Offset == len(payload) {
		e.What = "the JSON is cut off"
	}
	return e
}

// offset is the byte of a line and a column, which counts characters.
func offset(payload []byte, line, column string) int {
	l, err := strconv.Atoi(line)
	c, err2 := strconv.Atoi(column)
	if err != nil || err2 != nil {
		return -1
	}
	at := 0
	for ; l > 1; l-- {
		at += bytes.IndexByte(payload[at:], '\n') + 1
	}
	for i := range string(payload[at:]) {
		if c--; c == 0 {
			return at + i
		}
	}
	return len(payload)
}

// jsonWalk is the walk of one payload.
type jsonWalk struct {
	*Decoder
	jsonscan.Scanner
	// rare says that there is something that protojson is to read.
	rare bool
}

// maxJSONDepth is how deep the walk goes.
const maxJSONDepth = 200

// object walks a message; false where it is no JSON that the walk knows.
func (w *jsonWalk) object(n *node) bool {
	if w.depth++; w.depth > maxJSONDepth || !w.Byte('{') {
		return false
	}
	var seen, oneofs uint64
	for first := true; ; first = false {
		w.Blanks()
		if first && w.Byte('}') {
			break
		}
		name, ok := w.String()
		if !ok || !w.Colon() {
			return false
		}
		f := n.json[string(name)]
		switch {
		case f == nil:
			ok = w.unknown(n, name)
		case f.index > 63 || seen>>f.index&1 == 1:
			w.rare = true // perhaps it is there twice
			ok = w.Skip()
		default:
			seen |= 1 << f.index
			ok = w.member(n, f, &oneofs)
		}
		if !ok {
			return false
		}
		w.Blanks()
		if w.Byte('}') {
			break
		}
		if !w.Byte(',') {
			return false
		}
	}
	w.depth--
	return true
}

func (w *jsonWalk) unknown(n *node, name []byte) bool {
	if len(name) > 0 && name[0] == '[' {
		w.rare = true // an extension
	} else {
		w.odd(Odd{What: UnknownField, In: n.desc, Name: string(name[:min(len(name), maxShown)])})
	}
	return w.Skip()
}

// member walks the value of a field.
func (w *jsonWalk) member(n *node, f *field, oneofs *uint64) bool {
	if w.Peek() == 'n' {
		if f.node != nil && f.node.mapped == special || f.enum != nil && f.desc.Enum().FullName() == "google.protobuf.NullValue" {
			w.rare = true
		}
		return w.Literal("null")
	}
	switch {
	case f.isMap:
		return w.entries(f)
	case f.list:
		return w.list(n, f)
	}
	if f.oneof >= 0 {
		if f.oneof > 63 || *oneofs>>f.oneof&1 == 1 {
			w.rare = true
		} else {
			*oneofs |= 1 << f.oneof
		}
	}
	return w.value(n, f)
}

func (w *jsonWalk) list(n *node, f *field) bool {
	if !w.Byte('[') {
		return false
	}
	w.Blanks()
	if w.Byte(']') {
		return true
	}
	for {
		if !w.value(n, f) {
			return false
		}
		w.Blanks()
		if w.Byte(']') {
			return true
		}
		if !w.Byte(',') {
			return false
		}
		w.Blanks()
	}
}

// entries walks a map with up to eight string keys, which can be compared.
func (w *jsonWalk) entries(f *field) bool {
	key, inner := f.node.lookup(1), f.node.lookup(2)
	if !w.Byte('{') || key.kind != protoreflect.StringKind {
		return false
	}
	var keys [8][]byte
	for i := 0; ; i++ {
		w.Blanks()
		if i == 0 && w.Byte('}') {
			return true
		}
		name, ok := w.String()
		if !ok || !w.Colon() || i == len(keys) {
			return false
		}
		for _, k := range keys[:i] {
			if bytes.Equal(k, name) {
				return false
			}
		}
		keys[i] = name
		if !w.value(f.node, inner) {
			return false
		}
		w.Blanks()
		if w.Byte('}') {
			return true
		}
		if !w.Byte(',') {
			return false
		}
	}
}

// value walks one value of a field.
func (w *jsonWalk) value(n *node, f *field) bool {
	if f.node == nil {
		return w.scalar(n, f)
	}
	if f.slot >= 0 {
		w.values[f.slot].there = true
	}
	for _, i := range f.node.leaves {
		w.values[i].parent = true
	}
	switch f.node.mapped {
	case timestamp:
		return w.timestamp(f)
	case wrapper:
		return w.scalar(f.node, f.node.wrapped)
	case special:
		w.rare = true
		return w.Skip()
	}
	return w.object(f.node)
}

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

// types are the messages and extensions of the schema, for what protojson resolves.
func (p *Plan) types() *dynamicpb.Types {
	p.once.Do(func() { p.resolver = typesOf(p.Message.Desc.ParentFile()) })
	return p.resolver
}
