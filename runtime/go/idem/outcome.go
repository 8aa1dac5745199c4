package idem

// Outcome is what became of one delivery. The zero value is OutcomeRetryable, which is what an error
// is that nobody classified. (CLASS-001)
type Outcome uint8

// The outcomes. The first four and OutcomeOutOfOrder are a handler's to tell; the others come from
// the runtime: from admission, the state machine, the headers and the lease.
const (
	OutcomeRetryable    Outcome = iota // failed, and may succeed later
	OutcomeOK                          // done
	OutcomeDuplicate                   // done before
	OutcomeThrottled                   // refused for now, and may say for how long
	OutcomeNonRetryable                // will never succeed
	OutcomeOutOfOrder                  // came before its predecessor
	OutcomeStale                       // what follows from this delivery is durable or over
	OutcomeKeyReused                   // the same key with another content
	OutcomeConflict                    // the state machine can never apply it
	OutcomeMalformed                   // headers or payload cannot be read
	OutcomeCrashLoop                   // its attempts ended without a word, again and again
	OutcomeTooOld                      // older than the dedup records are kept
	OutcomeInProgress                  // another claim is live
	OutcomeFenced                      // the lease was lost
)

var outcomeNames = [...]string{
	OutcomeRetryable:    "RETRYABLE",
	OutcomeOK:           "OK",
	OutcomeDuplicate:    "DUPLICATE",
	OutcomeThrottled:    "THROTTLED",
	OutcomeNonRetryable: "NON_RETRYABLE",
	OutcomeOutOfOrder:   "OUT_OF_ORDER",
	OutcomeStale:        "STALE",
	OutcomeKeyReused:    "KEY_REUSED",
	OutcomeConflict:     "CONFLICT",
	OutcomeMalformed:    "MALFORMED",
	OutcomeCrashLoop:    "CRASH_LOOP",
	OutcomeTooOld:       "TOO_OLD",
	OutcomeInProgress:   "IN_PROGRESS",
	OutcomeFenced:       "FENCED",
}

// String is the outcome's name in the spec, "RETRYABLE".
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "OUTCOME_" + decimalText(int64(o))
}

// ParseOutcome is the inverse of String, and false for a name that is none.
func ParseOutcome(name string) (Outcome, bool) {
	for o, s := range outcomeNames {
		if s == name {
			return Outcome(o), true
		}
	}
	return 0, false
}
