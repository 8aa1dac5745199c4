package conformance

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of what a port may write. The deepest shape of the protocol has six
// levels.
const maxDepth = 64

// The reader of JSON is our own, since encoding/json forgives what a verdict must not: it takes the
// last of two members of one name, writes U+FFFD for ill-formed text and half surrogate pairs, and
// matches names without case.

// kind is the type of a JSON value.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// value is one JSON value.
type value struct {
	kind kind
	// text is a string decoded, a number as it is written, or "true".
	text string
	// names are an object's, in the order of their bytes; elems its values or an array's.
	names []string
	elems []value
}

// parseJSON reads data as one JSON value.
func parseJSON(data []byte) (value, error) {
	s := scanner{data: data}
	v, err := s.value(0)
	if err != nil {
		return value{}, err
	}
	return v, s.end()
}

// appendCompact appends a JSON value, which must be one, without white space, its strings as they are
// written.
func appendCompact(dst, data []byte) []byte {
	inString := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inString && c == '\\':
			dst = append(dst, c)
			i++
			c = data[i]
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// equal reports whether two values are the same JSON value: members in any order, numbers by what
// they are worth, strings by their characters.
func (v value) equal(w value) bool {
	if v.kind != w.kind || len(v.elems) != len(w.elems) {
		return false
	}
	if v.kind == number {
		return v.text == w.text || sameNumber(v.text, w.text)
	}
	return v.text == w.text && slices.Equal(v.names, w.names) &&
		slices.EqualFunc(v.elems, w.elems, value.equal)
}

// appendCanonical appends the value as the digest of the bulk stream has it: no white space, members
// in the order of their names' bytes, and in strings only `"`, `\` and what is below U+0020 escaped.
func (v value) appendCanonical(dst []byte) []byte {
	switch v.kind {
	case null:
		return append(dst, "null"...)
	case boolean, number:
		return append(dst, v.text...)
	case text:
		return appendString(dst, v.text)
	case array:
		dst = append(dst, '[')
		for i, e := range v.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendCanonical(dst)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i, e := range v.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, v.names[i])
			dst = append(dst, ':')
			dst = e.appendCanonical(dst)
		}
		return append(dst, '}')
	}
}

// appendString appends s as a JSON string, with the short escapes where JSON has them.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}

// sameNumber compares two JSON numbers without rounding either.
func sameNumber(a, b string) bool {
	an, ad, ae, aok := splitNumber(a)
	bn, bd, be, bok := splitNumber(b)
	return aok && bok && an == bn && ad == bd && ae == be
}

// splitNumber takes a number apart into sign, digits without zeros at either end, and the exponent
// of the last digit. Zero has no digits, no sign and no exponent.
func splitNumber(s string) (negative bool, digits string, exponent int64, ok bool) {
	s, negative = strings.CutPrefix(s, "-")
	mantissa := s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.ParseInt(s[i+1:], 10, 32); err != nil {
			return false, "", 0, false
		}
		mantissa = s[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return false, "", 0, true
	}
	trimmed := strings.TrimRight(digits, "0")
	exponent += int64(len(digits)-len(trimmed)) - int64(len(fraction))
	return negative, trimmed, exponent, true
}

// scanner reads JSON strictly, from left to right.
type scanner struct {
	data []byte
	pos  int
	// halves is whether half a surrogate pair is U+FFFD instead of an error.
	halves bool
}

var errEnd = errors.New("the text ends within a value")

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("offset %d: "+format, append([]any{s.pos}, args...)...)
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return s.errorf("more text after the value")
	}
	return nil
}

// value reads a value whole.
func (s *scanner) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, s.errorf("more than %d levels", maxDepth)
	}
	switch c := s.peek(); c {
	case '{':
		return s.object(depth)
	case '[':
		v := value{kind: array}
		err := s.list('[', ']', func() error {
			e, err := s.value(depth + 1)
			v.elems = append(v.elems, e)
			return err
		})
		return v, err
	case '"':
		t, err := s.str()
		return value{kind: text, text: t}, err
	case 't':
		return value{kind: boolean, text: "true"}, s.word("true")
	case 'f':
		return value{kind: boolean, text: "false"}, s.word("false")
	case 'n':
		return value{kind: null}, s.word("null")
	default:
		n, err := s.number()
		return value{kind: number, text: n}, err
	}
}

func (s *scanner) object(depth int) (value, error) {
	type member struct {
		name  string
		value value
	}
	var members []member
	err := s.list('{', '}', func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		v, err := s.value(depth + 1)
		members = append(members, member{name, v})
		return err
	})
	if err != nil {
		return value{}, err
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	v := value{kind: object}
	for i, m := range members {
		if i > 0 && m.name == members[i-1].name {
			return value{}, s.errorf("two members %q", m.name)
		}
		v.names = append(v.names, m.name)
		v.elems = append(v.elems, m.value)
	}
	return v, nil
}

// list reads what stands between two brackets: elements, each read by elem, with commas between.
func (s *scanner) list(open, closing byte, elem func() error) error {
	if s.peek() != open {
		return s.errorf("no %q", open)
	}
	s.pos++
	if s.peek() == closing {
		s.pos++
		return nil
	}
	for {
		if err := elem(); err != nil {
			return err
		}
		switch c := s.peek(); {
		case c == ',':
			s.pos++
		case c == closing:
			s.pos++
			return nil
		case s.pos >= len(s.data):
			return s.errorf("%w", errEnd)
		default:
			return s.errorf("neither ',' nor %q", closing)
		}
	}
}

// name reads a member's name and the colon.
func (s *scanner) name() (string, error) {
	if s.peek() != '"' {
		return "", s.errorf("no member name in double quotes")
	}
	name, err := s.str()
	if err != nil {
		return "", err
	}
	if s.peek() != ':' {
		return "", s.errorf("no ':' after the name %q", name)
	}
	s.pos++
	return name, nil
}

// skip passes over a value, checks its syntax, and returns it as it is written. It does not see
// two members of one name, and with halves it lets half a surrogate pair pass.
func (s *scanner) skip(depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, s.errorf("more than %d levels", maxDepth)
	}
	c := s.peek()
	start := s.pos
	var err error
	switch c {
	case '{':
		err = s.list('{', '}', func() error {
			if _, err := s.name(); err != nil {
				return err
			}
			_, err := s.skip(depth + 1)
			return err
		})
	case '[':
		err = s.list('[', ']', func() error {
			_, err := s.skip(depth + 1)
			return err
		})
	case '"':
		_, err = s.raw()
	case 't':
		err = s.word("true")
	case 'f':
		err = s.word("false")
	case 'n':
		err = s.word("null")
	default:
		_, err = s.number()
	}
	return s.data[start:s.pos], err
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return s.errorf("no JSON value")
	}
	s.pos += len(w)
	return nil
}

// number reads a number and returns it as it is written.
func (s *scanner) number() (string, error) {
	start := s.pos
	digits := func() bool {
		from := s.pos
		for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
			s.pos++
		}
		return s.pos > from
	}
	at := func(set string) bool {
		if s.pos < len(s.data) && strings.IndexByte(set, s.data[s.pos]) >= 0 {
			s.pos++
			return true
		}
		return false
	}
	at("-")
	ok := at("0") || digits()
	if ok && at(".") {
		ok = digits()
	}
	if ok && at("eE") {
		at("+-")
		ok = digits()
	}
	if !ok {
		if s.pos >= len(s.data) {
			return "", s.errorf("%w", errEnd)
		}
		return "", s.errorf("no JSON value")
	}
	return string(s.data[start:s.pos]), nil
}

// raw passes over a string and reports whether it has escapes.
func (s *scanner) raw() (escaped bool, err error) {
	s.pos++
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return escaped, nil
		case c < 0x20:
			return false, s.errorf("a control character in a string")
		case c == '\\':
			escaped = true
			if _, err := s.escape(); err != nil {
				return false, err
			}
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n <= 1 {
				return false, s.errorf("ill-formed UTF-8")
			}
			s.pos += n
		}
	}
	return false, s.errorf("%w", errEnd)
}

// str reads a string and decodes it.
func (s *scanner) str() (string, error) {
	start := s.pos + 1
	escaped, err := s.raw()
	if err != nil {
		return "", err
	}
	body := s.data[start : s.pos-1]
	if !escaped {
		return string(body), nil
	}
	inner := scanner{data: body, halves: s.halves}
	var out []byte
	for inner.pos < len(body) {
		if body[inner.pos] != '\\' {
			out = append(out, body[inner.pos])
			inner.pos++
			continue
		}
		r, err := inner.escape()
		if err != nil {
			return "", err
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out), nil
}

// escape reads one escaped character, a surrogate pair whole.
func (s *scanner) escape() (rune, error) {
	if s.pos+1 >= len(s.data) {
		return 0, s.errorf("%w", errEnd)
	}
	c := s.data[s.pos+1]
	if c == 'u' {
		return s.unicodeEscape()
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return 0, s.errorf("an escape that JSON does not have")
	}
	s.pos += 2
	return rune("\"\\/\b\f\n\r\t"[i]), nil
}

func (s *scanner) unicodeEscape() (rune, error) {
	unit := func() (rune, bool) {
		rest := s.data[s.pos:]
		if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
			return 0, false
		}
		var r rune
		for _, c := range rest[2:6] {
			i := strings.IndexByte("0123456789abcdefABCDEF", c)
			if i < 0 {
				return 0, false
			}
			if i > 15 {
				i -= 6
			}
			r = r<<4 | rune(i)
		}
		return r, true
	}
	r, ok := unit()
	if !ok {
		return 0, s.errorf("no four hex digits after \\u")
	}
	if !utf16.IsSurrogate(r) {
		s.pos += 6
		return r, nil
	}
	s.pos += 6
	low, ok := unit()
	switch r = utf16.DecodeRune(r, low); {
	case ok && r != utf8.RuneError:
		s.pos += 6
		return r, nil
	case s.halves:
		return utf8.RuneError, nil
	default:
		return 0, s.errorf("half a surrogate pair")
	}
}
