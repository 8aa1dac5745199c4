package main

import "github.com/idem-spec/idem/runtime/go/idem"

// literalValue is a segment that stands for itself.
type literalValue string

func (v literalValue) append(dst []byte) ([]byte, error) { return append(dst, v...), nil }

func isLiteral(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c-'0' >= 10 && c|0x20-'a' >= 26 && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

func opKey(in *object, out *output) error {
	segments := decodeSegments(in)
	if !in.ok() {
		return errInput
	}
	return out.plain("key", func(dst []byte) ([]byte, error) {
		start := len(dst)
		dst, err := render(dst, segments)
		if err != nil {
			return dst, err
		}
		return idem.FinishKey(dst, start)
	})
}

func opFingerprint(in *object, out *output) error {
	template := in.text("template")
	segments := decodeSegments(in)
	if !in.ok() {
		return errInput
	}
	return out.plain("fingerprint", func(dst []byte) ([]byte, error) {
		start := len(dst)
		dst, err := render(dst, segments)
		if err != nil {
			return dst, err
		}
		return idem.FinishFingerprint(dst, start, idem.TemplateHash(template))
	})
}

func decodeSegments(in *object) []typed {
	list := in.list("segments")
	in.bad = in.bad || len(list) == 0
	segments := make([]typed, len(list))
	for i, v := range list {
		s, ok := v.object()
		in.bad = in.bad || !ok
		if s.has("literal") {
			literal := s.text("literal")
			s.bad = s.bad || !isLiteral(literal)
			segments[i] = literalValue(literal)
		} else {
			component := s.child("component")
			segments[i] = decodeComponent(&component, false)
			s.done(&component)
		}
		in.done(&s)
	}
	return segments
}

// render joins the segments. What is behind the longest key is cut, so that many long segments need no
// more memory than one; the length still says that the key is too long.
func render(dst []byte, segments []typed) ([]byte, error) {
	start := len(dst)
	for i, s := range segments {
		if i > 0 {
			dst = append(dst, ':')
		}
		var err error
		if dst, err = s.append(dst); err != nil {
			return dst, err
		}
		if len(dst)-start > idem.MaxKeyLen {
			dst = dst[:start+idem.MaxKeyLen+1]
		}
	}
	return dst, nil
}
