package deadletter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Config says how to redrive. The zero value has sound defaults.
type Config struct {
	// Limit is how many dead letters a filter may select; with more, nothing is done and the error is
	// ErrTooMany. Default 1000; negative: no limit.
	Limit int64
	// Rate is how many are redriven in a second, at most. Default 100; negative: no limit.
	Rate float64
	// Batch is how many are redriven in one transaction, at most. Default 100.
	Batch int
	// Repair, if any, gives the payload to redrive, for which it gets the dead letter, which it must not
	// change. With another payload than before, the delivery has no fingerprint, which would not fit. An
	// error leaves the dead letter where it is.
	Repair func(d *store.DeadLetter) ([]byte, error)
	// AllowSecondEffect redrives TOO_OLD ones too: nobody knows whether they had their effect.
	AllowSecondEffect bool
	// After leaves out dead letters of the table up to this ID: Report.Last of a run that was stopped. It
	// is not needed to go on, since what is redriven is not selected again.
	After int64
	// Progress, if any, is called after each batch, from one goroutine at a time.
	Progress func(Report)
	// Timeout limits each query and each publication. Default 30 seconds.
	Timeout time.Duration
	// Log gets each dead letter that is refused or that fails. Nil: slog.Default().
	Log *slog.Logger
}

// Report is what a run has done so far.
type Report struct {
	// Matched is how many dead letters the filter selected at the start; from a topic, so far.
	Matched int64
	// Redriven have a delivery now, durably.
	Redriven int64
	// Skipped were redriven or dropped by somebody else, or have succeeded.
	Skipped int64
	// Refused are TOO_OLD, without AllowSecondEffect.
	Refused int64
	// Failed could not be repaired.
	Failed int64
	// FirstError is that of the first one which failed.
	FirstError error
	// Last is the ID of the last one that was looked at, in the table.
	Last int64
}

// ErrTooMany says that a filter selects more dead letters than Config.Limit.
var ErrTooMany = errors.New("more dead letters than Limit: narrow the filter, or raise Limit")

// ErrSecondEffect says that dead letters of the outcome TOO_OLD are not redriven unless asked for.
var ErrSecondEffect = errors.New("a TOO_OLD message may have had its effect: set AllowSecondEffect where a second one is harmless")

// Records reads dedup records; each store.Store does.
type Records interface {
	Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error)
}

func (c *Config) complete() error {
	if c.Batch < 0 || c.Timeout < 0 {
		return fmt.Errorf("Batch is %d and Timeout %v: each has to be positive, or 0 for the default", c.Batch, c.Timeout)
	}
	c.Limit = cmp.Or(c.Limit, 1000)
	c.Rate = cmp.Or(c.Rate, 100)
	c.Batch = cmp.Or(c.Batch, 100)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	if c.Rate > 0 && float64(c.Batch) > c.Rate { // no burst of more than a second's
		c.Batch = max(1, int(c.Rate))
	}
	return nil
}

func (c *Config) checkFilter(f *store.DeadLetterFilter) error {
	if f.Outcome == "" {
		return nil
	}
	outcome, ok := idem.ParseOutcome(f.Outcome)
	if !ok {
		return fmt.Errorf("filter: outcome %q is none: such as %q or %q", f.Outcome, idem.OutcomeNonRetryable, idem.OutcomeConflict)
	}
	if outcome == idem.OutcomeTooOld && !c.AllowSecondEffect {
		return fmt.Errorf("filter: outcome %s: %w", f.Outcome, ErrSecondEffect)
	}
	return nil
}

// runner is what redriving from a table and from a topic have in common.
type runner struct {
	records Records
	config  Config
	tell    tell.Teller
}

// verdict is what becomes of one dead letter.
type verdict uint8

const (
	redrive verdict = iota
	refused
	failed
)

// next is the delivery that a redrive makes.
func (r *runner) next(ctx context.Context, d *store.DeadLetter, record *store.Record, tooOld bool, report *Report) (store.Retry, verdict) {
	key := slog.String("idempotency_key", d.Key)
	if tooOld && !r.config.AllowSecondEffect {
		report.Refused++
		r.tell.Warn(ctx, "redrive: refused", key, slog.Int64("id", d.ID), slog.Any("error", ErrSecondEffect))
		return store.Retry{}, refused
	}
	row, err := r.delivery(d, record)
	if err != nil {
		report.Failed++
		if report.FirstError == nil {
			report.FirstError = err
		}
		r.tell.Warn(ctx, "redrive: left where it is", key, slog.Int64("id", d.ID), slog.Any("error", err))
		return store.Retry{}, failed
	}
	return row, redrive
}
