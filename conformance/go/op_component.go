package main

import (
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
)

var errIntRange error = &idem.Error{Code: idem.CodeIntRange, Offset: -1, Detail: "outside the declared type"}

func opComponent(in *object, out *output) error {
	v := decodeComponent(in, false)
	if !in.ok() {
		return errInput
	}
	return out.plain("text", func(dst []byte) ([]byte, error) { return appendWhole(dst, v) })
}

// decodeComponent decodes the one member that a component is.
func decodeComponent(in *object, inDigest bool) typed {
	if len(in.members) != 1 {
		in.bad = true
		return missingValue{}
	}
	switch name := in.members[0].name; name {
	case "string":
		return textValue(in.text(name))
	case "hex_utf8":
		return textValue(in.hex(name))
	case "utf16":
		return decodeUTF16(in)
	case "bytes":
		return bytesValue(in.hex(name))
	case "bool":
		return boolValue(in.need(name, kindBool).yes)
	case "enum":
		return intValue{"int32", in.integer(name)}
	case "int":
		return decodeInt(in)
	case "absent", "missing":
		in.bad = in.bad || !in.need(name, kindBool).yes
		if name == "absent" {
			return absentValue{}
		}
		return missingValue{}
	case "sha256":
		if inDigest {
			break
		}
		inner := in.child(name)
		v := digestValue{decodeComponent(&inner, true)}
		in.done(&inner)
		return v
	default:
		if decode, ok := nested[name]; ok {
			inner := in.child(name)
			v := decode(&inner)
			in.done(&inner)
			return v
		}
	}
	in.bad = true
	return missingValue{}
}

// nested are the operations whose inputs are components too.
var nested = map[string]func(*object) typed{
	"decimal":   decodeDecimal,
	"money":     decodeMoney,
	"timestamp": decodeTimestamp,
	"duration":  decodeDuration,
	"date":      decodeDate,
	"uuid":      decodeUUID,
}

type textValue string

func (v textValue) append(dst []byte) ([]byte, error) { return idem.AppendString(dst, string(v)) }

type bytesValue []byte

func (v bytesValue) append(dst []byte) ([]byte, error) { return idem.AppendBytes(dst, v), nil }

// chunk is small enough that the core, which stops behind the longest key, writes all of it.
const chunk = idem.MaxKeyLen / 4

// appendWhole appends a component of any length, piece by piece: a component alone has no limit.
func appendWhole(dst []byte, v typed) ([]byte, error) {
	switch v := v.(type) {
	case bytesValue:
		for len(v) > chunk {
			dst = idem.AppendBytes(dst, v[:chunk])
			v = v[chunk:]
		}
		return v.append(dst)
	case textValue:
		if !utf8.ValidString(string(v)) {
			return v.append(dst)
		}
		for len(v) > chunk {
			n := chunk
			for !utf8.RuneStart(v[n]) {
				n--
			}
			dst, _ = v[:n].append(dst)
			v = v[n:]
		}
		return v.append(dst)
	}
	return v.append(dst)
}

// decodeUTF16 turns code units into bytes; half a pair becomes bytes that are no UTF-8.
func decodeUTF16(in *object) typed {
	var text []byte
	list := in.list("utf16")
	units := make([]uint16, len(list))
	for i, v := range list {
		b, ok := parseHex(v.text)
		if v.kind != kindString || !ok || len(b) != 2 {
			in.bad = true
			return missingValue{}
		}
		units[i] = uint16(b[0])<<8 | uint16(b[1])
	}
	for i := 0; i < len(units); i++ {
		if units[i]-0xD800 < 0x400 && i+1 < len(units) && units[i+1]-0xDC00 < 0x400 {
			text = utf8.AppendRune(text, pair(units[i], units[i+1]))
			i++
			continue
		}
		text = appendHalf(text, units[i])
	}
	return textValue(text)
}

type boolValue bool

func (v boolValue) append(dst []byte) ([]byte, error) { return idem.AppendBool(dst, bool(v)), nil }

type intValue struct {
	protoType string
	n         integer
}

func decodeInt(in *object) typed {
	inner := in.child("int")
	v := intValue{inner.text("type"), inner.integer("value")}
	switch v.protoType {
	case "int32", "sint32", "sfixed32", "int64", "sint64", "sfixed64", "uint32", "fixed32", "uint64", "fixed64":
	default:
		inner.bad = true
	}
	in.done(&inner)
	return v
}

func (v intValue) append(dst []byte) ([]byte, error) {
	switch v.protoType {
	case "int32", "sint32", "sfixed32":
		if n, fits := v.n.int32(); fits {
			return idem.AppendInt(dst, int64(n)), nil
		}
	case "int64", "sint64", "sfixed64":
		if n, fits := v.n.int64(); fits {
			return idem.AppendInt(dst, n), nil
		}
	case "uint32", "fixed32":
		if n, fits := v.n.uint64(); fits && n < 1<<32 {
			return idem.AppendUint(dst, n), nil
		}
	default:
		if n, fits := v.n.uint64(); fits {
			return idem.AppendUint(dst, n), nil
		}
	}
	return dst, errIntRange
}

type absentValue struct{}

func (absentValue) append(dst []byte) ([]byte, error) { return idem.AppendAbsent(dst), nil }

type missingValue struct{}

func (missingValue) append(dst []byte) ([]byte, error) { return dst, idem.Missing("") }

type digestValue struct{ of typed }

func (v digestValue) append(dst []byte) ([]byte, error) {
	switch of := v.of.(type) {
	case textValue:
		return idem.AppendStringDigest(dst, string(of))
	case bytesValue:
		return idem.AppendBytesDigest(dst, of), nil
	case absentValue:
		return of.append(dst)
	}
	start := len(dst)
	dst, err := v.of.append(dst)
	if err != nil {
		return dst, err
	}
	return idem.DigestTail(dst, start), nil
}
