package idem

// Verb is what to do with a delivery.
type Verb uint8

// The verbs.
const (
	VerbAck        Verb = 1 + iota // acknowledge it, nothing follows
	VerbRetry                      // deliver it again, which costs a retry
	VerbHold                       // deliver it again, which costs a hold
	VerbDefer                      // deliver it again, which costs nothing
	VerbDeadLetter                 // to the dead letters
	VerbRedrive                    // from the dead letters into another life; never decided by Decide
)

var verbNames = [...]string{
	VerbAck:        "ACK",
	VerbRetry:      "RETRY",
	VerbHold:       "HOLD",
	VerbDefer:      "DEFER",
	VerbDeadLetter: "DEAD_LETTER",
	VerbRedrive:    "REDRIVE",
}

// String is the verb's name in the spec, "DEAD_LETTER".
func (v Verb) String() string {
	if v > 0 && int(v) < len(verbNames) {
		return verbNames[v]
	}
	return "VERB_" + decimalText(int64(v))
}

// ParseVerb is the inverse of String, and false for a name that is none.
func ParseVerb(name string) (Verb, bool) {
	for v := int(VerbAck); v < len(verbNames); v++ {
		if verbNames[v] == name {
			return Verb(v), true
		}
	}
	return 0, false
}

// Result is what a delivery came to.
type Result struct {
	// Outcome is what became of it.
	Outcome Outcome
	// AfterMs is the Retry-After of OutcomeThrottled, and the wait of OutcomeInProgress and
	// OutcomeFenced, in milliseconds. It counts up to seven days, and a negative one not at all. Other
	// outcomes ignore it.
	AfterMs int64
	// Reason is what the reject_reason header will say. Empty: the outcome's name.
	Reason string
}

// Counts is how often a message was delivered again so far, from its headers or its record, whichever
// is larger.
type Counts struct {
	Retry int32 // retry_count
	Hold  int32 // hold_count
}

// Action is a decision.
type Action struct {
	Verb Verb
	// Delay is when to deliver it again, for VerbRetry, VerbHold and VerbDefer.
	Delay Delay
	// Counts are those of the next delivery, or of the dead letter.
	Counts Counts
	// Reason is for the reject_reason header of VerbRetry, VerbHold and VerbDeadLetter, as it was given: the writer
	// of headers makes it fit.
	Reason string
}

// Decide says what to do with a delivery of key. It is pure: equal arguments give an equal action in
// every service. Errors, for each outcome: CodePolicyRange, for counts below 0 too, then
// CodeKeyEmpty; for an outcome that is none CodeInputInvalid. (RETRY-020 to RETRY-026)
func Decide(r Result, key string, counts Counts, p *Policy) (Action, error) {
	if int(r.Outcome) >= len(outcomeNames) {
		return Action{}, rule(CodeInputInvalid, "no outcome")
	}
	if err := p.Check(); err != nil {
		return Action{}, err
	}
	if counts.Retry < 0 || counts.Hold < 0 {
		return Action{}, rule(CodePolicyRange, "a count is 0 to 2147483647")
	}
	if key == "" {
		return Action{}, rule(CodeKeyEmpty, "a key of no bytes has no delay")
	}
	switch r.Outcome {
	case OutcomeOK, OutcomeDuplicate, OutcomeStale:
		return Action{Verb: VerbAck, Counts: counts}, nil
	case OutcomeInProgress, OutcomeFenced:
		delay := Delay{BaseMs: atMostMaxWait(r.AfterMs), JitterMs: jitter(key, counts.Retry, p.BackoffJitter)}
		return Action{Verb: VerbDefer, Delay: delay, Counts: counts}, nil
	}
	a := Action{Verb: VerbDeadLetter, Counts: counts, Reason: r.Reason}
	if a.Reason == "" {
		a.Reason = r.Outcome.String()
	}
	switch r.Outcome {
	case OutcomeRetryable, OutcomeThrottled:
		if counts.Retry < p.MaxRetry {
			after := int64(0)
			if r.Outcome == OutcomeThrottled {
				after = r.AfterMs
			}
			a.Verb, a.Delay = VerbRetry, backoff(key, counts.Retry, p, after)
			a.Counts.Retry++
		}
	case OutcomeOutOfOrder:
		if counts.Hold < p.MaxHold {
			a.Verb, a.Delay = VerbHold, backoff(key, counts.Hold, p, 0)
			a.Counts.Hold++
		}
	}
	return a, nil
}
