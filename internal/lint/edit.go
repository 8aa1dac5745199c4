package lint

import (
	"bytes"
	"unicode/utf8"

	"github.com/idem-spec/idem/internal/schema"
)

// Edit replaces the bytes [Start, End) of a file.
type Edit struct {
	// File is the path of the .proto file, as imports name it.
	File       string
	Start, End int
	Text       string
}

// EditAt edits what is written at a position, which change returns anew, or false where it cannot. It is
// false too where the position is not in the text. The edit replaces no more than what differs.
func EditAt(text []byte, at schema.Position, change func(old string) (string, bool)) (Edit, bool) {
	start, ok := Offset(text, at.Line, at.Column)
	end, ok2 := Offset(text, at.EndLine, at.EndColumn)
	if !ok || !ok2 || end < start {
		return Edit{}, false
	}
	old := string(text[start:end])
	fresh, ok := change(old)
	if !ok || fresh == old {
		return Edit{}, false
	}
	for old != "" && fresh != "" && old[0] == fresh[0] {
		old, fresh, start = old[1:], fresh[1:], start+1
	}
	for old != "" && fresh != "" && old[len(old)-1] == fresh[len(fresh)-1] {
		old, fresh, end = old[:len(old)-1], fresh[:len(fresh)-1], end-1
	}
	return Edit{File: at.File, Start: start, End: end, Text: fresh}, true
}

// tabStop is how compilers of protobuf count a tab: up to the next multiple.
const tabStop = 8

// Offset is the byte at a line and a column, which count from 1. A column is a rune, and a tab many, as
// compilers count them.
func Offset(text []byte, line, column int) (int, bool) {
	offset := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(text[offset:], '\n')
		if n < 0 {
			return 0, false
		}
		offset += n + 1
	}
	at := 0
	for at < column-1 {
		if offset >= len(text) || text[offset] == '\n' {
			return 0, false
		}
		_, size := utf8.DecodeRune(text[offset:])
		if text[offset] == '\t' {
			at += tabStop - at%tabStop
		} else {
			at++
		}
		offset += size
	}
	return offset, at == column-1
}
