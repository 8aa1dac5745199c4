package bulk

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf16"
)

// runes are the characters near which encodings differ.
var runes = []rune{
	0, 1, '\t', '\n', 0x1f, ' ', '!', '"', '#', '%', '&', '+', ',', '-', '.', '/', '0', '9', ':', ';', '<', '=', '@',
	'A', 'Z', '[', '\\', '_', '`', 'a', 'z', '{', '|', '}', '~', 0x7f, 0x80, 0x85, 0xa0, 0xad, 0xe9, 0xff,
	0x130, 0x131, 0x301, 0x345, 0x7ff, 0x800, 0x661, 0x200b, 0x200e, 0x2028, 0x2029, 0x212b, 0xd7ff, 0xe000, 0xfb01,
	0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1f600, 0x1d11e, 0xfffff, 0x10fffd, 0x10ffff,
}

const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"

// word returns lo to hi characters that no escape touches.
func word(r *random, lo, hi int) string {
	b := make([]byte, r.between(lo, hi))
	for i := range b {
		b[i] = plain[r.below(len(plain))]
	}
	return string(b)
}

// printable returns lo to hi bytes of 21 to 7E.
func printable(r *random, lo, hi int) string {
	b := make([]byte, r.between(lo, hi))
	for i := range b {
		b[i] = byte(r.between(0x21, 0x7e))
	}
	return string(b)
}

// text returns any text.
func text(r *random) string {
	switch r.below(8) {
	case 0:
		return ""
	case 1, 2:
		return word(r, 1, 24)
	case 3:
		return printable(r, 1, 24)
	case 4:
		return strings.Repeat(string(runes[r.below(len(runes))]), r.below(400))
	default:
		return odd(r, 12)
	}
}

// odd returns up to most characters, most of them ones near which encodings differ.
func odd(r *random, most int) string {
	var b strings.Builder
	for range r.between(1, most) {
		switch r.below(4) {
		case 0:
			b.WriteString(word(r, 1, 4))
		case 1:
			c := rune(r.below(0x110000))
			if utf16.IsSurrogate(c) {
				c = 0xfffd
			}
			b.WriteRune(c)
		default:
			b.WriteRune(runes[r.below(len(runes))])
		}
	}
	return b.String()
}

// illFormed are bytes that are no UTF-8, each for a reason of its own.
var illFormed = []string{
	"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80",
	"\xed\xa0\xbd\xed\xb8\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80",
	"\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe", "\xff",
}

// hexText returns text in hex, with a fault of encoding in one of four.
func hexText(r *random, s string) string {
	if r.percent(25) {
		i := r.below(len(s) + 1)
		s = s[:i] + pick(r, illFormed...) + s[i:]
	}
	return hex.EncodeToString([]byte(s))
}

// someBytes returns lo to hi bytes, seldom the same ones.
func someBytes(r *random, lo, hi int) []byte {
	b := make([]byte, r.between(lo, hi))
	if r.percent(10) {
		fill := byte(r.below(256))
		for i := range b {
			b[i] = fill
		}
		return b
	}
	for i := range b {
		b[i] = byte(r.uint64())
	}
	return b
}

func hexBytes(r *random, lo, hi int) string { return hex.EncodeToString(someBytes(r, lo, hi)) }

// units returns text in UTF-16, with half a surrogate pair in one of four.
func units(r *random) list {
	all := utf16.Encode([]rune(text(r)))
	if len(all) > 40 {
		all = all[:40]
	}
	if r.percent(25) {
		i := r.below(len(all) + 1)
		half := pick[uint16](r, 0xd800, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xdfff)
		all = append(all[:i:i], append([]uint16{half}, all[i:]...)...)
	}
	l := list{}
	for _, u := range all {
		s := strconv.FormatUint(uint64(u), 16)
		l = append(l, strings.Repeat("0", 4-len(s))+s)
	}
	return l
}

// scratch returns s with a character taken out, put in, doubled or replaced.
func scratch(r *random, s string) string {
	chars := []rune(s)
	i := r.below(len(chars) + 1)
	rest := min(i+1, len(chars))
	c := string(pick(r, '0', '9', '-', '+', '.', 'e', 'E', 'T', 'Z', 'z', 't', ':', ' ', ',', '_', '\n', 0, 0x661, 0xff11, 0x2212, 'x', 'N', '/'))
	switch r.below(4) {
	case 0:
		return string(chars[:i]) + string(chars[rest:])
	case 1:
		return string(chars[:i]) + c + string(chars[rest:])
	case 2:
		return string(chars[:rest]) + string(chars[i:])
	default:
		return string(chars[:i]) + c + string(chars[i:])
	}
}
