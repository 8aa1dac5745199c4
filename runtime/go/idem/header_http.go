package idem

// httpNames is the names that are written; reading does not look at case.
var httpNames = [headerCount]string{
	IdempotencyKey:         "Idempotency-Key",
	EventID:                "Idem-Event-Id",
	EventType:              "Idem-Event-Type",
	BizKey:                 "Idem-Biz-Key",
	Topic:                  "Idem-Topic",
	ProducedAt:             "Idem-Produced-At",
	OccurredAt:             "Idem-Occurred-At",
	Traceparent:            "traceparent",
	Tracestate:             "tracestate",
	ExpectedCurrentState:   "Idem-Expected-Current-State",
	IdempotencyKeyPrevious: "Idem-Idempotency-Key-Previous",
	Fingerprint:            "Idem-Fingerprint",
	IdemSpec:               "Idem-Spec",
	RetryCount:             "Idem-Retry-Count",
	MaxRetry:               "Idem-Max-Retry",
	HoldCount:              "Idem-Hold-Count",
	MaxHold:                "Idem-Max-Hold",
	RedriveCount:           "Idem-Redrive-Count",
	TargetScope:            "Idem-Target-Scope",
	BackoffBase:            "Idem-Backoff-Base",
	BackoffJitter:          "Idem-Backoff-Jitter",
	BackoffMax:             "Idem-Backoff-Max",
	BackoffSchedule:        "Idem-Backoff-Schedule",
	RetryInterval:          "Idem-Retry-Interval",
	NextRetryTime:          "Idem-Next-Retry-Time",
	RejectReason:           "Idem-Reject-Reason",
}

// lookupHTTP compares without case, and only names that begin like one of ours.
func lookupHTTP(name string) (HeaderID, bool) {
	if len(name) < len("idem-spec") || name[0]|0x20 != 'i' && name[0]|0x20 != 't' {
		return 0, false
	}
	for id, known := range httpNames {
		if len(name) == len(known) && equalFold(name, known) {
			return HeaderID(id), true
		}
	}
	return 0, false
}

// equalFold compares ASCII texts of one length without case.
func equalFold(a, b string) bool {
	for i := 0; i < len(a); i++ {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

// trimBlanks drops the blanks and tabs around a value.
func trimBlanks(v []byte) []byte {
	for len(v) > 0 && (v[0] == ' ' || v[0] == '\t') {
		v = v[1:]
	}
	for len(v) > 0 && (v[len(v)-1] == ' ' || v[len(v)-1] == '\t') {
		v = v[:len(v)-1]
	}
	return v
}

// parseSFString reads a structured-field string, which begins with a quote. What is no such string as a
// whole is false. (HDR-043)
func parseSFString(v []byte) ([]byte, bool) {
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' {
		return nil, false
	}
	inner := v[1 : len(v)-1]
	escapes := 0
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c < 0x20 || c > 0x7E || c == '"' {
			return nil, false
		}
		if c == '\\' {
			i++
			if i == len(inner) || inner[i] != '"' && inner[i] != '\\' {
				return nil, false
			}
			escapes++
		}
	}
	if escapes == 0 {
		return inner, true
	}
	text := make([]byte, 0, len(inner)-escapes)
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' {
			i++
		}
		text = append(text, inner[i])
	}
	return text, true
}

// appendSFString appends text, which has only bytes 0x20-0x7E, as a structured-field string.
func appendSFString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// printable says whether every byte is 0x20-0x7E, which HTTP values are.
func printable(v []byte) bool {
	for _, c := range v {
		if c < 0x20 || c > 0x7E {
			return false
		}
	}
	return true
}
