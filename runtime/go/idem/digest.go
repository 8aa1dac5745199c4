package idem

import (
	"crypto/sha256"
	"unicode/utf8"
)

// digestLen is the bytes of the hash that a digest shows, two hex digits each.
const digestLen = 16

// AppendDigest appends the first 32 hex digits of SHA-256 of a canonical text, for fields with
// digest: DIGEST_SHA256. The canonical text of a string is the string, unescaped: see
// AppendStringDigest, which checks it too. (KEY-003)
func AppendDigest(dst []byte, canonical string) []byte {
	start := len(dst)
	if len(canonical) <= MaxKeyLen {
		return DigestTail(append(dst, canonical...), start)
	}
	h := sha256.New()
	var chunk [MaxKeyLen]byte
	for len(canonical) > 0 {
		n := copy(chunk[:], canonical)
		h.Write(chunk[:n])
		canonical = canonical[n:]
	}
	var sum [sha256.Size]byte
	return appendHex(dst, h.Sum(sum[:0]))
}

// AppendStringDigest appends the digest of a string field, and refuses ill-formed UTF-8 as
// CodeStringUTF8.
func AppendStringDigest(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, fault(CodeStringUTF8, s, illFormed(s), "ill-formed UTF-8")
	}
	return AppendDigest(dst, s), nil
}

// AppendBytesDigest appends the digest of a bytes field: of its lower-case hex text.
func AppendBytesDigest(dst, b []byte) []byte {
	start := len(dst)
	if len(b) <= MaxKeyLen/2 {
		return DigestTail(AppendBytes(dst, b), start)
	}
	h := sha256.New()
	var chunk [MaxKeyLen]byte
	for len(b) > 0 {
		n := len(b)
		if n > MaxKeyLen/2 {
			n = MaxKeyLen / 2
		}
		h.Write(AppendBytes(chunk[:0], b[:n]))
		b = b[n:]
	}
	var sum [sha256.Size]byte
	return appendHex(dst, h.Sum(sum[:0]))
}

// DigestTail replaces dst[start:], a canonical text just appended, by its digest.
func DigestTail(dst []byte, start int) []byte {
	sum := sha256.Sum256(dst[start:])
	return appendHex(dst[:start], sum[:])
}

func appendHex(dst, sum []byte) []byte {
	for _, c := range sum[:digestLen] {
		dst = append(dst, lowerHex[c>>4], lowerHex[c&15])
	}
	return dst
}
