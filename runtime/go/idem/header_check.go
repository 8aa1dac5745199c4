package idem

// checkText checks the syntax and the range of a header that is text.
func checkText(id HeaderID, v []byte) error {
	switch id {
	case IdempotencyKey, BizKey, IdempotencyKeyPrevious:
		return checkKeyBytes(v)
	case EventType, TargetScope:
		return checkName(v, 1)
	case ExpectedCurrentState:
		return checkName(v, 0)
	case EventID, Topic:
		if len(v) < 1 || len(v) > MaxKeyLen {
			return fault(CodeHeaderSyntax, string(v), noOffset, "1 to 1024 bytes are needed")
		}
	case RejectReason:
		return checkReason(v)
	case Fingerprint:
		if !IsFingerprint(string(v)) {
			return fault(CodeHeaderSyntax, string(v), noOffset, "8 hex digits, - and 16 hex digits are needed, in lower case")
		}
	case ProducedAt, OccurredAt, NextRetryTime:
		return checkTime(v)
	}
	return nil
}

func checkKeyBytes(v []byte) error {
	if len(v) == 0 {
		return rule(CodeKeySyntax, "a key has at least one byte")
	}
	for i, c := range v {
		if c-0x21 > 0x7E-0x21 {
			return fault(CodeKeySyntax, string(v), i, "a key has only bytes 0x21-0x7E")
		}
	}
	if len(v) > MaxKeyLen {
		return rule(CodeKeyTooLong, "a key has at most 1024 bytes")
	}
	return nil
}

// maxNameLen is the most bytes of a name or a state.
const maxNameLen = 200

func checkName(v []byte, least int) error {
	if len(v) < least || len(v) > maxNameLen {
		return fault(CodeHeaderSyntax, string(v), noOffset, "up to 200 bytes of [A-Za-z0-9._-] are needed")
	}
	for i, c := range v {
		if !plain[c] {
			return fault(CodeHeaderSyntax, string(v), i, "only [A-Za-z0-9._-] are allowed")
		}
	}
	return nil
}

func checkReason(v []byte) error {
	if len(v) > MaxKeyLen {
		return rule(CodeHeaderSyntax, "at most 1024 bytes")
	}
	for i, c := range v {
		if isControl(c) {
			return fault(CodeHeaderSyntax, string(v), i, "a control character")
		}
	}
	return nil
}

func isControl(c byte) bool { return c < 0x20 || c == 0x7F }

// checkTime checks a timestamp of HDR-003, which is one of TXT-024 that ends in Z.
func checkTime(v []byte) error {
	const longest = len("0000-00-00T00:00:00.000000000Z")
	if len(v) == 0 || len(v) > longest || v[len(v)-1] != 'Z' {
		return fault(CodeHeaderSyntax, string(v), noOffset, "YYYY-MM-DDTHH:MM:SS, a fraction or none, and Z are needed")
	}
	t, err := scanTimestamp(string(v))
	if err != nil {
		return &Error{Code: CodeHeaderSyntax, Offset: noOffset, Value: excerpt(string(v), noOffset), Detail: err.(*Error).Detail}
	}
	if t.year == 0 {
		return fault(CodeHeaderRange, string(v), noOffset, timestampRule)
	}
	return nil
}

// headerBounds is the range of the headers that are integers.
func headerBounds(id HeaderID) (low, high int64) {
	switch id {
	case IdemSpec:
		return SpecMajor, SpecMajor
	case MaxRetry, MaxHold:
		return 0, maxRetries
	case BackoffBase:
		return 1, maxBackoffBase
	case BackoffJitter:
		return 0, maxJitter
	case BackoffMax:
		return 1, maxBackoffMax
	case RetryInterval:
		return 0, maxScheduleDelay + maxJitter
	}
	return 0, maxCount
}

// maxCount is the largest retry_count, hold_count and redrive_count.
const maxCount = 1<<31 - 1

func readInteger(field *int32, id HeaderID, v []byte) error {
	n, ok := parseCount(v)
	if !ok {
		return fault(CodeHeaderSyntax, string(v), noOffset, "an integer in base 10 is needed, without a sign and leading zeros")
	}
	if low, high := headerBounds(id); n < low || n > high {
		code := CodeHeaderRange
		if id == IdemSpec {
			code = CodeSpecVersion
		}
		return fault(code, string(v), noOffset, "the bounds are "+decimalText(low)+" to "+decimalText(high))
	}
	*field = int32(n)
	return nil
}

// readSchedule checks the syntax of all entries before the range of any.
func (e *Envelope) readSchedule(v []byte) error {
	inRange := true
	entries := 0
	for from := 0; from <= len(v); {
		to := from
		for to < len(v) && v[to] != ',' {
			to++
		}
		n, ok := parseCount(v[from:to])
		if !ok {
			return fault(CodeHeaderSyntax, string(v), from, "integers in base 10, joined by commas, are needed")
		}
		entries++
		if n > maxScheduleDelay || entries > maxScheduleLen {
			inRange = false
		} else {
			e.BackoffSchedule = append(e.BackoffSchedule, int32(n))
		}
		from = to + 1
	}
	if !inRange {
		return fault(CodeHeaderRange, string(v), noOffset, "at most 32 entries of 0 to 604800000")
	}
	return nil
}

// parseCount reads 0|[1-9][0-9]*, of any length; beyond 2^58 it is only roughly right, which is beyond
// every header.
func parseCount(v []byte) (int64, bool) {
	if len(v) == 0 || v[0] == '0' && len(v) > 1 {
		return 0, false
	}
	n := int64(0)
	for _, c := range v {
		if !isDigit(c) {
			return 0, false
		}
		if n < 1<<58 {
			n = n*10 + int64(c-'0')
		}
	}
	return n, true
}
