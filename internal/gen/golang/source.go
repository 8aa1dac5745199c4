package golang

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/compiler/protogen"
)

// source is the text of a file below its imports. It becomes what gofmt would make of it, without parsing
// it: that would take most of the time of a run, and what is printed here has few shapes.
//
// Each line is printed whole and without indentation. Blanks inside of it are as gofmt has them.
type source struct {
	bytes.Buffer
	name func(protogen.GoIdent) string
}

// P prints a line, as protogen.GeneratedFile does.
func (s *source) P(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			s.WriteString(v)
		case protogen.GoIdent:
			s.WriteString(s.name(v))
		default:
			fmt.Fprint(s, v)
		}
	}
	s.WriteByte('\n')
}

// below returns the text below head, which is formatted already.
func (s *source) below(head string) (string, error) {
	if !s.isPlain() {
		all, err := format.Source(append([]byte(head+"\n"), s.Bytes()...))
		return string(all), err
	}
	f := formatter{lines: strings.Split(strings.TrimSuffix(s.String(), "\n"), "\n")}
	f.out.Grow(len(head) + s.Len() + s.Len()/4)
	f.out.WriteString(head)
	if len(head) > 0 && s.Len() > 0 {
		f.out.WriteByte('\n')
	}
	err := f.format()
	return f.out.String(), err
}

// isPlain says whether comments of the .proto are the only text that gofmt would change inside of a line,
// and none of them is more than text to it.
func (s *source) isPlain() bool {
	if bytes.Contains(s.Bytes(), []byte("build")) || !utf8.Valid(s.Bytes()) || bytes.ContainsRune(s.Bytes(), '\ufeff') {
		return false
	}
	for i, c := range s.Bytes() {
		if c < ' ' && c != '\n' && !(c == '\t' && i >= 2 && string(s.Bytes()[i-2:i]) == "//") {
			return false
		}
	}
	return true
}

// formatter indents lines, aligns the values of composite literals, and has doc comments formatted.
type formatter struct {
	lines []string
	out   strings.Builder
	depth int
}

func (f *formatter) format() error {
	for i := 0; i < len(f.lines); {
		line := f.lines[i]
		switch {
		case line == "":
			f.blank(i)
			i++
		case strings.HasPrefix(line, "//"):
			n := f.run(i, func(line string) bool { return strings.HasPrefix(line, "//") })
			if err := f.comment(f.lines[i : i+n]); err != nil {
				return err
			}
			i += n
		case keyLen(line) > 0:
			n := f.run(i, func(line string) bool { return keyLen(line) > 0 })
			f.pairs(f.lines[i : i+n])
			i += n
		default:
			f.statement(line)
			i++
		}
	}
	return nil
}

// run is how many lines from i on are of a kind.
func (f *formatter) run(i int, is func(line string) bool) int {
	n := 1
	for i+n < len(f.lines) && is(f.lines[i+n]) {
		n++
	}
	return n
}

// blank leaves one empty line between declarations.
func (f *formatter) blank(i int) {
	if i+1 < len(f.lines) && f.lines[i+1] != "" {
		f.out.WriteByte('\n')
	}
}

func (f *formatter) indented(depth int, line string) {
	for ; depth > 0; depth-- {
		f.out.WriteByte('\t')
	}
	f.out.WriteString(line)
	f.out.WriteByte('\n')
}

func (f *formatter) statement(line string) {
	code := line
	if strings.HasPrefix(line, "case ") {
		code, _, _ = strings.Cut(line, " // ")
		f.indented(f.depth-1, line)
	} else {
		if line[0] == '}' {
			f.depth--
		}
		f.indented(f.depth, line)
	}
	if strings.HasSuffix(code, "{") {
		f.depth++
	}
}

// keyLen is the length of the key in a line "Key: value,", with its colon, and 0 in any other line.
func keyLen(line string) int {
	i := strings.IndexByte(line, ':')
	if i <= 0 || !strings.HasPrefix(line[i:], ": ") || !strings.HasSuffix(line, ",") {
		return 0
	}
	for _, c := range []byte(line[:i]) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return 0
		}
	}
	return i + 1
}

// pairs aligns the values of a composite literal.
func (f *formatter) pairs(lines []string) {
	longest := 0
	for _, line := range lines {
		longest = max(longest, keyLen(line))
	}
	for _, line := range lines {
		n := keyLen(line)
		f.indented(f.depth, line[:n]+strings.Repeat(" ", longest-n)+line[n:])
	}
}

// comment writes a doc comment. gofmt has rules about lists, headings, links and code.
func (f *formatter) comment(lines []string) error {
	if !isPlainComment(lines) {
		const before, after = "package p\n\n", "var p int\n"
		text, err := format.Source([]byte(before + strings.Join(lines, "\n") + "\n" + after))
		if err != nil {
			return err
		}
		f.out.WriteString(strings.TrimSuffix(strings.TrimPrefix(string(text), before), after))
		return nil
	}
	for _, line := range lines {
		f.indented(0, line)
	}
	return nil
}

// isPlainComment says whether gofmt leaves a doc comment as it is: paragraphs of lines that begin with a
// letter, and code between. A line that stands alone between paragraphs may be a heading.
func isPlainComment(lines []string) bool {
	kind := func(i int) byte {
		if i < 0 || i >= len(lines) {
			return ' '
		}
		return commentKind(lines[i])
	}
	for i := range lines {
		switch kind(i) {
		case 0:
			return false
		case ' ':
			if i == 0 || i == len(lines)-1 || kind(i-1) == ' ' {
				return false
			}
		case 'c':
			if before, after := kind(i-1), kind(i+1); before == 't' || after == 't' || i == 0 {
				return false
			}
		case 't':
			if i > 0 && i < len(lines)-1 && kind(i-1) == ' ' && kind(i+1) == ' ' {
				return false
			}
		}
	}
	return true
}

// commentKind is ' ' for an empty line, 't' for text, 'c' for code, and 0 for what gofmt is to look at.
func commentKind(line string) byte {
	text := line[len("//"):]
	switch {
	case text == "":
		return ' '
	case strings.HasSuffix(text, " ") || strings.Contains(text, "``") || strings.Contains(text, "''"):
		return 0
	case text[0] == '\t':
		return 'c'
	case text[0] != ' ' || len(text) < 2 || !('a' <= text[1]|0x20 && text[1]|0x20 <= 'z'):
		return 0
	}
	for _, c := range []byte(text) {
		if c >= utf8.RuneSelf {
			return 0
		}
	}
	return 't'
}
