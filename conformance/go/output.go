package main

import (
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// output appends the members of an output to an answer.
type output struct {
	line  []byte
	later bool // a member was written
}

// name begins a member.
func (out *output) name(name string) {
	if out.later {
		out.line = append(out.line, ',')
	}
	out.later = true
	out.line = appendJSONString(out.line, name)
	out.line = append(out.line, ':')
}

func (out *output) text(name, text string) {
	out.name(name)
	out.line = appendJSONString(out.line, text)
}

func (out *output) integer(name string, v int64) {
	out.name(name)
	out.line = appendQuotedInt(out.line, v)
}

// plain writes text that needs no escape, made in place.
func (out *output) plain(name string, make func(dst []byte) ([]byte, error)) error {
	out.name(name)
	line, err := make(append(out.line, '"'))
	if err != nil {
		return err
	}
	out.line = append(line, '"')
	return nil
}

func (out *output) integers(name string, list []int32) {
	out.name(name)
	out.line = append(out.line, '[')
	for i, v := range list {
		if i > 0 {
			out.line = append(out.line, ',')
		}
		out.line = appendQuotedInt(out.line, int64(v))
	}
	out.line = append(out.line, ']')
}

func appendQuotedInt(dst []byte, v int64) []byte {
	return append(idem.AppendInt(append(dst, '"'), v), '"')
}

// appendHexBytes appends lower-case hex of any length, unlike idem.AppendBytes, which is for keys.
func appendHexBytes(dst, b []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range b {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
		default:
			dst = append(dst, "\ufffd"...)
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
