package idemhttp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// DefaultMaxBody is the most bytes of a request's body.
const DefaultMaxBody = 1 << 20

// Config of a Middleware. Store, Service and Principal are needed.
type Config struct {
	Store store.Store
	// Service is a name of [A-Za-z0-9._-], 1 to 160 bytes: the same in all instances.
	Service string
	// Principal is who calls, as your authentication says. It is part of the key's scope: without it one caller
	// would get another's response. An error, or an empty text, is answered 401. Where there really is one caller
	// alone, return a constant.
	Principal func(r *http.Request) (string, error)
	// Route is what the request asks for, part of the scope too. Nil: the pattern that matched, where the
	// middleware is behind an http.ServeMux, else the path.
	Route func(r *http.Request) string
	// Required says of a request without a key whether it is refused. Others pass without a guard. Nil: POST and
	// PATCH are.
	Required func(r *http.Request) bool
	// Keep says of a status whether later calls get the response again. Nil: see the package's comment.
	Keep func(status int) bool
	// ReplayHeaders are the response headers to keep, beside Content-Type, Content-Language, Content-Encoding,
	// Content-Location, Content-Disposition, Location, ETag, Last-Modified, Link and Cache-Control. A
	// Set-Cookie is kept by nobody who thinks about it. Trailers, which say something of the body, are all kept.
	ReplayHeaders []string
	// MaxBody is the most bytes of a request's body; more is answered 413. 0: 1 MiB.
	MaxBody int64
	// MaxResponse is the most bytes of a response that is kept, with its headers. 0 and the most: 64 KiB.
	MaxResponse int
	// Timeout is the handler's deadline, until which the lease is renewed. 0: 60 s.
	Timeout time.Duration
	// Lease is how long a key stays taken when the process dies. 0: 30 s.
	Lease time.Duration
	// RetryAfter is what callers are told to wait while another call with the key runs, rounded up to seconds.
	// 0: 1 s.
	RetryAfter time.Duration
	// MaxAttempts is how often a call may kill its process before it is refused with 508. 0: 5.
	MaxAttempts int64
	Observer    observe.Observer // nil: none. The event type of a delivery is method and route: "POST.payments"
	Log         *slog.Logger     // nil: slog.Default()
}

// Middleware guards handlers.
type Middleware struct {
	c       Config
	engine  replay.Engine
	headers map[string]bool
}

// New makes a Middleware. The error names the field, and what would be right.
func New(c Config) (*Middleware, error) {
	if c.Principal == nil {
		return nil, replay.NoPrincipal("idemhttp")
	}
	if c.MaxBody == 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.MaxBody < 0 {
		return nil, fmt.Errorf("idemhttp: MaxBody is %d: give 1 or more, or 0 for %d", c.MaxBody, DefaultMaxBody)
	}
	if c.MaxResponse == 0 {
		c.MaxResponse = store.MaxResult
	}
	if c.MaxResponse < 0 || c.MaxResponse > store.MaxResult {
		return nil, fmt.Errorf("idemhttp: MaxResponse is %d: give 1 to %d, or 0 for that", c.MaxResponse, store.MaxResult)
	}
	if c.Route == nil {
		c.Route = route
	}
	if c.Required == nil {
		c.Required = func(r *http.Request) bool { return r.Method == http.MethodPost || r.Method == http.MethodPatch }
	}
	if c.Keep == nil {
		c.Keep = Keep
	}
	m := &Middleware{c: c, headers: map[string]bool{}, engine: replay.Engine{
		Store: c.Store, Service: c.Service, Lease: c.Lease, Timeout: c.Timeout, RetryAfter: c.RetryAfter, MaxAttempts: c.MaxAttempts,
		Observer: c.Observer, Log: c.Log,
	}}
	for _, name := range append(c.ReplayHeaders, replayHeaders...) {
		m.headers[http.CanonicalHeaderKey(name)] = true
	}
	return m, m.engine.Check("idemhttp")
}

var replayHeaders = []string{
	"Content-Type", "Content-Language", "Content-Encoding", "Content-Location", "Content-Disposition", "Location", "ETag", "Last-Modified",
	"Link", "Cache-Control",
}

func route(r *http.Request) string {
	if r.Pattern != "" {
		return r.Pattern
	}
	return r.URL.Path
}

// Keep is the default of Config.Keep: what will be the same at the next call.
func Keep(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return false
	}
	outcome, err := idem.ClassifyHTTP(status)
	return err == nil && status < 500 && (outcome == idem.OutcomeOK || outcome == idem.OutcomeNonRetryable)
}

// KeyOf is the idempotency key of the call, in a handler behind a Middleware (and behind the interceptors of
// idemgrpc and idemconnect): what to pass on to others. It is empty elsewhere.
func KeyOf(ctx context.Context) string { return replay.KeyOf(ctx) }

// isSafe says that a method asks for no effect.
func isSafe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// Wrap guards a handler. Requests that are safe by their method (GET, HEAD, OPTIONS, TRACE) pass.
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isSafe(r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		values := r.Header.Values("Idempotency-Key")
		if len(values) == 0 {
			if m.c.Required(r) {
				problemKeyMissing.write(w, 0)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		key, err := replay.ParseKey(values)
		if err != nil {
			problemKeyMalformed.because(err).write(w, 0)
			return
		}
		m.serve(w, r, next, key)
	})
}

func (m *Middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler, key string) {
	principal, err := m.c.Principal(r)
	if err != nil || principal == "" {
		problemNobody.write(w, 0)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, m.c.MaxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			problemBodyTooLarge.write(w, 0)
		} else {
			problemBodyUnread.write(w, 0)
		}
		return
	}
	call := replay.Call{Key: key, Principal: principal, Method: r.Method, Route: m.c.Route(r), Fingerprint: fingerprint(r, body)}
	rec := &recorder{w: w, header: http.Header{}, limit: m.c.MaxResponse, kept: m.headers}
	answer := m.engine.Do(r.Context(), &call, func(ctx context.Context) ([]byte, bool) {
		inner := r.WithContext(replay.WithKey(ctx, key))
		inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(rec, inner)
		return rec.result(), m.c.Keep(rec.code())
	})
	switch answer.Kind {
	case replay.Ran:
		rec.send()
	case replay.Replayed:
		respondAgain(w, answer.Result)
	case replay.InProgress:
		problemInProgress.write(w, answer.Wait)
	case replay.KeyReused:
		problemKeyReused.write(w, 0)
	case replay.CrashLoop:
		problemCrashLoop.write(w, 0)
	case replay.Fenced:
		if rec.streaming {
			rec.send()
		} else {
			problemInProgress.write(w, answer.Wait)
		}
	default:
		problemUnavailable.write(w, answer.Wait)
	}
}

// template makes fingerprints comparable among themselves; it changes with what is hashed.
var template = idem.TemplateHash("idemhttp v1: method, path and query, body")

func fingerprint(r *http.Request, body []byte) string {
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.Path, r.URL.RawQuery} {
		replay.WritePart(h.Write, []byte(part))
	}
	replay.WritePart(h.Write, body)
	return replay.Fingerprint(template, h.Sum(nil))
}
