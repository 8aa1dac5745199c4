package idem

// AppendTimestampText appends the point in time that an RFC 3339 text names, as AppendTimestamp
// does: YYYY-MM-DDTHH:MM:SS, a fraction of 1 to 9 digits or none, and Z or an offset of at most
// 23:59. What else libraries accept is CodeTimestampSyntax: lower-case letters, a space, a comma, a
// missing part, second 60, hour 24, a date that no calendar has. CodeTimestampRange is for what is
// outside the years 0001 to 9999 once it is in UTC. (TXT-024, TXT-025)
func AppendTimestampText(dst []byte, rfc3339 string, digits int) ([]byte, error) {
	t, err := scanTimestamp(rfc3339)
	if err != nil {
		return dst, err
	}
	if t.offset == 0 && t.year > 0 && digits >= 0 && digits <= t.fractionLen {
		// The text is in UTC and has digits to spare: it is cut, and not computed.
		n := dateTimeLen
		if digits > 0 {
			n += 1 + digits
		}
		dst = append(dst, rfc3339[:n]...)
		return append(dst, 'Z'), nil
	}
	days := daysOf(t.year, t.month, t.day) - marchToJanuary
	second := int64(days)*secondsPerDay + int64(t.second-t.offset) + minSecond
	if second < minSecond || second > maxSecond {
		return dst, fault(CodeTimestampRange, rfc3339, noOffset, timestampRule)
	}
	return AppendTimestamp(dst, second, int32(t.nanos), digits)
}

// textTime is a scanned RFC 3339 text: second counts from midnight, offset is in seconds.
type textTime struct {
	year, month, day   int
	second, offset     int
	nanos, fractionLen int
}

// scanTimestamp checks syntax and calendar. The year 0000 is in the calendar.
func scanTimestamp(text string) (textTime, error) {
	var t textTime
	if len(text) <= dateTimeLen {
		return t, dateTimeFault(text)
	}
	century, year := two(text, 0), two(text, 2)
	t.month, t.day = two(text, 5), two(text, 8)
	hour, minute, second := two(text, 11), two(text, 14), two(text, 17)
	if century|year|t.month|t.day|hour|minute|second < 0 ||
		text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return t, dateTimeFault(text)
	}
	t.year = century*100 + year
	if t.month < 1 || t.month > 12 || t.day < 1 || t.day > daysIn(t.year, t.month) {
		return t, fault(CodeTimestampSyntax, text, 5, "no such day")
	}
	if hour > 23 || minute > 59 || second > 59 {
		return t, fault(CodeTimestampSyntax, text, 11, "no such time of day")
	}
	t.second = hour*3600 + minute*60 + second
	i, err := t.scanFraction(text)
	if err != nil {
		return t, err
	}
	return t, t.scanOffset(text, i)
}

// scanFraction reads the fraction, where there is one, and returns where it ends.
func (t *textTime) scanFraction(text string) (int, error) {
	i := dateTimeLen
	if i == len(text) || text[i] != '.' {
		return i, nil
	}
	start := i + 1
	for i = start; i < len(text) && isDigit(text[i]); i++ {
		if i-start == 9 {
			return i, fault(CodeTimestampSyntax, text, i, "more than nine fraction digits")
		}
		t.nanos = t.nanos*10 + int(text[i]-'0')
	}
	t.fractionLen = i - start
	if t.fractionLen == 0 {
		return i, fault(CodeTimestampSyntax, text, i, "a fraction digit is needed")
	}
	for n := t.fractionLen; n < 9; n++ {
		t.nanos *= 10
	}
	return i, nil
}

// scanOffset reads Z or an offset, which is the end of the text.
func (t *textTime) scanOffset(text string, i int) error {
	rest := text[i:]
	if rest == "Z" {
		return nil
	}
	if len(rest) != len("+00:00") || rest[0] != '+' && rest[0] != '-' || rest[3] != ':' {
		return fault(CodeTimestampSyntax, text, i, "Z or an offset like +02:00 is needed as the end")
	}
	hour, minute := two(rest, 1), two(rest, 4)
	if hour|minute < 0 {
		return fault(CodeTimestampSyntax, text, i, "Z or an offset like +02:00 is needed as the end")
	}
	if hour > 23 || minute > 59 {
		return fault(CodeTimestampSyntax, text, i, "the offset is over 23:59")
	}
	t.offset = hour*3600 + minute*60
	if rest[0] == '-' {
		t.offset = -t.offset
	}
	return nil
}

// dateTimeFault finds where a text stops being YYYY-MM-DDTHH:MM:SS and something behind.
func dateTimeFault(text string) error {
	const shape = "0000-00-00T00:00:00"
	i := 0
	for i < len(text) && i < len(shape) {
		if shape[i] == '0' && !isDigit(text[i]) || shape[i] != '0' && text[i] != shape[i] {
			break
		}
		i++
	}
	return fault(CodeTimestampSyntax, text, i, "YYYY-MM-DDTHH:MM:SS and Z or an offset are needed")
}

// two is the number that two digits at i stand for, and negative where they are none.
func two(text string, i int) int {
	high, low := text[i]-'0', text[i+1]-'0'
	if high > 9 || low > 9 {
		return -1
	}
	return int(high)*10 + int(low)
}
