// Package replay runs a call once for its key, and gives later calls with the key the result of the first. It
// is what idemhttp, idemgrpc and idemconnect share: claim, lease, result, release. What a result looks like, and
// which ones are kept, is theirs.
package replay

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/names"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// The defaults of an Engine.
const (
	DefaultLease       = 30 * time.Second
	DefaultTimeout     = 60 * time.Second
	DefaultRetryAfter  = time.Second
	DefaultMaxAttempts = 5

	// settleTime is how long a result that is there may take to become durable.
	settleTime = 10 * time.Second
	maxService = 160
)

// Engine runs calls. Its fields are those of the packages' Configs; Check fills in defaults.
type Engine struct {
	Store   store.Store
	Service string
	// Lease is renewed at a third until Timeout, which is also the deadline of the call's context.
	Lease, Timeout time.Duration
	// RetryAfter is what a caller is told to wait while another call with its key runs.
	RetryAfter time.Duration
	// MaxAttempts is how often a call may end without a word, its process killed, before it is refused.
	MaxAttempts int64
	Observer    observe.Observer
	Log         *slog.Logger
}

// NoPrincipal is the error of a package that was not told who calls.
func NoPrincipal(name string) error {
	return errors.New(name + ": no Principal: give the function that says who is authenticated; without it one caller would get another's response")
}

// Check says what is wrong, in the words of the package that asks.
func (e *Engine) Check(name string) error {
	if e.Store == nil {
		return fmt.Errorf("%s: no Store: give one of package memory, sqlite, postgres, redis or tiered", name)
	}
	if e.Service == "" || len(e.Service) > maxService || !names.Is(e.Service) {
		return fmt.Errorf("%s: Service is %q: give 1 to %d characters of [A-Za-z0-9._-]", name, e.Service, maxService)
	}
	for _, d := range []struct {
		field  string
		value  *time.Duration
		preset time.Duration
	}{{"Lease", &e.Lease, DefaultLease}, {"Timeout", &e.Timeout, DefaultTimeout}, {"RetryAfter", &e.RetryAfter, DefaultRetryAfter}} {
		if *d.value == 0 {
			*d.value = d.preset
		}
		if *d.value < time.Millisecond {
			return fmt.Errorf("%s: %s is %v: give a millisecond or more, or 0 for %v", name, d.field, *d.value, d.preset)
		}
	}
	if e.MaxAttempts == 0 {
		e.MaxAttempts = DefaultMaxAttempts
	}
	if e.MaxAttempts < 1 {
		return fmt.Errorf("%s: MaxAttempts is %d: give 1 or more, or 0 for %d", name, e.MaxAttempts, DefaultMaxAttempts)
	}
	e.Observer = observe.Safe(e.Observer)
	if e.Log == nil {
		e.Log = slog.Default()
	}
	return nil
}

// Call is one call.
type Call struct {
	Key string
	// Principal, Method and Route are, with the service, the scope of the key.
	Principal, Method, Route string
	// Fingerprint is that of the call's content.
	Fingerprint string
}

// Scope is the record's: the service, and a digest of what is not for everybody to read, or too long. Parts are
// written with their lengths, so that no two lists of them are one text.
func (e *Engine) Scope(c *Call) string {
	h := sha256.New()
	for _, part := range []string{c.Principal, c.Method, c.Route} {
		WritePart(h.Write, []byte(part))
	}
	return e.Service + "." + hex.EncodeToString(h.Sum(nil)[:16])
}

// WritePart writes a part and its length to a hash.
func WritePart(write func([]byte) (int, error), part []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(part)))
	_, _ = write(length[:])
	_, _ = write(part)
}

// Fingerprint is that of a content, given its digest: comparable within one template. (HASH-031)
func Fingerprint(template uint32, digest []byte) string {
	return fmt.Sprintf("%08x-%x", template, digest[:8])
}

// Kind is what became of a call.
type Kind uint8

// The kinds.
const (
	Ran         Kind = iota // run says what it came to
	Replayed                // Answer.Result is the first call's
	InProgress              // another call with the key runs; Answer.Wait
	KeyReused               // the key was used with another content
	CrashLoop               // its attempts ended without a word
	Fenced                  // it ran, and lost its claim to another
	Unavailable             // the store does not answer, and it did not run
)

// Answer is what became of a call.
type Answer struct {
	Kind   Kind
	Result []byte
	Wait   time.Duration
	Err    error
}

