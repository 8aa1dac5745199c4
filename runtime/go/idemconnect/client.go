package idemconnect

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"github.com/google/uuid"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/again"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"github.com/idem-spec/idem/runtime/go/internal/rpc"
)

// ClientConfig is that of the client's interceptor. The zero value is good.
type ClientConfig struct {
	// Policy says how often and how late a call is made again. Nil: 4 retries, after 1, 2, 4 and 8 s and up to
	// half a second of jitter.
	Policy *idem.Policy
	// MaxWait is the longest wait: where the server's RetryInfo asks for more, its error is returned. 0: 60 s.
	MaxWait time.Duration
	// Keys says of a method whether its calls have a key. Nil: all but those without side effects. The others are
	// made again too.
	Keys func(spec connect.Spec) bool
	// NewKey makes the key of a call that has none, by header or by WithKey. Nil: a random UUID.
	NewKey func(ctx context.Context, r connect.AnyRequest) string
	// Sleep waits. Nil: on the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// WithKey makes key the idempotency key of a call with this context: one call, since two with one key are one to
// the server.
func WithKey(ctx context.Context, key string) context.Context { return again.WithKey(ctx, key) }

// NewClientInterceptor makes the client's interceptor: it sends a key, and makes a call again with the same one
// where its code says that this may help (CLASS-020). Use it for servers that honour the key: on others a retry
// can double an effect. Calls of servers pass it.
func NewClientInterceptor(c ClientConfig) (connect.Interceptor, error) {
	retrier, err := again.New("idemconnect", c.Policy, c.MaxWait)
	if err != nil {
		return nil, err
	}
	retrier.Sleep = c.Sleep
	if c.Keys == nil {
		c.Keys = func(spec connect.Spec) bool { return !isSafe(spec) }
	}
	if c.NewKey == nil {
		c.NewKey = func(context.Context, connect.AnyRequest) string { return uuid.NewString() }
	}
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			if !r.Spec().IsClient {
				return next(ctx, r)
			}
			backoffKey := r.Spec().Procedure
			if c.Keys(r.Spec()) {
				key, err := keyFor(ctx, &c, r)
				if err != nil {
					return nil, connect.NewError(connect.CodeInvalidArgument, err)
				}
				backoffKey = key
				r.Header().Set(KeyName, replay.FormatKey(key))
			}
			for n := int32(0); ; n++ {
				response, err := next(ctx, r)
				if err == nil {
					return response, nil
				}
				s := statusOf(err)
				outcome, bad := idem.ClassifyGRPC(s.GetCode())
				if bad != nil || outcome == idem.OutcomeNonRetryable || !retrier.Again(ctx, backoffKey, n, rpc.RetryDelay(s)) {
					return nil, err
				}
			}
		}
	}), nil
}

// keyFor is the key of a call: that of its header, of WithKey, or a new one.
func keyFor(ctx context.Context, c *ClientConfig, r connect.AnyRequest) (string, error) {
	if values := r.Header().Values(KeyName); len(values) > 0 {
		key, err := replay.ParseKey(values)
		if err != nil {
			return "", fmt.Errorf("idemconnect: the call's header %s: %w", KeyName, err)
		}
		return key, nil
	}
	key := again.KeyFor(ctx)
	if key == "" {
		key = c.NewKey(ctx, r)
	}
	if err := idem.CheckKey(key); err != nil {
		return "", fmt.Errorf("idemconnect: the call's idempotency key: %w", err)
	}
	return key, nil
}
