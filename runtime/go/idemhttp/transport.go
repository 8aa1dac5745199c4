package idemhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/again"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
)

// drained is the most bytes of a response that is read to keep its connection, when the request is sent again.
const drained = 64 << 10

// TransportConfig is that of a Transport. The zero value is good.
type TransportConfig struct {
	// Base sends. Nil: http.DefaultTransport.
	Base http.RoundTripper
	// Policy says how often and how late a request is sent again. Nil: 4 retries, after 1, 2, 4 and 8 s and up to
	// half a second of jitter. Limits a caller's patience sets are its context's.
	Policy *idem.Policy
	// MaxWait is the longest wait: where the server's Retry-After asks for more, its response is returned. 0: 60 s.
	MaxWait time.Duration
	// NewKey makes the key of a request that has none, by header or by WithKey. Nil: a random UUID.
	NewKey func(r *http.Request) string
	// Now is the time, for a Retry-After that is a date. Nil: time.Now.
	Now func() time.Time
	// Sleep waits. Nil: on the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Transport is an http.RoundTripper that sends a key, and the request again with the same one.
type Transport struct {
	c     TransportConfig
	again again.Retrier
}

// NewTransport makes a Transport. The error names the field, and what would be right.
func NewTransport(c TransportConfig) (*Transport, error) {
	retrier, err := again.New("idemhttp", c.Policy, c.MaxWait)
	if err != nil {
		return nil, err
	}
	retrier.Sleep = c.Sleep
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.NewKey == nil {
		c.NewKey = func(*http.Request) string { return uuid.NewString() }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Transport{c: c, again: retrier}, nil
}

// WithKey makes key the idempotency key of a request with this context: one request, since two with one key are
// one to the server. A handler of messages that calls others passes on its own: WithKey(ctx, guard.KeyOf(ctx)),
// with a suffix for each call where it makes several.
func WithKey(ctx context.Context, key string) context.Context {
	return again.WithKey(ctx, key)
}

// RoundTrip sends a request, and again where its response or its error says that this may help. The response
// of the last try is returned as it is. A body that has no GetBody (http.NewRequest sets it for the usual
// readers) cannot be sent twice: such a request is sent once.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	key, err := t.key(r)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	backoffKey := key
	if key == "" && r.URL != nil {
		backoffKey = r.Method + " " + r.URL.Host + r.URL.Path
	}
	once := r.Body != nil && r.Body != http.NoBody && r.GetBody == nil || urlInvalid(r)
	for n := int32(0); ; n++ {
		try, err := t.try(r, key, n)
		if err != nil {
			return nil, err
		}
		response, err := t.c.Base.RoundTrip(try)
		after, retry := t.worthAgain(response, err)
		if !retry || once || !t.again.Again(r.Context(), backoffKey, n, after) {
			return response, err
		}
		if response != nil {
			_, _ = io.CopyN(io.Discard, response.Body, drained)
			_ = response.Body.Close()
		}
	}
}

// urlInvalid says that no try can send the request. ("url_invalid" of CLASS-050)
func urlInvalid(r *http.Request) bool {
	return r.URL == nil || r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https"
}

// key is the request's key; empty for a method that is safe.
func (t *Transport) key(r *http.Request) (string, error) {
	if values := r.Header.Values("Idempotency-Key"); len(values) > 0 {
		key, err := replay.ParseKey(values)
		if err != nil {
			return "", fmt.Errorf("idemhttp: the request's Idempotency-Key: %w", err)
		}
		return key, nil
	}
	if isSafe(r.Method) || r.Method == "" {
		return "", nil
	}
	key := again.KeyFor(r.Context())
	if key == "" {
		key = t.c.NewKey(r)
	}
	if err := idem.CheckKey(key); err != nil {
		return "", fmt.Errorf("idemhttp: the request's idempotency key: %w", err)
	}
	return key, nil
}

// try is a request of its own: a RoundTripper leaves the caller's as it is.
func (t *Transport) try(r *http.Request, key string, n int32) (*http.Request, error) {
	try := r.Clone(r.Context())
	if key != "" {
		try.Header.Set("Idempotency-Key", replay.FormatKey(key))
	}
	if n > 0 && r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, fmt.Errorf("idemhttp: read the body again: %w", err)
		}
		try.Body = body
	}
	return try, nil
}

// worthAgain says whether sending a request again may help, and how long the server wants to be left alone.
func (t *Transport) worthAgain(response *http.Response, err error) (after time.Duration, retry bool) {
	if err != nil {
		outcome, _ := idem.ClassifyNet(netWord(err))
		return 0, outcome != idem.OutcomeNonRetryable
	}
	switch outcome, bad := idem.ClassifyHTTP(response.StatusCode); {
	case bad != nil:
		return 0, false
	case outcome == idem.OutcomeRetryable, outcome == idem.OutcomeThrottled:
		return RetryAfter(response.Header, t.c.Now()), true
	}
	return 0, false
}
