package main

import (
	"errors"
	"unicode/utf8"
)

// The platform's decoder folds the case of member names and replaces half a surrogate pair. Both would
// hide what an input says, so this one reads JSON (RFC 8259) as it is.

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindList
	kindObject
)

// value is a JSON value. text is that of a string, or the digits of a number as they came.
type value struct {
	kind    kind
	yes     bool
	text    string
	list    []value
	members []member
}

type member struct {
	name  string
	value value
	used  bool
}

var errJSON = errors.New("a line is no JSON object")

// maxDepth is far deeper than any input.
const maxDepth = 32

type parser struct {
	s string
	i int
}

// parseJSON parses the one value that s is. Strings share memory with s where they have no escapes.
func parseJSON(s string) (value, error) {
	p := parser{s: s}
	v, ok := p.value(0)
	p.blanks()
	if !ok || p.i != len(s) {
		return value{}, errJSON
	}
	return v, nil
}

func (p *parser) blanks() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\r' || p.s[p.i] == '\n') {
		p.i++
	}
}

// next is the next byte that is no blank, 0 at the end.
func (p *parser) next() byte {
	p.blanks()
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

func (p *parser) word(w string) bool {
	if len(p.s)-p.i < len(w) || p.s[p.i:p.i+len(w)] != w {
		return false
	}
	p.i += len(w)
	return true
}

func (p *parser) value(depth int) (v value, ok bool) {
	if depth > maxDepth {
		return v, false
	}
	switch c := p.next(); c {
	case '{':
		v.kind = kindObject
		v.members, ok = p.object(depth)
	case '[':
		v.kind = kindList
		v.list, ok = p.array(depth)
	case '"':
		v.kind = kindString
		v.text, ok = p.string()
	case 't':
		v.kind, v.yes, ok = kindBool, true, p.word("true")
	case 'f':
		v.kind, ok = kindBool, p.word("false")
	case 'n':
		v.kind, ok = kindNull, p.word("null")
	default:
		v.kind = kindNumber
		v.text, ok = p.number()
	}
	return v, ok
}

func (p *parser) object(depth int) ([]member, bool) {
	p.i++
	if p.next() == '}' {
		p.i++
		return nil, true
	}
	members := make([]member, 0, 4)
	for {
		if p.next() != '"' {
			return nil, false
		}
		name, ok := p.string()
		if !ok || p.next() != ':' {
			return nil, false
		}
		p.i++
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		members = append(members, member{name: name, value: v})
		switch p.next() {
		case ',':
			p.i++
		case '}':
			p.i++
			return members, true
		default:
			return nil, false
		}
	}
}

func (p *parser) array(depth int) ([]value, bool) {
	p.i++
	if p.next() == ']' {
		p.i++
		return nil, true
	}
	list := make([]value, 0, 4)
	for {
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		switch p.next() {
		case ',':
			p.i++
		case ']':
			p.i++
			return list, true
		default:
			return nil, false
		}
	}
}

// number reads -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?.
func (p *parser) number() (string, bool) {
	start := p.i
	p.word("-")
	if !p.word("0") && !p.digits() {
		return "", false
	}
	if p.word(".") && !p.digits() {
		return "", false
	}
	if p.word("e") || p.word("E") {
		if !p.word("+") {
			p.word("-")
		}
		if !p.digits() {
			return "", false
		}
	}
	return p.s[start:p.i], true
}

func (p *parser) digits() bool {
	start := p.i
	for p.i < len(p.s) && p.s[p.i]-'0' < 10 {
		p.i++
	}
	return p.i > start
}

func (p *parser) string() (string, bool) {
	p.i++
	start := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return p.s[start : p.i-1], true
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", false
		}
		p.i++
	}
	return "", false
}

// escaped goes on with a string that has an escape at i.
func (p *parser) escaped(start int) (string, bool) {
	text := append(make([]byte, 0, 2*(p.i-start)+16), p.s[start:p.i]...)
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		switch {
		case c == '"':
			return string(text), true
		case c < 0x20:
			return "", false
		case c != '\\':
			text = append(text, c)
			continue
		}
		if p.i == len(p.s) {
			return "", false
		}
		c = p.s[p.i]
		p.i++
		switch c {
		case '"', '\\', '/':
			text = append(text, c)
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			unit, ok := p.unit()
			if !ok {
				return "", false
			}
			text = p.appendUnit(text, unit)
		default:
			return "", false
		}
	}
	return "", false
}

// unit reads four hex digits.
func (p *parser) unit() (uint16, bool) {
	if len(p.s)-p.i < 4 {
		return 0, false
	}
	unit, ok := hexUnit(p.s[p.i : p.i+4])
	p.i += 4
	return unit, ok
}

// appendUnit appends the character that a code unit begins. Half a pair becomes three bytes that are no
// UTF-8, so that the core refuses what the input should not have said.
func (p *parser) appendUnit(text []byte, unit uint16) []byte {
	if unit-0xD800 < 0x400 && len(p.s)-p.i >= 6 && p.s[p.i] == '\\' && p.s[p.i+1] == 'u' {
		if low, ok := hexUnit(p.s[p.i+2 : p.i+6]); ok && low-0xDC00 < 0x400 {
			p.i += 6
			return utf8.AppendRune(text, pair(unit, low))
		}
	}
	return appendHalf(text, unit)
}

func pair(high, low uint16) rune {
	return rune(high-0xD800)<<10 + rune(low-0xDC00) + 0x10000
}

// appendHalf appends a code unit as if it were a character.
func appendHalf(text []byte, unit uint16) []byte {
	if unit-0xD800 < 0x800 {
		return append(text, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0x3F|0x80, 0x80|byte(unit)&0x3F)
	}
	return utf8.AppendRune(text, rune(unit))
}

func hexUnit(s string) (unit uint16, ok bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c-'0' < 10:
			c -= '0'
		case c-'a' < 6:
			c -= 'a' - 10
		case c-'A' < 6:
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint16(c)
	}
	return unit, true
}
