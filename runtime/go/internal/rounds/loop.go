// Package rounds is the loop that outbox.Relay and retry.Scheduler share: rounds that claim rows, publish them and
// remove what the broker has confirmed, until a context is done. What the rows are, and what becomes of those that
// are not confirmed, is theirs.
package rounds

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/topics"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// Loop makes rounds. Make it with New. It is for one goroutine, but for Wake.
type Loop struct {
	Config
	// Topics is where messages of a topic go that has moved.
	Topics topics.Alias
	Tell   tell.Teller

	bell        wait.Bell
	chores      []*chore
	since, said time.Time // of what hinders it
}

// sayEvery is how often a log says that something is still wrong.
const sayEvery = 10 * time.Second

// Run makes rounds until ctx is done, each after the chores that are due. A round that has begun is finished first.
// It says how long to wait before the next one, and what hindered it.
func (l *Loop) Run(ctx context.Context, round func(ctx context.Context) (pause time.Duration, err error)) error {
	for ctx.Err() == nil {
		_ = l.Upkeep(ctx) // trouble says it
		pause, err := round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		l.trouble(ctx, errors.Join(err, l.hindered()))
		l.bell.For(ctx, pause)
	}
	return nil
}

// Wake has Run look at once. It may be called from any goroutine.
func (l *Loop) Wake() { l.bell.Ring() }

// trouble says what hinders the rounds, but not at each of them, and that it is over.
func (l *Loop) trouble(ctx context.Context, err error) {
	if l.Trouble != nil {
		defer func() { _ = recover() }()
		l.Trouble(err)
		return
	}
	now := time.Now()
	if err == nil {
		if !l.since.IsZero() {
			l.Tell.Info(ctx, l.Name+": works again", slog.Duration("after", now.Sub(l.since)))
		}
		l.since, l.said = time.Time{}, time.Time{}
		return
	}
	if l.since.IsZero() {
		l.since = now
	}
	if now.Sub(l.said) >= sayEvery {
		l.said = now
		l.Tell.Error(ctx, l.Name+": rows that are due wait, and none is lost: going on",
			slog.Any("error", err), slog.Duration("for", now.Sub(l.since)))
	}
}
