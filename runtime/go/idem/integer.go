package idem

import "strconv"

// AppendInt appends a signed integer in base 10: int32, int64, sint32, sint64, sfixed32, sfixed64.
func AppendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// AppendUint appends an unsigned integer in base 10: uint32, uint64, fixed32, fixed64.
func AppendUint(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }

// AppendEnum appends the number of an enum value, declared or not. Names never enter a key: they
// may be renamed.
func AppendEnum(dst []byte, number int32) []byte { return strconv.AppendInt(dst, int64(number), 10) }

// AppendBool appends true or false.
func AppendBool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }
