package decode

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/dynamic"
)

// Binary reads a payload in protobuf's binary encoding. The error is an *Error; without one the payload is
// what proto.Unmarshal takes.
func (d *Decoder) Binary(p *Plan, payload []byte) error {
	d.reset(p)
	return d.binary(payload)
}

func (d *Decoder) binary(payload []byte) error {
	d.payload = payload
	if err := d.walk(d.plan.root, payload); err != nil {
		return err
	}
	if !d.plan.verify {
		return nil
	}
	return verified(d.unmarshal(payload))
}

// unmarshal asks protobuf's decoder. Of a map's key of another wire type the walk has the say.
func (d *Decoder) unmarshal(payload []byte) error {
	err := dynamic.Unmarshal(payload, dynamicpb.NewMessage(d.plan.Message.Desc))
	if err == dynamic.ErrMapKey {
		return nil
	}
	return err
}

// verified is what protobuf's decoder says, which for required fields and message sets are names alone.
func verified(err error) error {
	if err == nil {
		return nil
	}
	return &Error{-1, strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")}
}

// maxDepth is proto.Unmarshal's.
const maxDepth = protowire.DefaultRecursionLimit

var errKind = errors.New("another wire type") // the field is unknown, as in proto.Unmarshal

// walk walks a message.
func (d *Decoder) walk(n *node, b []byte) error {
	if d.depth++; d.depth > maxDepth {
		return d.fault(b, "messages are nested more than 10000 deep")
	}
	for len(b) > 0 {
		tag, size := uint64(b[0]), 1
		if tag >= 0x80 {
			if tag, size = protowire.ConsumeVarint(b); size < 0 {
				return d.fault(b, "a field's tag is cut off or too long")
			}
		}
		number, wire := protowire.Number(tag>>3), protowire.Type(tag&7)
		if tag>>3 < 1 || tag>>3 > uint64(protowire.MaxValidNumber) {
			return d.fault(b, "there is no field number %d", tag>>3)
		}
		at := b
		b = b[size:]
		f := n.lookup(number)
		if f != nil {
			used, err := d.field(n, f, wire, b)
			if err == nil {
				b = b[used:]
				continue
			}
			if err != errKind {
				return err
			}
		}
		used := protowire.ConsumeFieldValue(number, wire, b)
		if used < 0 {
			return d.fault(at, "the value of field %d is cut off or of no wire type", number)
		}
		b = b[used:]
		if f == nil && !n.desc.ExtensionRanges().Has(number) || f != nil {
			d.odd(Odd{What: UnknownField, In: n.desc, Name: numberName(number)})
		}
	}
	d.depth--
	return nil
}

// field reads a value of a known field, and says how long it is.
func (d *Decoder) field(n *node, f *field, wire protowire.Type, b []byte) (int, error) {
	if wire != f.wire {
		if f.list && wire == protowire.BytesType && f.wire != protowire.BytesType && f.wire != protowire.StartGroupType {
			return d.packed(n, f, b)
		}
		return 0, errKind
	}
	if f.clears != nil {
		for _, i := range f.clears {
			d.values[i] = value{}
		}
	}
	switch wire {
	case protowire.BytesType:
		length, size := uint64(0), 1
		if len(b) > 0 && b[0] < 0x80 {
			length = uint64(b[0])
		} else if length, size = protowire.ConsumeVarint(b); size < 0 {
			return 0, d.fault(b, "the length of %s is cut off or too long", f.desc.FullName())
		}
		if length > uint64(len(b)-size) {
			return 0, d.fault(b, "%s has %d bytes, and %d are there", f.desc.FullName(), length, len(b)-size)
		}
		end := size + int(length)
		return end, d.bytes(n, f, b[size:end])
	case protowire.StartGroupType:
		inner, used := protowire.ConsumeGroup(f.desc.Number(), b)
		if used < 0 {
			return 0, d.fault(b, "the group %s is cut off", f.desc.FullName())
		}
		return used, d.message(f, inner)
	}
	v, size := number(wire, b)
	if size < 0 {
		return 0, d.fault(b, "the value of %s is cut off or too long", f.desc.FullName())
	}
	d.number(n, f, v)
	return size, nil
}

// packed reads the numbers of a packed list.
func (d *Decoder) packed(n *node, f *field, b []byte) (int, error) {
	list, used := protowire.ConsumeBytes(b)
	if used < 0 {
		return 0, d.fault(b, "the list %s is cut off", f.desc.FullName())
	}
	for len(list) > 0 {
		v, size := number(f.wire, list)
		if size < 0 {
			return 0, d.fault(list, "a value of %s is cut off or too long", f.desc.FullName())
		}
		d.number(n, f, v)
		list = list[size:]
	}
	return used, nil
}

func number(wire protowire.Type, b []byte) (uint64, int) {
	switch wire {
	case protowire.Fixed32Type:
		v, size := protowire.ConsumeFixed32(b)
		return uint64(v), size
	case protowire.Fixed64Type:
		return protowire.ConsumeFixed64(b)
	}
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// number takes the bits of a number in.
func (d *Decoder) number(n *node, f *field, v uint64) {
	switch f.kind {
	case protoreflect.Int32Kind, protoreflect.EnumKind, protoreflect.Sfixed32Kind:
		v = uint64(int64(int32(v)))
	case protoreflect.Uint32Kind:
		v = uint64(uint32(v))
	case protoreflect.Sint32Kind:
		v = uint64(int64(int32(protowire.DecodeZigZag(v & 0xffffffff))))
	case protoreflect.Sint64Kind:
		v = uint64(protowire.DecodeZigZag(v))
	case protoreflect.BoolKind:
		if v != 0 {
			v = 1
		}
	}
	if f.enum != nil && !f.enum[int32(v)] {
		d.unknownEnum(n, f, fmt.Sprint(int32(v)))
	}
	if f.slot >= 0 {
		d.values[f.slot].put(f.part, v)
		if f.part == whole && !d.inWrapper(n) {
			d.values[f.slot].there = true
		}
	}
}

// inWrapper says that a node's one field is the value of a component: whether that is there the field
// around it says.
func (d *Decoder) inWrapper(n *node) bool { return n.mapped == wrapper }

func (d *Decoder) unknownEnum(n *node, f *field, name string) {
	if f.redacted {
		name = ""
	}
	d.odd(Odd{What: UnknownEnum, In: n.desc, Field: f.desc, Name: name, Redacted: f.redacted})
}

// bytes takes a string, bytes or a message in.
func (d *Decoder) bytes(n *node, f *field, b []byte) error {
	if f.node != nil {
		return d.message(f, b)
	}
	if f.utf8 && !utf8.Valid(b) {
		return d.fault(b, "the string %s is ill-formed UTF-8", f.desc.FullName())
	}
	if f.slot >= 0 {
		v := &d.values[f.slot]
		v.text = b
		if f.part == whole && !d.inWrapper(n) {
			v.there = true
		}
	}
	if f.text.kind != 0 {
		d.checkText(n, f, b)
	}
	return nil
}

func (d *Decoder) message(f *field, b []byte) error {
	if f.part == none && f.slot >= 0 {
		d.values[f.slot].there = true
	}
	for _, i := range f.node.leaves {
		d.values[i].parent = true
	}
	return d.walk(f.node, b)
}

// fault is an error at the beginning of b, which is a part of the payload.
func (d *Decoder) fault(b []byte, format string, args ...any) error {
	// All parts of a payload end where its memory ends.
	return &Error{cap(d.payload) - cap(b), fmt.Sprintf(format, args...)}
}
