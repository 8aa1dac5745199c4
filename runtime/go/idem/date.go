package idem

// AppendDate appends a google.type.Date as 2025-01-01. Partial dates (a part that is 0), years
// above 9999 and days that no calendar has are CodeDateRange. (TXT-040)
func AppendDate(dst []byte, year, month, day int32) ([]byte, error) {
	if year < 1 || year > 9999 {
		return dst, rule(CodeDateRange, "the year is outside 1 to 9999")
	}
	if month < 1 || month > 12 || day < 1 || int(day) > daysIn(int(year), int(month)) {
		return dst, rule(CodeDateRange, "no such day")
	}
	return appendDate(dst, uint32(year), uint32(month), uint32(day)), nil
}
