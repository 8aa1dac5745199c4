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

	mu    sync.Mutex
	err   error // what hinders it
	since time.Time
}

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

// hindered keeps what hinders the part, nil where nothing does, and says each once.
func (p *part) hindered(err error) {
	err = connect.Hide(err, p.dsn)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil && p.err != nil:
		p.log.Info("works again", "after", time.Since(p.since))
	case err != nil && (p.err == nil || p.err.Error() != err.Error()):
		p.log.Error("hindered: what is due waits, and nothing is lost; going on", "error", err)
	}
	if err != nil && p.err == nil {
		p.since = time.Now()
	}
	p.err = err
}
