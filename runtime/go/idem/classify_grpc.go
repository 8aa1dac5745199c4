package idem

// ClassifyGRPC is what a gRPC status code means, by its number; a number that gRPC does not have is
// OutcomeRetryable, and a negative one CodeInputInvalid. (CLASS-020)
func ClassifyGRPC(code int32) (Outcome, error) {
	if code < 0 {
		return 0, rule(CodeInputInvalid, "a gRPC code is 0 to 2147483647")
	}
	switch code {
	case 0: // OK
		return OutcomeOK, nil
	case 8: // RESOURCE_EXHAUSTED
		return OutcomeThrottled, nil
	case 3, // INVALID_ARGUMENT
		5,  // NOT_FOUND
		6,  // ALREADY_EXISTS
		7,  // PERMISSION_DENIED
		9,  // FAILED_PRECONDITION
		11, // OUT_OF_RANGE
		12, // UNIMPLEMENTED
		15, // DATA_LOSS
		16: // UNAUTHENTICATED
		return OutcomeNonRetryable, nil
	}
	return OutcomeRetryable, nil
}
