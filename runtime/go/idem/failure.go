package idem

import (
	"context"
	"errors"
	"time"
)

// Failure is an error that says what it means for the delivery that ran into it. Handlers make one with
// Retryable, Throttled, NonRetryable, OutOfOrder or Classified; ResultOf reads it.
type Failure struct {
	// Outcome is the class of the error.
	Outcome Outcome
	// After is the Retry-After of OutcomeThrottled; 0 where none was given.
	After time.Duration
	// Code is a word for the reject_reason header, such as "CARD_EXPIRED". Empty: the outcome's name.
	Code string
	// Err is the cause. It may be nil.
	Err error
}

// Error is the code, or the outcome's name, and the cause.
func (f *Failure) Error() string {
	word := f.Code
	if word == "" {
		word = f.Outcome.String()
	}
	if f.Err == nil {
		return word
	}
	return word + ": " + f.Err.Error()
}

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Retryable says that the same delivery may succeed later. It costs a retry. nil stays nil.
func Retryable(err error) error { return failure(OutcomeRetryable, 0, "", err) }

// Throttled says that the same delivery may succeed after a time, and not before. It costs a retry. A
// time of 0 or less leaves the delay to the policy. nil stays nil.
func Throttled(after time.Duration, err error) error {
	return failure(OutcomeThrottled, after, "", err)
}

// NonRetryable says that the delivery can never succeed: it goes to the dead letters, with code, a word
// such as "CARD_EXPIRED", in front of its reject_reason. nil stays nil.
func NonRetryable(code string, err error) error { return failure(OutcomeNonRetryable, 0, code, err) }

// OutOfOrder says that the delivery came before its predecessor. It costs a hold, not a retry. nil stays
// nil.
func OutOfOrder(err error) error { return failure(OutcomeOutOfOrder, 0, "", err) }

// Classified says of an error what the schema says of a value of an error enum, the generated
// IdemClassify. A value that is OK makes no error of one: it is classified RETRYABLE. nil stays nil.
func Classified(value interface{ IdemClassify() Outcome }, err error) error {
	outcome := value.IdemClassify()
	if outcome == OutcomeOK {
		outcome = OutcomeRetryable
	}
	code := ""
	if named, ok := value.(interface{ String() string }); ok {
		code = named.String()
	}
	return failure(outcome, 0, code, err)
}

func failure(outcome Outcome, after time.Duration, code string, err error) error {
	if err == nil {
		return nil
	}
	return &Failure{Outcome: outcome, After: after, Code: code, Err: err}
}

// ResultOf says what an error means. nil is OK. A Failure says so itself, the outermost first; an error
// with a method SQLState() string, as those of pgx and lib/pq, by the spec's table; a deadline, a
// cancellation, a time-out and everything else is RETRYABLE. (CLASS-001, CLASS-030)
func ResultOf(err error) Result {
	if err == nil {
		return Result{Outcome: OutcomeOK}
	}
	var f *Failure
	if errors.As(err, &f) {
		return Result{Outcome: f.Outcome, AfterMs: max(f.After.Milliseconds(), 0), Reason: err.Error()}
	}
	result := Result{Outcome: OutcomeRetryable, Reason: err.Error()}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return result
	}
	var sql interface{ SQLState() string }
	if errors.As(err, &sql) {
		if outcome, bad := ClassifySQLState(sql.SQLState()); bad == nil && outcome != OutcomeOK {
			result.Outcome = outcome
		}
	}
	return result
}
