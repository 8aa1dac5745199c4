package java

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// What is emitted is ASCII, whatever encoding javac is told to read.

// literal writes a Java string literal. Go's %q is none: Java has no \x and no \U, reads \u before
// anything else, and counts in UTF-16.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			// Three octal digits and no \u: that would be read before the literal is.
			fmt.Fprintf(&b, `\%03o`, r)
		case r < 0x7f:
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// javadoc writes text that a comment and Javadoc show as it is: no end of the comment, no tag, no HTML,
// and no \u, which Java reads in comments too.
func javadoc(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("&<>@*\\", r) || r > 0x7e:
			fmt.Fprintf(&b, "&#%d;", r)
		case r < 0x20 && r != '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// javadocLines are the lines of a comment of a .proto, without blank ones around it.
func javadocLines(comment string) []string {
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(comment), "\n") {
		line = javadoc(strings.TrimRight(line, " \t\r"))
		lines = append(lines, strings.TrimPrefix(line, " "))
	}
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// oneLine writes a file's name into a comment of one line.
func oneLine(s string) string {
	return strings.ReplaceAll(javadoc(s), "\n", " ")
}
