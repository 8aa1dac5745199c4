package idem

// ClassifyHTTP is what an HTTP status means: OutcomeOK, OutcomeRetryable, OutcomeThrottled (whose
// AfterMs is the Retry-After header) or OutcomeNonRetryable. A status outside 100 to 599 is
// CodeInputInvalid. (CLASS-010)
func ClassifyHTTP(status int) (Outcome, error) {
	switch {
	case status < 100 || status > 599:
		return 0, rule(CodeInputInvalid, "an HTTP status is 100 to 599")
	case status < 200:
		return OutcomeRetryable, nil
	case status < 300:
		return OutcomeOK, nil
	}
	switch status {
	case 429, 503:
		return OutcomeThrottled, nil
	case 408, 409, 421, 423, 425:
		return OutcomeRetryable, nil
	case 501, 505, 506, 508, 510:
		return OutcomeNonRetryable, nil
	}
	if status >= 500 {
		return OutcomeRetryable, nil
	}
	return OutcomeNonRetryable, nil
}
