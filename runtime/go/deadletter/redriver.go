package deadletter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Redriver redrives dead letters of the table. Its methods may be called from several goroutines; two that
// select the same dead letters redrive each once.
type Redriver struct {
	letters store.DeadLetters
	runner
}

// New makes a Redriver. records are those of the consumers whose dead letters they are.
func New(letters store.DeadLetters, records Records, c Config) (*Redriver, error) {
	switch {
	case letters == nil:
		return nil, errors.New("redrive: no store: give one that has the table dead_letter, or use FromTopic")
	case records == nil:
		return nil, errors.New("redrive: no records: give the store that the consumer uses")
	}
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("redrive: %w", err)
	}
	return &Redriver{letters: letters, runner: runner{records: records, config: c, tell: tell.Teller{Log: c.Log}}}, nil
}

// Plan is what a run would do.
type Plan struct {
	// Count is how many dead letters the filter selects.
	Count int64
	// TooOld is how many of them are TOO_OLD, which need AllowSecondEffect.
	TooOld int64
	// Sample is the first of them.
	Sample []store.DeadLetter
}

// Plan counts what a filter selects, and shows at most sample of it. Nothing is changed.
func (r *Redriver) Plan(ctx context.Context, f store.DeadLetterFilter, sample int) (p Plan, err error) {
	f.Redriven = false
	if p.Count, err = r.count(ctx, f); err != nil {
		return p, err
	}
	old := f
	if old.Outcome == "" {
		old.Outcome = idem.OutcomeTooOld.String()
	}
	if old.Outcome == idem.OutcomeTooOld.String() {
		if p.TooOld, err = r.count(ctx, old); err != nil {
			return p, err
		}
	}
	if sample > 0 {
		p.Sample, err = r.list(ctx, f, r.config.After, sample)
	}
	return p, err
}

// Run redrives what a filter selects now; what comes after the start is for another run, also a message
// that ends again. It stops at the first error of the store and where ctx is done, and says how far it came:
// run it again to go on.
func (r *Redriver) Run(ctx context.Context, f store.DeadLetterFilter) (report Report, err error) {
	f.Redriven = false
	report.Last = r.config.After
	if err := r.config.checkFilter(&f); err != nil {
		return report, fmt.Errorf("redrive: %w", err)
	}
	if report.Matched, err = r.count(ctx, f); err != nil {
		return report, fmt.Errorf("redrive: %w", err)
	}
	if r.config.Limit > 0 && report.Matched > r.config.Limit {
		return report, fmt.Errorf("redrive: %d selected, Limit %d: %w", report.Matched, r.config.Limit, ErrTooMany)
	}
	pace := pacer{rate: r.config.Rate}
	for seen := int64(0); seen < report.Matched; {
		n, redriven, err := r.batch(ctx, f, int(min(int64(r.config.Batch), report.Matched-seen)), &report)
		if err != nil {
			return report, fmt.Errorf("redrive: stopped after %d of %d: %w", seen, report.Matched, err)
		}
		if n == 0 {
			break
		}
		seen += int64(n)
		if r.config.Progress != nil {
			r.config.Progress(report)
		}
		if pause := pace.after(redriven, time.Now()); seen < report.Matched && !wait.For(ctx, pause) {
			return report, fmt.Errorf("redrive: stopped after %d of %d: %w", seen, report.Matched, ctx.Err())
		}
	}
	return report, nil
}

// batch redrives the next ones, and says how many it looked at, and how many it redrove.
func (r *Redriver) batch(ctx context.Context, f store.DeadLetterFilter, limit int, report *Report) (seen, redriven int, err error) {
	letters, err := r.list(ctx, f, report.Last, limit)
	if err != nil || len(letters) == 0 {
		return 0, 0, err
	}
	records, err := r.recordsOf(ctx, letters)
	if err != nil {
		return 0, 0, err
	}
	ids := make([]int64, 0, len(letters))
	rows := make([]store.Retry, 0, len(letters))
	part := *report // the report has what is durable alone
	for i := range letters {
		d := &letters[i]
		if row, v := r.next(ctx, d, records[i], d.Outcome == idem.OutcomeTooOld, &part); v == redrive {
			ids = append(ids, d.ID)
			rows = append(rows, row)
		}
	}
	if len(ids) > 0 {
		done, err := r.write(ctx, ids, rows)
		if err != nil {
			return 0, 0, err
		}
		for _, ok := range done {
			if ok {
				redriven++
			}
		}
		part.Redriven += int64(redriven)
		part.Skipped += int64(len(ids) - redriven)
	}
	part.Last = letters[len(letters)-1].ID
	*report = part
	return len(letters), redriven, nil
}

func (r *Redriver) count(ctx context.Context, f store.DeadLetterFilter) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	n, err := r.letters.CountDeadLetters(ctx, f)
	if err != nil {
		return 0, fmt.Errorf("count dead letters: %w", err)
	}
	return n, nil
}

func (r *Redriver) list(ctx context.Context, f store.DeadLetterFilter, after int64, limit int) ([]store.DeadLetter, error) {
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	letters, err := r.letters.ListDeadLetters(ctx, f, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list dead letters behind %d: %w", after, err)
	}
	return letters, nil
}

func (r *Redriver) write(ctx context.Context, ids []int64, rows []store.Retry) ([]bool, error) {
	ctx, cancel := wait.Detached(ctx, r.config.Timeout)
	defer cancel()
	done, err := r.letters.Redrive(ctx, ids, rows)
	if err != nil {
		return nil, fmt.Errorf("redrive dead letters %d to %d: %w", ids[0], ids[len(ids)-1], err)
	}
	return done, nil
}
