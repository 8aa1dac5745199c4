package idem

const (
	// maxDecimalLen is the most bytes of a decimal's canonical text.
	maxDecimalLen = 256
	// maxExponentDigits is the most digits of an exponent after its leading zeros.
	maxExponentDigits = 4
)

// AppendDecimal appends the plain notation of a decimal number: "+1.50e1" is "15", "-0" is "0",
// ".5" is "0.5". The text is [+-]?(D+(.D*)?|.D+)([eE][+-]?D+)? over ASCII digits.
//
// maxScale is the most fraction digits that may be left once trailing zeros are gone; more is
// CodeDecimalScale, never rounded. A negative maxScale sets no limit. Other errors: CodeDecimalSyntax,
// also for empty text; CodeDecimalRange for an exponent of more than 4 digits after its leading zeros
// and for a result over 256 bytes. (TXT-001 to TXT-007)
func AppendDecimal(dst []byte, text string, maxScale int) ([]byte, error) {
	if isCanonicalDecimal(text, maxScale) {
		return append(dst, text...), nil
	}
	d, err := scanDecimal(text)
	if err != nil {
		return dst, err
	}
	return d.append(dst, text, maxScale)
}

// isCanonicalDecimal says whether text is its own canonical text, which most are.
func isCanonicalDecimal(text string, maxScale int) bool {
	n := len(text)
	if n == 0 || n > maxDecimalLen {
		return false
	}
	start := 0
	if text[0] == '-' {
		start = 1
	}
	i := start
	for i < n && isDigit(text[i]) {
		i++
	}
	if i == start || text[start] == '0' && i > start+1 {
		return false
	}
	if i == n {
		return start == 0 || text[start] != '0' // "0" is canonical, "-0" is not
	}
	scale := n - i - 1
	if text[i] != '.' || scale == 0 || maxScale >= 0 && scale > maxScale || text[n-1] == '0' {
		return false
	}
	for i++; i < n && isDigit(text[i]); i++ {
	}
	return i == n
}

// decimalParts is a scanned decimal: digit k of its coefficient is at text[whole+k] for k < wholeLen,
// and at text[frac+k-wholeLen] behind.
type decimalParts struct {
	negative        bool
	whole, wholeLen int
	frac, fracLen   int
	exponent        int
}

// scanDecimal checks the syntax, and then the length of the exponent.
func scanDecimal(text string) (decimalParts, error) {
	var d decimalParts
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		d.negative = text[i] == '-'
		i++
	}
	d.whole = i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	d.wholeLen = i - d.whole
	if i < len(text) && text[i] == '.' {
		i++
		d.frac = i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		d.fracLen = i - d.frac
	}
	if d.wholeLen+d.fracLen == 0 {
		return d, fault(CodeDecimalSyntax, text, i, "a digit is needed")
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		exponent, end, err := scanExponent(text, i+1)
		if err != nil {
			return d, err
		}
		d.exponent, i = exponent, end
	}
	if i < len(text) {
		return d, fault(CodeDecimalSyntax, text, i, "no part of a decimal number")
	}
	if d.exponent == exponentTooLong {
		return d, fault(CodeDecimalRange, text, noOffset, "the exponent has more than 4 digits")
	}
	return d, nil
}

// exponentTooLong stands for every exponent of more than four digits, until the syntax behind it
// is checked.
const exponentTooLong = 1 << 20

// scanExponent reads what follows the e, up to the first byte that is no digit.
func scanExponent(text string, i int) (exponent, end int, err error) {
	negative := false
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		negative = text[i] == '-'
		i++
	}
	start := i
	for i < len(text) && text[i] == '0' {
		i++
	}
	significant := i
	for i < len(text) && isDigit(text[i]) {
		if i-significant < maxExponentDigits {
			exponent = exponent*10 + int(text[i]-'0')
		}
		i++
	}
	if i == start {
		return 0, i, fault(CodeDecimalSyntax, text, i, "a digit of the exponent is needed")
	}
	if i-significant > maxExponentDigits {
		return exponentTooLong, i, nil
	}
	if negative {
		exponent = -exponent
	}
	return exponent, i, nil
}

// append writes the plain notation: zero, then the scale, then the length, in the order of the spec.
func (d decimalParts) append(dst []byte, text string, maxScale int) ([]byte, error) {
	total := d.wholeLen + d.fracLen
	first := 0
	for first < total && d.digit(text, first) == '0' {
		first++
	}
	if first == total {
		return append(dst, '0'), nil
	}
	last := total
	for d.digit(text, last-1) == '0' {
		last--
	}
	// point is where the decimal point stands, counted from the first significant digit.
	point := d.wholeLen + d.exponent - first
	scale := last - first - point
	if scale < 0 {
		scale = 0
	}
	if maxScale >= 0 && scale > maxScale {
		return dst, fault(CodeDecimalScale, text, noOffset, "more fraction digits than max_scale")
	}
	if plainLen(d.negative, point, scale) > maxDecimalLen {
		return dst, fault(CodeDecimalRange, text, noOffset, "over 256 bytes in plain notation")
	}
	if d.negative {
		dst = append(dst, '-')
	}
	if point <= 0 {
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -point)
		return d.appendDigits(dst, text, first, last), nil
	}
	if scale == 0 {
		dst = d.appendDigits(dst, text, first, last)
		return appendZeros(dst, point-(last-first)), nil
	}
	dst = d.appendDigits(dst, text, first, first+point)
	dst = append(dst, '.')
	return d.appendDigits(dst, text, first+point, last), nil
}

func plainLen(negative bool, point, scale int) int {
	n := point
	if n < 1 {
		n = 1
	}
	if scale > 0 {
		n += 1 + scale
	}
	if negative {
		n++
	}
	return n
}

// digit returns digit k of the coefficient.
func (d decimalParts) digit(text string, k int) byte {
	if k < d.wholeLen {
		return text[d.whole+k]
	}
	return text[d.frac+k-d.wholeLen]
}

// appendDigits appends the digits from to to of the coefficient.
func (d decimalParts) appendDigits(dst []byte, text string, from, to int) []byte {
	if from < d.wholeLen {
		end := to
		if end > d.wholeLen {
			end = d.wholeLen
		}
		dst = append(dst, text[d.whole+from:d.whole+end]...)
		from = end
	}
	if from < to {
		dst = append(dst, text[d.frac+from-d.wholeLen:d.frac+to-d.wholeLen]...)
	}
	return dst
}

func appendZeros(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, '0')
	}
	return dst
}

func isDigit(c byte) bool { return c-'0' < 10 }
