package state

import (
	"errors"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// CodeSuperseded is in front of the reject_reason of a superseded message that is dead-lettered.
const CodeSuperseded = "SUPERSEDED"

// Result is what the guard found.
type Result struct {
	Verdict idem.Verdict
	// Current is the row's state before the move, and Missing says that there was no row.
	Current string
	Missing bool
	// Superseded says of VerdictDuplicate that another key made the transition, or one past it, as far as the
	// row can tell; SupersededBy is that key, where the table has LastKey. (STATE-011)
	Superseded   bool
	SupersededBy string
	// DeadLetter says that the schema dead-letters a superseded message.
	DeadLetter bool
}

// errSuperseded is the cause where the row does not keep the key.
var errSuperseded = errors.New("another key made the transition")

// Err is what the verdict means for the delivery, as an *idem.Failure: nil for APPLY; OutcomeDuplicate for
// DUPLICATE, or OutcomeNonRetryable with CodeSuperseded where the schema dead-letters it; OutcomeOutOfOrder for
// EARLY; OutcomeConflict for CONFLICT. (STATE-005, STATE-011)
func (r Result) Err() error {
	switch r.Verdict {
	case idem.VerdictApply:
		return nil
	case idem.VerdictDuplicate:
		if r.DeadLetter {
			cause := errSuperseded
			if r.SupersededBy != "" {
				cause = fmt.Errorf("%w: %s", errSuperseded, r.SupersededBy)
			}
			return &idem.Failure{Outcome: idem.OutcomeNonRetryable, Code: CodeSuperseded, Err: cause}
		}
		return r.failure(idem.OutcomeDuplicate)
	case idem.VerdictEarly:
		return r.failure(idem.OutcomeOutOfOrder)
	case idem.VerdictConflict:
		return r.failure(idem.OutcomeConflict)
	}
	return fmt.Errorf("the guard gave no verdict: %v", r.Verdict)
}

func (r Result) failure(outcome idem.Outcome) error {
	where := "the object does not exist"
	if !r.Missing {
		where = "the object is in state " + word(r.Current)
	}
	return &idem.Failure{Outcome: outcome, Err: errors.New(where)}
}
