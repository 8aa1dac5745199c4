package idem

import "strconv"

// maxDurationSeconds is ten thousand years of seconds, the limit of google.protobuf.Duration.
const maxDurationSeconds = 315576000000

// AppendDuration appends a span of time as -1.500s, with exactly digits fraction digits, 0 to 9;
// further ones are cut toward zero, and there is no -0. seconds and nanos are of one sign and in
// the range of google.protobuf.Duration, else CodeDurationRange; CodeInputInvalid is for digits out of
// range. (TXT-030 to TXT-032)
func AppendDuration(dst []byte, seconds int64, nanos int32, digits int) ([]byte, error) {
	if seconds < -maxDurationSeconds || seconds > maxDurationSeconds {
		return dst, rule(CodeDurationRange, "seconds outside -315576000000 to 315576000000")
	}
	if nanos < -maxNanos || nanos > maxNanos {
		return dst, rule(CodeDurationRange, "nanos outside -999999999 to 999999999")
	}
	if seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0 {
		return dst, rule(CodeDurationRange, "seconds and nanos of different signs")
	}
	if digits < 0 || digits > 9 {
		return dst, rule(CodeInputInvalid, "fraction digits outside 0 to 9")
	}
	fraction := uint32(nanos)
	if nanos < 0 {
		fraction = -fraction
	}
	if seconds < 0 || nanos < 0 {
		seconds = -seconds
		if seconds != 0 || fraction >= tenTo[9-digits] {
			dst = append(dst, '-')
		}
	}
	dst = strconv.AppendInt(dst, seconds, 10)
	if digits > 0 {
		dst = append(dst, '.')
		dst = appendFraction(dst, fraction, digits)
	}
	return append(dst, 's'), nil
}

// tenTo holds the powers of ten up to a second in nanoseconds.
var tenTo = [10]uint32{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000}
