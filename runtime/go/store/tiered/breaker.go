package tiered

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// breaker asks the memory, no longer than it may take, and leaves it alone while it fails.
type breaker struct {
	hint   Hint
	config Config
	teller tell.Teller

	mu       sync.Mutex
	failures int // in a row
	open     bool
	probeAt  time.Time
	probing  bool
	probes   int64
}

func newBreaker(hint Hint, config Config, teller tell.Teller) *breaker {
	b := &breaker{hint: hint, config: config, teller: teller}
	b.measure(0)
	return b
}

func (b *breaker) measure(degraded float64) {
	b.teller.Measure(observe.StoreDegraded, observe.Labels{Store: b.config.Name}, degraded)
}

var errLate = errors.New("no answer in time")

// tell tells the memory something, also where the caller has gone: what was done is done.
func (b *breaker) tell(ctx context.Context, fn func(ctx context.Context) error) {
	b.ask(context.WithoutCancel(ctx), func(ctx context.Context) (func(), error) { return func() {}, fn(ctx) })
}

// ask runs fn, and then, where it came in time and without an error, what it returned. An answer that comes too
// late is dropped: clients do not all end with their context. It does not end with the caller either, so that
// what fn did is known, and can be taken back. It says whether the memory was asked.
func (b *breaker) ask(ctx context.Context, fn func(ctx context.Context) (func(), error)) bool {
	if ctx.Err() != nil || !b.closed(ctx) {
		return false
	}
	use, err := b.within(context.WithoutCancel(ctx), fn)
	if err != nil {
		b.failed(ctx, err)
		return true
	}
	b.succeeded()
	use()
	return true
}

func (b *breaker) within(ctx context.Context, fn func(ctx context.Context) (func(), error)) (func(), error) {
	type answer struct {
		use func()
		err error
	}
	limited, cancel := context.WithTimeout(ctx, b.config.Timeout)
	answers := make(chan answer, 1)
	go func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				answers <- answer{err: fmt.Errorf("panic: %v", p)}
			}
		}()
		use, err := fn(limited)
		answers <- answer{use, err}
	}()
	select {
	case a := <-answers:
		return a.use, a.err
	case <-limited.Done():
		select { // both at once: the answer counts
		case a := <-answers:
			return a.use, a.err
		default:
			return nil, errLate
		}
	}
}

// closed says whether the memory may be asked, and begins to probe it where it was left alone long enough.
func (b *breaker) closed(ctx context.Context) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	if !b.probing && !b.config.Now().Before(b.probeAt) {
		b.probing = true
		b.probes++
		go b.probe(context.WithoutCancel(ctx), b.probes)
	}
	return false
}

// probe looks for a key of its own, so that no message pays for a memory that is still away.
func (b *breaker) probe(ctx context.Context, n int64) {
	claim := store.Claim{Scope: "idem.probe", Key: "probe", Owner: fmt.Sprint(n), Lease: time.Millisecond}
	_, err := b.within(ctx, func(ctx context.Context) (func(), error) {
		_, err := b.hint.Look(ctx, []store.Claim{claim})
		return nil, err
	})
	b.mu.Lock()
	b.probing = false
	if err != nil {
		b.probeAt = b.config.Now().Add(b.config.Probe)
		b.mu.Unlock()
		return
	}
	b.open, b.failures = false, 0
	b.mu.Unlock()
	b.measure(0)
	b.teller.Info(ctx, "the memory in front of the database is back", slog.String("store", b.config.Name))
}

func (b *breaker) succeeded() {
	b.mu.Lock()
	b.failures = 0
	b.mu.Unlock()
}

func (b *breaker) failed(ctx context.Context, err error) {
	b.mu.Lock()
	b.failures++
	opens := !b.open && b.failures >= b.config.Failures
	if opens {
		b.open, b.probeAt = true, b.config.Now().Add(b.config.Probe)
	}
	b.mu.Unlock()
	if opens {
		b.measure(1)
		b.teller.Warn(ctx, "the memory in front of the database fails: the database is alone, nothing is rejected, and the memory is tried again",
			slog.String("store", b.config.Name), slog.Any("error", err))
	}
}
