package idem

import "unicode/utf8"

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

// plain marks the bytes that stand for themselves in a component: A-Z a-z 0-9 - . _
var plain = [256]bool{
	'-': true, '.': true, '_': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true,
	'J': true, 'K': true, 'L': true, 'M': true, 'N': true, 'O': true, 'P': true, 'Q': true, 'R': true,
	'S': true, 'T': true, 'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true,
	'j': true, 'k': true, 'l': true, 'm': true, 'n': true, 'o': true, 'p': true, 'q': true, 'r': true,
	's': true, 't': true, 'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
}

// AppendString appends a free string as a component: its UTF-8 bytes as they are, every byte
// outside A-Z a-z 0-9 - . _ written %XX in upper case. Nothing is trimmed, folded or normalised,
// and ill-formed UTF-8 is CodeStringUTF8, never replaced.
//
// The whole string is checked, but what is written stops soon after MaxKeyLen bytes: nothing longer
// can be part of a key, and FinishKey refuses it. So a hostile megabyte costs one scan and no copy. (TXT-070, KEY-001, KEY-011)
func AppendString(dst []byte, s string) ([]byte, error) {
	if isPlain(s) && len(s) <= MaxKeyLen {
		return append(dst, s...), nil
	}
	return appendChecked(dst, s)
}

// isPlain says whether no byte of s is to be escaped. It takes four at a time, since this loop is most
// of what a key costs.
func isPlain(s string) bool {
	for ; len(s) >= 4; s = s[4:] {
		if !plain[s[3]] || !plain[s[0]] || !plain[s[1]] || !plain[s[2]] {
			return false
		}
	}
	for i := 0; i < len(s); i++ {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// appendChecked is AppendString for what is not plain, or too long.
func appendChecked(dst []byte, s string) ([]byte, error) {
	i := 0
	for i < len(s) && plain[s[i]] {
		i++
	}
	if i == len(s) {
		return append(dst, s[:MaxKeyLen+1]...), nil
	}
	if !utf8.ValidString(s[i:]) {
		return dst, fault(CodeStringUTF8, s, illFormed(s), "ill-formed UTF-8")
	}
	return appendEscaped(dst, s, i), nil
}

// appendEscaped escapes s, whose first i bytes are plain, until more than MaxKeyLen bytes are out.
func appendEscaped(dst []byte, s string, i int) []byte {
	limit := len(dst) + MaxKeyLen
	from := 0
	for ; i < len(s); i++ {
		if plain[s[i]] {
			if len(dst)+i-from <= limit {
				continue
			}
			break
		}
		if len(dst)+i-from > limit {
			break
		}
		dst = append(dst, s[from:i]...)
		dst = append(dst, '%', upperHex[s[i]>>4], upperHex[s[i]&15])
		from = i + 1
	}
	if room := limit + 1 - len(dst); i-from > room {
		i = from + room
	}
	if from < i {
		dst = append(dst, s[from:i]...)
	}
	return dst
}

// AppendBytes appends a bytes field as a component: lower-case hex. What is written stops soon
// after MaxKeyLen bytes, as in AppendString.
func AppendBytes(dst, b []byte) []byte {
	if len(b) > MaxKeyLen/2 {
		b = b[:MaxKeyLen/2+1]
	}
	for _, c := range b {
		dst = append(dst, lowerHex[c>>4], lowerHex[c&15])
	}
	return dst
}

// illFormed returns where the first ill-formed sequence of s begins.
func illFormed(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return noOffset
}
