// Package show writes what operators look at: tables for a terminal, one JSON object a line for programs. What
// comes from messages is escaped, so that nothing in one can move the cursor, hide text or pass for another
// line.
package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a text on one line that a terminal shows as it is: what is not printable is escaped as in JSON, and
// bytes that are no UTF-8 as \x and two digits.
func Text(s string) string {
	if !strings.ContainsFunc(s, unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unsafe(r):
			escape(&b, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// JSON is JSON whose texts a terminal shows as they are: what is not printable in them is escaped. Outside of texts
// JSON has no such characters but line breaks and tabs, which stay.
func JSON(data []byte) string {
	var b strings.Builder
	for _, r := range string(data) {
		if unsafe(r) && r != '\n' && r != '\t' {
			escape(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unsafe says that a terminal does not just show a character: control characters, and those of format, which turn
// the direction of a text or have no width. A blank is the only space that looks like one.
func unsafe(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

func escape(b *strings.Builder, r rune) {
	if r > 0xFFFF {
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// Cut is at most width characters of a text.
func Cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}
