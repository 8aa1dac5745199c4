package idem

// Unit is the unit of an integer that counts from 1970-01-01T00:00:00Z.
type Unit uint8

// The units of AppendTimestampEpoch.
const (
	UnitSeconds Unit = 1 + iota
	UnitMilliseconds
	UnitMicroseconds
	UnitNanoseconds
)

const (
	// minSecond and maxSecond are 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, counted from 1970.
	minSecond = -62135596800
	maxSecond = 253402300799
	// marchToJanuary is the days from 0000-03-01 to 0001-01-01.
	marchToJanuary = 306
)

const timestampRule = "the years are 0001 to 9999 in UTC"

// AppendTimestamp appends a point in time as 2025-01-01T04:00:00.000Z: UTC, with exactly digits
// fraction digits, 0 to 9. Further digits are cut on (seconds, nanos), which is a floor. seconds
// counts from 1970-01-01T00:00:00Z, and nanos is 0 to 999999999 and counts forward, as in
// google.protobuf.Timestamp. Errors: CodeTimestampRange, and CodeInputInvalid for digits out of range.
// (TXT-020 to TXT-022)
func AppendTimestamp(dst []byte, seconds int64, nanos int32, digits int) ([]byte, error) {
	if seconds < minSecond || seconds > maxSecond {
		return dst, rule(CodeTimestampRange, timestampRule)
	}
	if nanos < 0 || nanos > maxNanos {
		return dst, rule(CodeTimestampRange, "nanos outside 0 to 999999999")
	}
	if digits < 0 || digits > 9 {
		return dst, rule(CodeInputInvalid, "fraction digits outside 0 to 9")
	}
	fromYear1 := uint64(seconds - minSecond)
	days := uint32(fromYear1 / secondsPerDay)
	second := uint32(fromYear1 % secondsPerDay)
	year, month, day := civil(days + marchToJanuary)
	// All bytes are appended at once, and then overwritten at constant places.
	start := len(dst)
	dst = append(dst, "0000-00-00T00:00:00.000000000Z"...)
	b := (*[timestampLen]byte)(dst[start:])
	put2(b[0:2], year/100)
	put2(b[2:4], year%100)
	put2(b[5:7], month)
	put2(b[8:10], day)
	put2(b[11:13], second/3600)
	put2(b[14:16], second/60%60)
	put2(b[17:19], second%60)
	if digits == 0 {
		b[dateTimeLen] = 'Z'
		return dst[:start+dateTimeLen+1], nil
	}
	if digits <= 3 {
		put3(b[20:23], uint32(nanos)/1000000)
	} else {
		put9(b[20:29], uint32(nanos))
	}
	end := dateTimeLen + 1 + digits
	b[end] = 'Z'
	return dst[:start+end+1], nil
}

const (
	// dateTimeLen is the length of YYYY-MM-DDTHH:MM:SS.
	dateTimeLen = len("0000-00-00T00:00:00")
	// timestampLen is the length of the longest timestamp.
	timestampLen = len("0000-00-00T00:00:00.000000000Z")
)

// AppendTimestampEpoch appends the point in time that v counts in unit from 1970-01-01T00:00:00Z,
// as AppendTimestamp does. (TXT-023)
func AppendTimestampEpoch(dst []byte, v int64, unit Unit, digits int) ([]byte, error) {
	perSecond, perUnit, err := unit.scale()
	if err != nil {
		return dst, err
	}
	seconds, rest := v/perSecond, v%perSecond
	if rest < 0 {
		seconds, rest = seconds-1, rest+perSecond
	}
	return AppendTimestamp(dst, seconds, int32(rest*perUnit), digits)
}

// AppendTimestampEpochUint is AppendTimestampEpoch for unsigned fields.
func AppendTimestampEpochUint(dst []byte, v uint64, unit Unit, digits int) ([]byte, error) {
	perSecond, perUnit, err := unit.scale()
	if err != nil {
		return dst, err
	}
	seconds, rest := v/uint64(perSecond), v%uint64(perSecond)
	if seconds > maxSecond {
		return dst, rule(CodeTimestampRange, timestampRule)
	}
	return AppendTimestamp(dst, int64(seconds), int32(int64(rest)*perUnit), digits)
}

// scale returns the units of a second and the nanoseconds of a unit.
func (u Unit) scale() (perSecond, perUnit int64, err error) {
	switch u {
	case UnitSeconds:
		return 1, 1000000000, nil
	case UnitMilliseconds:
		return 1000, 1000000, nil
	case UnitMicroseconds:
		return 1000000, 1000, nil
	case UnitNanoseconds:
		return 1000000000, 1, nil
	}
	return 0, 0, rule(CodeInputInvalid, "no unit of time")
}
