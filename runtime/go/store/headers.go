package store

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// maxHeaderText is what a column of text holds in PostgreSQL, and more than any broker's message.
const maxHeaderText = 1 << 30

// EncodeHeaders is the text of headers in a database, which an operator can read and every language writes
// alike: a JSON array of pairs, in order.
//
//	[["event_type","payments.failed"],["note",null],["blob",{"base64":"/wA="}],["n",{"integer":"7"}]]
//
// Base64 stands for bytes that are not UTF-8 or have a NUL, which a column of text cannot hold; a name of
// such bytes has the same form. An integer is that of an AMQP table. What is longer than a gibibyte is
// refused by DecodeHeaders, and by databases.
func EncodeHeaders(headers idem.Headers) string {
	size := len("[]")
	for i := range headers {
		size += len(headers[i].Name) + len(headers[i].Value) + len(`["",""],`)
	}
	dst := append(make([]byte, 0, size), '[')
	for i := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		h := &headers[i]
		dst = append(dst, '[')
		dst = appendText(dst, h.Name)
		dst = append(dst, ',')
		switch {
		case h.Value == nil:
			dst = append(dst, "null"...)
		case h.Integer && isInteger(h.Value):
			dst = append(dst, `{"integer":"`...)
			dst = append(dst, h.Value...)
			dst = append(dst, `"}`...)
		default:
			dst = appendText(dst, h.Value)
		}
		dst = append(dst, ']')
	}
	return string(append(dst, ']'))
}

// isInteger says whether a value is what an AMQP integer reads as.
func isInteger(v []byte) bool {
	if len(v) > 0 && v[0] == '-' {
		v = v[1:]
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(v) > 0
}

func appendText[T string | []byte](dst []byte, text T) []byte {
	if !isText(text) {
		dst = append(dst, `{"base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, []byte(text))
		return append(dst, `"}`...)
	}
	dst = append(dst, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// isText says that a value is UTF-8 without a NUL.
func isText[T string | []byte](text T) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == 0 {
			return false
		}
		if text[i] >= utf8.RuneSelf {
			return utf8.ValidString(string(text)) && !hasNUL(text[i:])
		}
	}
	return true
}

func hasNUL[T string | []byte](text T) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == 0 {
			return true
		}
	}
	return false
}

// DecodeHeaders is the inverse of EncodeHeaders. It reads any JSON of that shape, whatever its blanks and
// escapes, and refuses everything else, naming the byte; what it needs of memory is in proportion to the
// text. No headers are nil.
func DecodeHeaders(text string) (idem.Headers, error) {
	if len(text) > maxHeaderText {
		return nil, fmt.Errorf("decode headers: %d bytes are over the limit of %d", len(text), maxHeaderText)
	}
	s := headerScanner{text: text}
	headers, err := s.headers()
	if err != nil {
		return nil, fmt.Errorf("decode headers: byte %d: %w", s.at, err)
	}
	return headers, nil
}

// headerScanner reads the one shape of JSON that headers have.
type headerScanner struct {
	text string
	at   int
}

func (s *headerScanner) headers() (idem.Headers, error) {
	if err := s.want('['); err != nil {
		return nil, err
	}
	var headers idem.Headers
	for more := !s.take(']'); more; {
		h, err := s.pair()
		if err != nil {
			return nil, err
		}
		headers = append(headers, h)
		if more = s.take(','); !more {
			if err := s.want(']'); err != nil {
				return nil, err
			}
		}
	}
	if s.blanks(); s.at < len(s.text) {
		return nil, errors.New("something follows the array")
	}
	return headers, nil
}

func (s *headerScanner) pair() (h idem.Header, err error) {
	if err = s.want('['); err != nil {
		return h, err
	}
	name, integer, err := s.value()
	if err != nil {
		return h, err
	}
	if name == nil || integer {
		return h, errors.New("a name is text, or base64")
	}
	h.Name = string(name)
	if err = s.want(','); err != nil {
		return h, err
	}
	if h.Value, h.Integer, err = s.value(); err != nil {
		return h, err
	}
	return h, s.want(']')
}

// value reads null, a string, {"base64":"..."} or {"integer":"..."}.
func (s *headerScanner) value() (value []byte, integer bool, err error) {
	s.blanks()
	if len(s.text)-s.at >= len("null") && s.text[s.at:s.at+len("null")] == "null" {
		s.at += len("null")
		return nil, false, nil
	}
	if !s.take('{') {
		value, err = s.str()
		return value, false, err
	}
	kind, err := s.str()
	if err != nil {
		return nil, false, err
	}
	if err := s.want(':'); err != nil {
		return nil, false, err
	}
	if value, err = s.str(); err != nil {
		return nil, false, err
	}
	switch string(kind) {
	case "base64":
		decoded, bad := base64.StdEncoding.Strict().DecodeString(string(value))
		if bad != nil {
			return nil, false, fmt.Errorf("no base64: %w", bad)
		}
		value = decoded
	case "integer":
		if integer = true; !isInteger(value) {
			return nil, false, errors.New("an integer is digits in base 10")
		}
	default:
		return nil, false, fmt.Errorf("no value is a %q: base64 and integer are", kind)
	}
	return value, integer, s.want('}')
}

// str reads a string. It is not nil.
func (s *headerScanner) str() ([]byte, error) {
	if err := s.want('"'); err != nil {
		return nil, err
	}
	end := s.at
	for end < len(s.text) && s.text[end] != '"' && s.text[end] != '\\' && s.text[end] >= 0x20 {
		end++
	}
	out := append(make([]byte, 0, end-s.at), s.text[s.at:end]...)
	for s.at = end; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			if !utf8.Valid(out) {
				return nil, errors.New("a string is not UTF-8")
			}
			s.at++
			return out, nil
		case c < 0x20:
			return nil, errors.New("a control character in a string")
		case c != '\\':
			out = append(out, c)
		default:
			s.at++
			var err error
			if out, err = s.escape(out); err != nil {
				return nil, err
			}
		}
	}
	return nil, errors.New("a string does not end")
}

// escape reads what follows a backslash, and stays at its last byte.
func (s *headerScanner) escape(out []byte) ([]byte, error) {
	if s.at == len(s.text) {
		return nil, errors.New("a string does not end")
	}
	switch c := s.text[s.at]; c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
		r, ok := s.unit(s.at + 1)
		if !ok {
			return nil, errors.New(`four hex digits follow \u`)
		}
		s.at += 4
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(out, r), nil
		}
		if low, ok := s.unit(s.at + 3); ok && s.text[s.at+1] == '\\' && s.text[s.at+2] == 'u' {
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				s.at += 6
				return utf8.AppendRune(out, r), nil
			}
		}
		return nil, errors.New("half of a surrogate pair")
	default:
		return nil, fmt.Errorf("no escape is %q", c)
	}
}

// unit reads four hex digits.
func (s *headerScanner) unit(at int) (rune, bool) {
	if len(s.text) < at+4 {
		return 0, false
	}
	for _, c := range []byte(s.text[at : at+4]) { // ParseUint would take a sign or a _
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(s.text[at:at+4], 16, 32)
	return rune(v), err == nil
}

func (s *headerScanner) blanks() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\n' || s.text[s.at] == '\r') {
		s.at++
	}
}

func (s *headerScanner) take(c byte) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *headerScanner) want(c byte) error {
	if !s.take(c) {
		return fmt.Errorf("%q is missing", c)
	}
	return nil
}
