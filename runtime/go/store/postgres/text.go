package postgres

import (
	"strings"
	"unicode/utf8"
)

// maxText is the most bytes of a text that an index holds. Headers that are valid are no longer; those of a
// message that is MALFORMED may be, and its dead letter has to be written all the same: its headers are kept as
// they are.
const maxText = 1024

// text is what a column of text can hold of a value: UTF-8 without NUL, and no longer than an index takes.
func text(s string) string {
	if len(s) <= maxText && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
