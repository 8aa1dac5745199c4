package idemgrpc

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/again"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"github.com/idem-spec/idem/runtime/go/internal/rpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// ClientConfig is that of the client's interceptor. The zero value is good.
type ClientConfig struct {
	// Policy says how often and how late a call is made again. Nil: 4 retries, after 1, 2, 4 and 8 s and up to
	// half a second of jitter.
	Policy *idem.Policy
	// MaxWait is the longest wait: where the server's RetryInfo asks for more, its error is returned. 0: 60 s.
	MaxWait time.Duration
	// Keys says of a method, "/shop.v1.Payments/Pay", whether its calls have a key. Nil: all but those without
	// side effects. The others are made again too.
	Keys func(fullMethod string) bool
	// NewKey makes the key of a call that has none, by metadata or by WithKey. Nil: a random UUID.
	NewKey func(ctx context.Context, fullMethod string) string
	// Sleep waits. Nil: on the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// WithKey makes key the idempotency key of a call with this context: one call, since two with one key are one to
// the server.
func WithKey(ctx context.Context, key string) context.Context { return again.WithKey(ctx, key) }

// UnaryClientInterceptor makes the client's interceptor: it sends a key, and makes a call again with the same
// one where its status says that this may help (CLASS-020). Use it for servers that honour the key: on others a
// retry can double an effect.
func UnaryClientInterceptor(c ClientConfig) (grpc.UnaryClientInterceptor, error) {
	retrier, err := again.New("idemgrpc", c.Policy, c.MaxWait)
	if err != nil {
		return nil, err
	}
	retrier.Sleep = c.Sleep
	if c.Keys == nil {
		c.Keys = func(method string) bool { return !rpc.IsSafe(method) }
	}
	if c.NewKey == nil {
		c.NewKey = func(context.Context, string) string { return uuid.NewString() }
	}
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		backoffKey := method
		if c.Keys(method) {
			key, err := keyFor(ctx, &c, method)
			if err != nil {
				return err
			}
			backoffKey, ctx = key, withMetadata(ctx, key)
		}
		for n := int32(0); ; n++ {
			err := invoke(ctx, method, request, reply, conn, options...)
			if err == nil {
				return nil
			}
			s := status.Convert(err)
			outcome, bad := idem.ClassifyGRPC(int32(s.Code()))
			if bad != nil || outcome == idem.OutcomeNonRetryable || !retrier.Again(ctx, backoffKey, n, rpc.RetryDelay(s.Proto())) {
				return err
			}
		}
	}, nil
}

// keyFor is the key of a call: that of its metadata, of WithKey, or a new one.
func keyFor(ctx context.Context, c *ClientConfig, method string) (string, error) {
	if outgoing, ok := metadata.FromOutgoingContext(ctx); ok && len(outgoing.Get(KeyName)) > 0 {
		key, err := replay.ParseKey(outgoing.Get(KeyName))
		if err != nil {
			return "", fmt.Errorf("idemgrpc: the call's metadata %s: %w", KeyName, err)
		}
		return key, nil
	}
	key := again.KeyFor(ctx)
	if key == "" {
		key = c.NewKey(ctx, method)
	}
	if err := idem.CheckKey(key); err != nil {
		return "", fmt.Errorf("idemgrpc: the call's idempotency key: %w", err)
	}
	return key, nil
}

func withMetadata(ctx context.Context, key string) context.Context {
	outgoing, _ := metadata.FromOutgoingContext(ctx) // a copy
	if outgoing == nil {
		outgoing = metadata.MD{}
	}
	outgoing.Set(KeyName, replay.FormatKey(key))
	return metadata.NewOutgoingContext(ctx, outgoing)
}
