package replay

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/idem"
)

type contextKey struct{}

// WithKey gives a handler the key of its call.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, contextKey{}, key)
}

// KeyOf is the key of the call that a handler handles, empty elsewhere.
func KeyOf(ctx context.Context) string {
	key, _ := ctx.Value(contextKey{}).(string)
	return key
}

// ParseKey reads the values of Idempotency-Key as the spec's HTTP binding does. (HDR-042, HDR-043)
func ParseKey(values []string) (string, error) {
	headers := make(idem.Headers, len(values))
	for i, v := range values {
		headers[i] = idem.Header{Name: "Idempotency-Key", Value: []byte(v)}
	}
	e, err := idem.ParseHeaders(idem.HTTP, headers)
	if err != nil {
		return "", err
	}
	return e.IdempotencyKey, nil
}

// FormatKey is the value of Idempotency-Key for a key.
func FormatKey(key string) string {
	h := idem.Headers{{Name: idem.IdempotencyKey.String(), Value: []byte(key)}}.For(idem.HTTP)
	return string(h[0].Value)
}
