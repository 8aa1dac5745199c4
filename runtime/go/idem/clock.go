package idem

// maxNanos is the most nanoseconds beside whole seconds.
const maxNanos = 999999999

const secondsPerDay = 86400

// put2 writes the two digits of v, which is below 100, at b[0] and b[1].
func put2(b []byte, v uint32) {
	_ = b[1]
	tens := v / 10
	b[0] = byte('0' + tens)
	b[1] = byte('0' + v - 10*tens)
}

// put3 writes the three digits of v, which is below 1000, at b[0] to b[2].
func put3(b []byte, v uint32) {
	_ = b[2]
	hundreds := v / 100
	b[0] = byte('0' + hundreds)
	put2(b[1:3], v-100*hundreds)
}

// appendDate appends YYYY-MM-DD. The parts are in range already.
func appendDate(dst []byte, year, month, day uint32) []byte {
	dst = append(dst, "0000-00-00"...)
	b := dst[len(dst)-len("0000-00-00"):]
	put2(b[0:2], year/100)
	put2(b[2:4], year%100)
	put2(b[5:7], month)
	put2(b[8:10], day)
	return dst
}

// appendFraction appends the first n of the nine digits of nanos; further ones are cut.
func appendFraction(dst []byte, nanos uint32, n int) []byte {
	var b [9]byte
	put9(b[:], nanos)
	return append(dst, b[:n]...)
}

// put9 writes the nine digits of nanos at b[0] to b[8].
func put9(b []byte, nanos uint32) {
	_ = b[8]
	put3(b[0:3], nanos/1000000)
	put3(b[3:6], nanos/1000%1000)
	put3(b[6:9], nanos%1000)
}

// civil returns the Gregorian date of a day, counted from 0000-03-01. Years that begin in March have
// their leap day at the end, so that no table of months is needed; the divisions by constants that are
// no powers of two are multiplications here (Neri and Schneider, Euclidean affine functions, 2022). Two
// of them are written out, for the range that there is: the compiler's, for any uint32, take longer.
func civil(days uint32) (year, month, day uint32) {
	n := 4*days + 3
	century := uint32(uint64(n) * 15051803 >> 41) // n / 146097, for days to 9999-12-31
	ofCentury := n - 146097*century | 3
	p := uint64(2939745) * uint64(ofCentury)
	year = 100*century + uint32(p>>32)
	dayOfYear := uint32(p) / 2939745 / 4
	n = 2141*dayOfYear + 197913
	month = n >> 16
	day = n&0xffff*31345>>26 + 1 // n&0xffff / 2141
	if dayOfYear >= 306 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

// daysOf is the inverse of civil for years 0001 to 9999, and for the year 0000 from its March.
// January and February of 0000 are negative.
func daysOf(year, month, day int) int {
	if month > 2 {
		month -= 3
	} else {
		month += 9
		year--
	}
	leaps := year/4 - year/100 + year/400
	if year < 0 {
		leaps = -1 // the year -1 alone: floor(-1/4) - floor(-1/100) + floor(-1/400)
	}
	return 365*year + leaps + (153*month+2)/5 + day - 1
}

// daysIn is the number of days of a month, 1 to 12, in the proleptic Gregorian calendar.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
