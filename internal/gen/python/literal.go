package python

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// literal writes a Python string literal, in ASCII. Go's %q is none: its \x of a byte is a character
// there, and its \U of what is no character a syntax error.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case 0x20 <= r && r < 0x7f:
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

func escape(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// visible says whether a character can stand in a docstring or a comment as it is: it ends no line, and
// it does not turn what stands around it.
func visible(r rune) bool {
	return r == '\t' || r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Z, r)
}

// docLines are the lines of a comment of a .proto as a docstring has them, without blank ones around it.
func docLines(comment string) []string {
	if strings.TrimSpace(comment) == "" {
		return nil
	}
	var lines []string
	for _, line := range strings.Split(strings.ToValidUTF8(comment, "\uFFFD"), "\n") {
		lines = append(lines, docLine(strings.TrimPrefix(strings.TrimRight(line, " \t\r"), " ")))
	}
	for lines[0] == "" {
		lines = lines[1:]
	}
	for lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func docLine(line string) string {
	var b strings.Builder
	for _, r := range line {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case visible(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	return strings.ReplaceAll(b.String(), `"""`, `\"\"\"`)
}

// oneLine writes text into a comment of one line.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !visible(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// remark is a comment behind an enum's value: its name, and what stands beside the value or, where it is
// one line, above it.
func remark(v protoreflect.EnumValueDescriptor) string {
	name := "  # " + string(v.Name())
	loc := v.ParentFile().SourceLocations().ByDescriptor(v)
	for _, comment := range []string{loc.TrailingComments, loc.LeadingComments} {
		if text := strings.TrimSpace(comment); text != "" && !strings.ContainsAny(text, "\n\r") {
			return name + ": " + oneLine(text)
		}
	}
	return name
}

// width is the columns of a line.
func width(line string) int { return utf8.RuneCountInString(line) }
