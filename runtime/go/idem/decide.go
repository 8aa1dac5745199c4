package idem

// Action is what to do with a delivery.
type Action uint8

// The actions.
const (
	ActionAck        Action = 1 + iota // acknowledge it, nothing follows
	ActionRetry                        // deliver it again, which costs a retry
	ActionHold                         // deliver it again, which costs a hold
	ActionDefer                        // deliver it again, which costs nothing
	ActionDeadLetter                   // to the dead letters
	ActionRedrive                      // from the dead letters into another life; never decided by Decide
)

var actionNames = [...]string{
	ActionAck:        "ACK",
	ActionRetry:      "RETRY",
	ActionHold:       "HOLD",
	ActionDefer:      "DEFER",
	ActionDeadLetter: "DEAD_LETTER",
	ActionRedrive:    "REDRIVE",
}

// String is the action's name in the spec, "DEAD_LETTER".
func (v Action) String() string {
	if v > 0 && int(v) < len(actionNames) {
		return actionNames[v]
	}
	return "ACTION_" + decimalText(int64(v))
}

// ParseAction is the inverse of String, and false for a name that is none.
func ParseAction(name string) (Action, bool) {
	for v := int(ActionAck); v < len(actionNames); v++ {
		if actionNames[v] == name {
			return Action(v), true
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

// Decision is a decision.
type Decision struct {
	Action Action
	// Delay is when to deliver it again, for ActionRetry, ActionHold and ActionDefer.
	Delay Delay
	// Counts are those of the next delivery, or of the dead letter.
	Counts Counts
	// Reason is for the reject_reason header of ActionRetry, ActionHold and ActionDeadLetter, as it was given: the writer
	// of headers makes it fit.
	Reason string
}

// Decide says what to do with a delivery of key. It is pure: equal arguments give an equal action in
// every service. Errors, for each outcome: CodePolicyRange, for counts below 0 too, then
// CodeKeyEmpty; for an outcome that is none CodeInputInvalid. (RETRY-020 to RETRY-026)
func Decide(r Result, key string, counts Counts, p *Policy) (Decision, error) {
	if int(r.Outcome) >= len(outcomeNames) {
		return Decision{}, rule(CodeInputInvalid, "no outcome")
	}
	if err := p.Check(); err != nil {
		return Decision{}, err
	}
	if counts.Retry < 0 || counts.Hold < 0 {
		return Decision{}, rule(CodePolicyRange, "a count is 0 to 2147483647")
	}
	if key == "" {
		return Decision{}, rule(CodeKeyEmpty, "a key of no bytes has no delay")
	}
	switch r.Outcome {
	case OutcomeOK, OutcomeDuplicate, OutcomeStale:
		return Decision{Action: ActionAck, Counts: counts}, nil
	case OutcomeInProgress, OutcomeFenced:
		delay := Delay{BaseMs: atMostMaxWait(r.AfterMs), JitterMs: jitter(key, counts.Retry, p.BackoffJitter)}
		return Decision{Action: ActionDefer, Delay: delay, Counts: counts}, nil
	}
	a := Decision{Action: ActionDeadLetter, Counts: counts, Reason: r.Reason}
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
			a.Action, a.Delay = ActionRetry, backoff(key, counts.Retry, p, after)
			a.Counts.Retry++
		}
	case OutcomeOutOfOrder:
		if counts.Hold < p.MaxHold {
			a.Action, a.Delay = ActionHold, backoff(key, counts.Hold, p, 0)
			a.Counts.Hold++
		}
	}
	return a, nil
}
