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
	dst = appendDate(dst, year, month, day)
	dst = append(dst, "T00:00:00"...)
	b := dst[len(dst)-len("T00:00:00"):]
	put2(b[1:], second/3600)
	put2(b[4:], second/60%60)
	put2(b[7:], second%60)
	if digits > 0 {
		dst = append(dst, '.')
		dst = appendFraction(dst, uint32(nanos), digits)
	}
	return append(dst, 'Z'), nil
}

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
