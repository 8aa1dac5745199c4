package schema

import (
	"fmt"
	"strings"
)

const (
	// maxTemplate is the most bytes of a template. (OPT-010)
	maxTemplate = 1024
	// maxName is the most bytes of an event type and of a state's text. (OPT-011, OPT-041)
	maxName = 200
)

// syntaxError says where a template does not match the grammar.
type syntaxError struct {
	offset     int // -1 where it is about the whole
	what, mend string
}

// rawSegment is a segment before its path is looked up.
type rawSegment struct {
	literal, path string
}

// parseTemplate splits a template into its segments. (OPT-010)
func parseTemplate(text string) ([]rawSegment, *syntaxError) {
	if len(text) > maxTemplate {
		return nil, &syntaxError{-1, fmt.Sprintf("is %d bytes long", len(text)), fmt.Sprintf("use at most %d", maxTemplate)}
	}
	var segments []rawSegment
	placeholders := 0
	for offset := 0; ; {
		segment, length, err := parseSegment(text[offset:])
		if err != nil {
			err.offset += offset
			return nil, err
		}
		segments = append(segments, segment)
		if segment.path != "" {
			placeholders++
		}
		offset += length
		if offset == len(text) {
			break
		}
		if text[offset] != ':' {
			return nil, neighbours(text, offset)
		}
		offset++
	}
	if placeholders == 0 {
		return nil, &syntaxError{-1, "names no field", "add a placeholder, {field}: all messages would have the same text"}
	}
	return segments, nil
}

// parseSegment reads one segment from the beginning of text.
func parseSegment(text string) (rawSegment, int, *syntaxError) {
	if text == "" || text[0] == ':' {
		return rawSegment{}, 0, &syntaxError{0, "has an empty segment", "write letters, digits, '.', '_' or '-', or {field}"}
	}
	if text[0] != '{' {
		n := 0
		for n < len(text) && isLiteral(text[n]) {
			n++
		}
		if n == 0 {
			return rawSegment{}, 0, badByte(text, 0)
		}
		return rawSegment{literal: text[:n]}, n, nil
	}
	end := strings.IndexByte(text, '}')
	if end < 0 {
		return rawSegment{}, 0, &syntaxError{0, "has a '{' without '}'", "close it: {field}"}
	}
	path := text[1:end]
	for _, name := range strings.Split(path, ".") {
		if !isName(name) {
			return rawSegment{}, 0, &syntaxError{0, "has " + quote("{"+path+"}") + ", which is no path",
				"write the names of fields as the .proto has them, joined by '.': {field} or {message_field.field}"}
		}
	}
	return rawSegment{path: path}, end + 1, nil
}

// neighbours is the error of a segment that is not followed by ':' or the end.
func neighbours(text string, offset int) *syntaxError {
	if text[offset] == '{' || text[offset-1] == '}' {
		return &syntaxError{offset, "has two neighbours without ':' between them",
			"write ':' between them: without it two messages could get one text"}
	}
	return badByte(text, offset)
}

func badByte(text string, offset int) *syntaxError {
	r := []rune(text[offset:min(len(text), offset+4)])[0]
	return &syntaxError{offset, fmt.Sprintf("has %q", r), "use letters, digits, '.', '_' and '-' in literals"}
}

func isLiteral(c byte) bool {
	return isAlnum(c) || c == '.' || c == '_' || c == '-'
}

func isAlnum(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26
}

// isName says whether s is a name of the .proto language.
func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isAlnum(s[i]) && s[i] != '_' {
			return false
		}
	}
	return s != "" && s[0]-'0' >= 10
}

// isText says whether s is an event type's or a state's text.
func isText(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isLiteral(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}
