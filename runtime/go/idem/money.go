package idem

import "strconv"

// AppendMoney appends the currency and the decimal amount of a google.type.Money: "USD100.5".
// The currency is three letters A-Z, else CodeMoneyCurrency. nanos is -999999999 to 999999999 and of
// the sign of units, else CodeMoneyRange; a negative amount is "USD-0.5". (TXT-010 to TXT-012)
func AppendMoney(dst []byte, currency string, units int64, nanos int32) ([]byte, error) {
	if len(currency) != 3 || !isUpper(currency[0]) || !isUpper(currency[1]) || !isUpper(currency[2]) {
		return dst, fault(CodeMoneyCurrency, currency, noOffset, "three letters A-Z are needed")
	}
	if nanos < -maxNanos || nanos > maxNanos {
		return dst, rule(CodeMoneyRange, "nanos outside -999999999 to 999999999")
	}
	if units > 0 && nanos < 0 || units < 0 && nanos > 0 {
		return dst, rule(CodeMoneyRange, "units and nanos of different signs")
	}
	dst = append(dst, currency...)
	whole, fraction := uint64(units), uint32(nanos)
	if units < 0 || nanos < 0 {
		dst = append(dst, '-')
		whole, fraction = -whole, -fraction
	}
	dst = strconv.AppendUint(dst, whole, 10)
	if fraction == 0 {
		return dst, nil
	}
	dst = append(dst, '.')
	dst = appendFraction(dst, fraction, 9)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst, nil
}

func isUpper(c byte) bool { return c-'A' < 26 }
