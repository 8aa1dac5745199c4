package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/idem-spec/idem/internal/operate/connect"
)

// part is a loop on a store.
type part struct {
	store, dsn, name string
	run              func(context.Context) error
	log              *slog.Logger

	mu          sync.Mutex
	err         error // what hinders it
	since, said time.Time
}

// sayEvery is how often a part says that something else hinders it: an outage has many faces.
const sayEvery = 10 * time.Second

// again is how long a part that ended by itself waits.
const again = 5 * time.Second

// keepRunning runs a part until ctx ends, again where it ends before.
func (p *part) keepRunning(ctx context.Context) {
	for ctx.Err() == nil {
		err := p.protected(ctx)
		if ctx.Err() != nil {
			return
		}
		p.hindered(cmp.Or(err, errors.New("it ended by itself")))
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// protected makes an error of a panic.
func (p *part) protected(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return p.run(ctx)
}

// hindered keeps what hinders the part, nil where nothing does, and says it when that begins, changes and ends.
func (p *part) hindered(err error) {
	err = connect.Hide(err, p.dsn)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch {
	case err == nil && p.err == nil:
	case err == nil:
		p.log.Info("works again", "after", now.Sub(p.since))
	case p.err == nil:
		p.since = now
		p.say(err, now)
	case p.err.Error() != err.Error() && now.Sub(p.said) >= sayEvery:
		p.say(err, now)
	}
	p.err = err
}

func (p *part) say(err error, now time.Time) {
	p.said = now
	p.log.Error("hindered: what is due waits, and nothing is lost; going on", "error", err)
}
