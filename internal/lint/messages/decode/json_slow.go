package decode

import (
	"bytes"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

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

// jsonError keeps the place of a fault alone, and the name of a field that is there twice: protojson's words repeat
// the value.
func jsonError(payload []byte, err error) error {
	text := err.Error()
	e := &Error{-1, "it is no JSON of the message"}
	if _, place, ok := strings.Cut(text, "(line "); ok {
		place, why, _ := strings.Cut(place, "): ")
		e.What = repeated(why, e.What)
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

// repeated says which member is there twice, or the words for what else is wrong. The key of a map is a value, and
// not told.
func repeated(why, otherwise string) string {
	if name, is := strings.CutPrefix(why, "duplicate field "); is {
		return "the field " + name + " is there twice"
	}
	if strings.HasPrefix(why, "duplicate map key ") {
		return "a key of a map is there twice"
	}
	if _, oneof, is := strings.Cut(why, ", oneof "); is && strings.HasPrefix(why, "error parsing ") && strings.HasSuffix(oneof, " is already set") {
		return "two fields of the oneof " + strings.TrimSuffix(oneof, " is already set") + " are there"
	}
	return otherwise
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

// types are the messages and extensions of the schema, for what protojson resolves.
func (p *Plan) types() *dynamicpb.Types {
	p.once.Do(func() { p.resolver = typesOf(p.Message.Desc.ParentFile()) })
	return p.resolver
}