// Do runs a call where its key is new. run returns the result, and whether it is to be kept: a call whose
// result is not kept can be made again. Its context goes on when ctx is cancelled, since a caller that has
// gone away comes back for the result; it ends at Timeout, and when the lease is lost. Where run panics the
// claim is released, and the panic goes on.
func (e *Engine) Do(ctx context.Context, c *Call, run func(ctx context.Context) (result []byte, keep bool)) Answer {
	start := time.Now()
	told := observe.Delivery{Scope: e.Service, EventType: eventType(c), Key: c.Key, Outcome: idem.OutcomeRetryable}
	defer func() {
		told.Total = time.Since(start)
		e.Observer.Delivery(ctx, &told)
	}()
	grant, err := e.claim(ctx, c)
	if err != nil {
		told.Err, told.Reason = err, err.Error()
		e.Log.LogAttrs(ctx, slog.LevelError, "call refused: the store does not answer", slog.String("idempotency_key", c.Key), slog.String("error", err.Error()))
		return Answer{Kind: Unavailable, Wait: e.RetryAfter, Err: err}
	}
	if outcome, over := grant.Outcome(); over {
		told.Outcome = outcome
		if outcome == idem.OutcomeDuplicate {
			told.Action = idem.ActionAck
		}
		return e.refuse(&grant, outcome)
	}
	told.Attempts, told.Recovered = grant.Attempts, grant.Recovered
	return e.run(ctx, &grant, &told, run)
}

// refuse answers a call that does not run.
func (e *Engine) refuse(grant *store.Grant, outcome idem.Outcome) Answer {
	switch outcome {
	case idem.OutcomeDuplicate:
		return Answer{Kind: Replayed, Result: grant.Result}
	case idem.OutcomeKeyReused:
		return Answer{Kind: KeyReused}
	case idem.OutcomeInProgress:
		// The rest of the lease is the longest that it can take, and far more than it does.
		return Answer{Kind: InProgress, Wait: max(min(e.RetryAfter, time.Duration(grant.WaitMs)*time.Millisecond), time.Millisecond)}
	}
	return Answer{Kind: CrashLoop}
}

// claim asks twice with one owner, for a reply that was lost.
func (e *Engine) claim(ctx context.Context, c *Call) (store.Grant, error) {
	claims := []store.Claim{{
		Scope: e.Scope(c), Key: c.Key, Owner: rand.Text(), Fingerprint: c.Fingerprint, MaxAttempts: e.MaxAttempts, Lease: e.Lease,
	}}
	var err error
	for range 2 {
		var grants []store.Grant
		if grants, err = e.Store.Claim(ctx, claims); err == nil {
			return grants[0], nil
		}
		if ctx.Err() != nil {
			e.giveBack(ctx, claims)
			break
		}
	}
	return store.Grant{}, fmt.Errorf("claim the key: %w", err)
}

// giveBack frees what was claimed, perhaps, for a caller that has gone away meanwhile: the claim would be in the way
// until its lease ends, and cost an attempt of a call that never ran. The same owner gets the same claim again.
func (e *Engine) giveBack(ctx context.Context, claims []store.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	grants, err := e.Store.Claim(ctx, claims)
	if err != nil {
		return
	}
	if _, over := grants[0].Outcome(); !over {
		e.release(ctx, &grants[0].Lease)
	}
}

// run runs a call that is claimed.
func (e *Engine) run(ctx context.Context, grant *store.Grant, told *observe.Delivery, run func(ctx context.Context) ([]byte, bool)) Answer {
	detached := context.WithoutCancel(ctx)
	work, cancel := context.WithTimeoutCause(detached, e.Timeout, errTimeout)
	beat := e.heartbeat(work, cancel, &grant.Lease)
	over := false
	defer func() {
		if !over { // run panicked
			cancel()
			<-beat
			e.release(detached, &grant.Lease)
			told.Reason = "the handler panicked"
		}
	}()
	start := time.Now()
	result, keep := run(work)
	told.Handler = time.Since(start)
	over = true
	cancel()
	<-beat
	if !keep {
		e.release(detached, &grant.Lease)
		return Answer{Kind: Ran}
	}
	switch err := e.complete(detached, &grant.Lease, result); {
	case errors.Is(err, store.ErrFenced):
		told.Outcome = idem.OutcomeFenced
		return Answer{Kind: Fenced, Wait: e.RetryAfter, Err: err}
	case err != nil:
		// The effect is there and the caller gets its result; only one who asks again after the lease would run
		// it again.
		told.Err = err
		e.Log.LogAttrs(ctx, slog.LevelError, "result not recorded: a repetition after the lease would run again",
			slog.String("idempotency_key", grant.Lease.Key), slog.String("error", err.Error()))
	}
	told.Outcome, told.Action = idem.OutcomeOK, idem.ActionAck
	return Answer{Kind: Ran}
}

var (
	errTimeout   = errors.New("the call's time is over")
	errLeaseLost = errors.New("the lease was lost")
)
