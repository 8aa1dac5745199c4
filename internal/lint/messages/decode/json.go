package decode

import (
	"bytes"

	"google.golang.org/protobuf/reflect/protoreflect"

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
