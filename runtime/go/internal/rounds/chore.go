package rounds

import (
	"context"
	"errors"
	"time"
)

// chore is what is done once in a while.
type chore struct {
	every time.Duration
	due   time.Time
	do    func(ctx context.Context) (more bool, err error)
	err   error // of the last time
}

// Every has something done within Timeout, at first after some time, and then once in a while: at once where it
// says that there is more. Negative: never.
func (l *Loop) Every(every, first time.Duration, do func(ctx context.Context) (more bool, err error)) {
	if every >= 0 {
		l.chores = append(l.chores, &chore{every: every, due: l.Now().Add(first), do: do})
	}
}

// Measure counts rows for the metrics, every Gauges, where somebody observes them.
func (l *Loop) Measure(count func(ctx context.Context) error) {
	if l.Observer != nil {
		l.Every(l.Gauges, 0, func(ctx context.Context) (bool, error) { return false, count(ctx) })
	}
}

// Upkeep does the chores that are due, and says what failed of them.
func (l *Loop) Upkeep(ctx context.Context) error {
	var failed error
	for _, c := range l.chores {
		if now := l.Now(); !now.Before(c.due) {
			failed = errors.Join(failed, l.do(ctx, c, now))
		}
	}
	return failed
}

func (l *Loop) do(ctx context.Context, c *chore, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	var more bool
	if more, c.err = c.do(ctx); !more {
		c.due = now.Add(c.every)
	}
	return c.err
}

// hindered is what failed of each chore the last time.
func (l *Loop) hindered() (err error) {
	for _, c := range l.chores {
		err = errors.Join(err, c.err)
	}
	return err
}
