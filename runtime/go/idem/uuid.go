package idem

// uuidShape is the text of a UUID: a hex digit for each 0.
const uuidShape = "00000000-0000-0000-0000-000000000000"

// AppendUUID appends a UUID in lower case. The text is 8-4-4-4-12 hex digits of either case, else
// CodeUUIDSyntax: braces, a urn: prefix and bare digits are other texts. (TXT-060)
func AppendUUID(dst []byte, text string) ([]byte, error) {
	if len(text) != len(uuidShape) {
		return dst, fault(CodeUUIDSyntax, text, noOffset, "8-4-4-4-12 hex digits are needed, 36 bytes")
	}
	start := len(dst)
	dst = append(dst, text...)
	b := dst[start:]
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case uuidShape[i] == '-':
			if c == '-' {
				continue
			}
		case isDigit(c) || c-'a' < 6:
			continue
		case c-'A' < 6:
			b[i] = c + 'a' - 'A'
			continue
		}
		return dst[:start], fault(CodeUUIDSyntax, text, i, "8-4-4-4-12 hex digits are needed")
	}
	return dst, nil
}
