package idem

import "unicode/utf8"

// AppendReason appends a reject_reason as its header carries it: each control character (below U+0020,
// and U+007F) is a blank, each ill-formed byte a question mark, and what does not fit into 1024 bytes is
// cut before a character. (HDR-023)
func AppendReason(dst []byte, reason string) []byte {
	limit := len(dst) + MaxKeyLen
	for i := 0; i < len(reason); {
		r, size := utf8.DecodeRuneInString(reason[i:])
		if len(dst)+size > limit {
			break
		}
		switch {
		case size == 1 && isControl(reason[i]):
			dst = append(dst, ' ')
		case size == 1 && r == utf8.RuneError:
			dst = append(dst, '?')
		default:
			dst = append(dst, reason[i:i+size]...)
		}
		i += size
	}
	return dst
}

// appendPrintable appends text with a question mark for each character outside U+0020 to U+007E.
func appendPrintable(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRune(text[i:])
		c := text[i]
		if size > 1 || c < 0x20 || c > 0x7E {
			c = '?'
		}
		dst = append(dst, c)
		i += size
	}
	return dst
}
