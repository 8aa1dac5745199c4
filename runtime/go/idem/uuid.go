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
	dst = append(dst, uuidShape...)
	b := (*[len(uuidShape)]byte)(dst[start:])
	for i := range b {
		if b[i] == '-' {
			if text[i] == '-' {
				continue
			}
		} else if c := lowerHexDigit[text[i]]; c != 0 {
			b[i] = c
			continue
		}
		return dst[:start], fault(CodeUUIDSyntax, text, i, "8-4-4-4-12 hex digits are needed")
	}
	return dst, nil
}

// lowerHexDigit is a hex digit of either case in lower case, and 0 for all else.
var lowerHexDigit = [256]byte{
	'0': '0', '1': '1', '2': '2', '3': '3', '4': '4', '5': '5', '6': '6', '7': '7', '8': '8', '9': '9',
	'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd', 'e': 'e', 'f': 'f',
	'A': 'a', 'B': 'b', 'C': 'c', 'D': 'd', 'E': 'e', 'F': 'f',
}
