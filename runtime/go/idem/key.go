package idem

// MaxKeyLen is the most bytes of a rendered template: an idempotency key, a previous key, a
// biz_key, or the text of a fingerprint.
const MaxKeyLen = 1024

// Absent is the component of a field that is not set, under missing: MISSING_ALLOW. No value can
// look like it, since ~ is escaped in values. (KEY-005)
const Absent = "~"

// AppendAbsent appends Absent.
func AppendAbsent(dst []byte) []byte { return append(dst, '~') }

// Missing is the error of a field that a template needs and that is not set: CodeKeyComponentMissing.
// path is the field's path from the message ("customer.id"). It stays out of the code that calls it for
// each component, where it never runs.
//
//go:noinline
func Missing(path string) error {
	return &Error{Code: CodeKeyComponentMissing, Field: path, Offset: noOffset, Detail: "the field is not set"}
}

// FinishKey checks the length of the key at dst[start:], once its last component is there: over
// MaxKeyLen it is CodeKeyTooLong, and dst is returned without it. (KEY-011)
func FinishKey(dst []byte, start int) ([]byte, error) {
	if len(dst)-start > MaxKeyLen {
		return dst[:start], rule(CodeKeyTooLong, "a key has at most 1024 bytes")
	}
	return dst, nil
}

// FinishBizKey is FinishKey for a biz_key, which unlike an idempotency key can come out empty:
// CodeKeyEmpty. (KEY-013)
func FinishBizKey(dst []byte, start int) ([]byte, error) {
	if len(dst) == start {
		return dst, rule(CodeKeyEmpty, "the biz_key has no bytes")
	}
	return FinishKey(dst, start)
}

// CheckKey checks a key that was received, which is an opaque text of 1 to 1024 bytes in
// 0x21-0x7E: CodeKeySyntax, or CodeKeyTooLong. (KEY-020)
func CheckKey(key string) error {
	if key == "" {
		return rule(CodeKeySyntax, "a key has at least one byte")
	}
	for i := 0; i < len(key); i++ {
		if key[i]-0x21 > 0x7E-0x21 {
			return fault(CodeKeySyntax, key, i, "a key has only bytes 0x21-0x7E")
		}
	}
	if len(key) > MaxKeyLen {
		return rule(CodeKeyTooLong, "a key has at most 1024 bytes")
	}
	return nil
}
