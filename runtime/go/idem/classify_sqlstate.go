package idem

// ClassifySQLState is what an SQLSTATE means: by the whole code, else by its class, the first two
// characters, else OutcomeRetryable. Anything but five characters of [0-9A-Z] is CodeInputInvalid.
// (CLASS-030)
func ClassifySQLState(code string) (Outcome, error) {
	if len(code) != 5 {
		return 0, fault(CodeInputInvalid, code, noOffset, "an SQLSTATE is five characters of [0-9A-Z]")
	}
	for i := 0; i < len(code); i++ {
		if !isDigit(code[i]) && !isUpper(code[i]) {
			return 0, fault(CodeInputInvalid, code, i, "an SQLSTATE is five characters of [0-9A-Z]")
		}
	}
	switch code {
	case "00000":
		return OutcomeOK, nil
	case "25006", // read-only: a failover
		"25P02", // aborted by another error, which is not known
		"25P03", // idle in transaction for too long
		"40001", "40P01", "40003",
		"55006", "55P03",
		"57014", "57P01", "57P02", "57P03", "57P05":
		return OutcomeRetryable, nil
	case "40002": // an integrity constraint
		return OutcomeNonRetryable, nil
	}
	switch code[:2] {
	case "0A", "21", "22", "23", "25", "26", "28", "2B", "3D", "3F", "42", "44":
		return OutcomeNonRetryable, nil
	}
	return OutcomeRetryable, nil
}
