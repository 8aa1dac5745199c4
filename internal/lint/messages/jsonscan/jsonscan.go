// Package jsonscan scans JSON without building values of it. It takes exactly what protobuf's own JSON
// decoder takes, of tokens; encoding/json makes a value of each token, which takes several times as long as
// all that a message is checked for.
package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner is at a place in a text. A method that returns false leaves it anywhere.
type Scanner struct {
	In  []byte
	Pos int
	// Text is where strings with escapes go. It may be replaced by a longer one.
	Text []byte
	// Fault is why a method returned false, where the byte at Pos does not show it.
	Fault Fault
}

// Fault is what no JSON has, though it looks like some.
type Fault string

// The faults, as half a sentence each.
const (
	IllFormed Fault = "a string is ill-formed UTF-8"
	Surrogate Fault = "half of a surrogate pair is no character"
	NotFinite Fault = "JSON has no NaN and no Infinity"
	TooDeep   Fault = "it is nested more than 1000 deep"
)

// Blanks passes over white space.
func (s *Scanner) Blanks() {
	for s.Pos < len(s.In) {
		switch s.In[s.Pos] {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return
		}
	}
}

// Peek is the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.In) {
		return s.In[s.Pos]
	}
	return 0
}

// Byte passes over one byte, where it is that.
func (s *Scanner) Byte(c byte) bool {
	if s.Peek() != c || s.Pos >= len(s.In) {
		return false
	}
	s.Pos++
	return true
}

// Colon passes over a colon and the blanks around it.
func (s *Scanner) Colon() bool {
	s.Blanks()
	if !s.Byte(':') {
		return false
	}
	s.Blanks()
	return true
}

// Literal passes over a word.
func (s *Scanner) Literal(word string) bool {
	if len(s.In)-s.Pos < len(word) || string(s.In[s.Pos:s.Pos+len(word)]) != word {
		return false
	}
	s.Pos += len(word)
	return s.delimited()
}

// delimited says that no letter or digit follows.
func (s *Scanner) delimited() bool {
	switch c := s.Peek(); {
	case c == '-', c == '+', c == '.', c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return false
	}
	return true
}

// String passes over a string and returns its text, which shares memory with In or with Text.
func (s *Scanner) String() ([]byte, bool) {
	if !s.Byte('"') {
		return nil, false
	}
	start := s.Pos
	high := byte(0)
	for s.Pos < len(s.In) {
		c := s.In[s.Pos]
		switch {
		case c == '"':
			text := s.In[start:s.Pos:s.Pos]
			s.Pos++
			return text, high < 0x80 || s.wellFormed(start)
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return nil, false
		}
		high |= c
		s.Pos++
	}
	return nil, false
}

// escaped goes on with a string that has an escape here.
func (s *Scanner) escaped(start int) ([]byte, bool) {
	from := len(s.Text)
	s.Text = append(s.Text, s.In[start:s.Pos]...)
	for s.Pos < len(s.In) {
		c := s.In[s.Pos]
		s.Pos++
		switch {
		case c == '"':
			text := s.Text[from:len(s.Text):len(s.Text)]
			return text, s.wellFormed(start)
		case c == '\\':
			if !s.escape() {
				return nil, false
			}
		case c < 0x20:
			return nil, false
		default:
			s.Text = append(s.Text, c)
		}
	}
	return nil, false
}

// wellFormed says whether the string from start to here is UTF-8, as its text then is; else it goes to the byte
// that is not.
func (s *Scanner) wellFormed(start int) bool {
	text := s.In[start : s.Pos-1]
	if utf8.Valid(text) {
		return true
	}
	s.Fault, s.Pos = IllFormed, start
	for {
		r, n := utf8.DecodeRune(s.In[s.Pos:])
		if r == utf8.RuneError && n == 1 {
			return false
		}
		s.Pos += n
	}
}

