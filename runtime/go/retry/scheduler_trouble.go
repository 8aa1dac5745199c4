package retry

import (
	"context"
	"log/slog"
	"time"
)

// trouble is what hinders a scheduler, and when it was last said.
type trouble struct{ since, said time.Time }

// sayEvery is how often a log says that something is still wrong.
const sayEvery = 10 * time.Second

// tellTrouble says what hinders it, but not at each round, and that it is over.
func (s *Scheduler) tellTrouble(ctx context.Context, err error) {
	if s.config.Trouble != nil {
		defer func() { _ = recover() }()
		s.config.Trouble(err)
		return
	}
	now := time.Now()
	if err == nil {
		if !s.trouble.since.IsZero() {
			s.tell.Info(ctx, "retry scheduler: works again", slog.Duration("after", now.Sub(s.trouble.since)))
		}
		s.trouble = trouble{}
		return
	}
	if s.trouble.since.IsZero() {
		s.trouble.since = now
	}
	if now.Sub(s.trouble.said) >= sayEvery {
		s.trouble.said = now
		s.tell.Error(ctx, "retry scheduler: retries that are due wait, and none is lost: going on",
			slog.Any("error", err), slog.Duration("for", now.Sub(s.trouble.since)))
	}
}
