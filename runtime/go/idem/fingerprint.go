package idem

// fingerprintLen is 8 hex digits of the template, and 16 of the rendered text.
const fingerprintLen = 8 + 1 + 16

// TemplateHash is the first half of a fingerprint: the low 32 bits of the hash of the template's
// text. It is a constant of generated code.
func TemplateHash(template string) uint32 { return uint32(Hash(template)) }

// FinishFingerprint replaces the rendered template at dst[start:] by the fingerprint
// TTTTTTTT-VVVVVVVVVVVVVVVV: the hash of the template, and the hash of the rendered text. A rendered
// text over MaxKeyLen is CodeKeyTooLong, and dst is returned without it. (HASH-030)
func FinishFingerprint(dst []byte, start int, template uint32) ([]byte, error) {
	dst, err := FinishKey(dst, start)
	if err != nil {
		return dst, err
	}
	h := HashBytes(dst[start:])
	dst = dst[:start]
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, lowerHex[template>>uint(shift)&15])
	}
	dst = append(dst, '-')
	return AppendHash(dst, h), nil
}

// FingerprintsDiffer says whether two fingerprints are comparable and not equal. They are comparable
// where both are there and come from one template, so that an edited template rejects nothing that
// is in flight. (HASH-031)
func FingerprintsDiffer(a, b string) bool {
	return len(a) == fingerprintLen && len(b) == fingerprintLen && a[:8] == b[:8] && a != b
}

// IsFingerprint says whether s has the form of a fingerprint: 8 lower-case hex digits, -, and 16.
func IsFingerprint(s string) bool {
	if len(s) != fingerprintLen || s[8] != '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if i != 8 && !isDigit(s[i]) && s[i]-'a' >= 6 {
			return false
		}
	}
	return true
}