// escape takes what follows a backslash.
func (s *Scanner) escape() bool {
	if s.Pos >= len(s.In) {
		return false
	}
	c := s.In[s.Pos]
	s.Pos++
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.unicode()
	default:
		return false
	}
	s.Text = append(s.Text, c)
	return true
}

// unicode takes four hex digits, and those of a surrogate's other half.
func (s *Scanner) unicode() bool {
	start := s.Pos - len(`\u`)
	r, ok := s.hex()
	if ok && utf16.IsSurrogate(r) {
		low := rune(0)
		if len(s.In)-s.Pos >= 6 && s.In[s.Pos] == '\\' && s.In[s.Pos+1] == 'u' {
			s.Pos += len(`\u`)
			low, ok = s.hex()
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			s.Fault, s.Pos = Surrogate, start
			return false
		}
	}
	s.Text = utf8.AppendRune(s.Text, r)
	return ok
}

func (s *Scanner) hex() (rune, bool) {
	if len(s.In)-s.Pos < 4 {
		return 0, false
	}
	r := rune(0)
	for _, c := range s.In[s.Pos : s.Pos+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.Pos += 4
	return r, true
}

// Number passes over a number and returns its text.
func (s *Scanner) Number() ([]byte, bool) {
	start := s.Pos
	s.Byte('-')
	if !s.Byte('0') && s.digits() == 0 {
		if c := s.Peek(); c == 'N' || c == 'I' {
			s.Fault = NotFinite
		}
		return nil, false
	}
	if s.Peek() == '.' {
		s.Pos++
		if s.digits() == 0 {
			return nil, false
		}
	}
	if c := s.Peek(); c == 'e' || c == 'E' {
		s.Pos++
		if c := s.Peek(); c == '-' || c == '+' {
			s.Pos++
		}
		if s.digits() == 0 {
			return nil, false
		}
	}
	return s.In[start:s.Pos:s.Pos], s.delimited()
}

func (s *Scanner) digits() int {
	start := s.Pos
	for s.Pos < len(s.In) && s.In[s.Pos]-'0' < 10 {
		s.Pos++
	}
	return s.Pos - start
}

// IsNumber says whether a text is a number as a whole.
func IsNumber(text []byte) bool {
	s := Scanner{In: text}
	_, ok := s.Number()
	return ok && s.Pos == len(text)
}

// maxDepth is how deep Skip goes.
const maxDepth = 1000

// Skip passes over any value.
func (s *Scanner) Skip() bool { return s.skip(0) }

func (s *Scanner) skip(depth int) bool {
	if depth > maxDepth {
		s.Fault = TooDeep
		return false
	}
	switch c := s.Peek(); c {
	case '"':
		text := len(s.Text)
		_, ok := s.String()
		s.Text = s.Text[:text]
		return ok
	case '{':
		s.Pos++
		return s.members(depth)
	case '[':
		s.Pos++
		return s.elements(depth)
	case 't':
		return s.Literal("true")
	case 'f':
		return s.Literal("false")
	case 'n':
		return s.Literal("null")
	}
	_, ok := s.Number()
	return ok
}

func (s *Scanner) members(depth int) bool {
	for first := true; ; first = false {
		s.Blanks()
		if first && s.Byte('}') {
			return true
		}
		text := len(s.Text)
		_, ok := s.String()
		s.Text = s.Text[:text]
		if !ok || !s.Colon() || !s.skip(depth+1) {
			return false
		}
		s.Blanks()
		if s.Byte('}') {
			return true
		}
		if !s.Byte(',') {
			return false
		}
	}
}

func (s *Scanner) elements(depth int) bool {
	for first := true; ; first = false {
		s.Blanks()
		if first && s.Byte(']') {
			return true
		}
		if !s.skip(depth + 1) {
			return false
		}
		s.Blanks()
		if s.Byte(']') {
			return true
		}
		if !s.Byte(',') {
			return false
		}
	}
}
