package idemgrpc

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"github.com/idem-spec/idem/runtime/go/internal/rpc"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// KeyName is the name of the metadata.
const KeyName = "idempotency-key"

// ServerConfig is that of the server's interceptor. Store, Service and Principal are needed.
type ServerConfig struct {
	Store store.Store
	// Service is a name of [A-Za-z0-9._-], 1 to 160 bytes: the same in all instances.
	Service string
	// Principal is who calls, as your authentication says: part of the key's scope. An error, or an empty text,
	// is answered UNAUTHENTICATED.
	Principal func(ctx context.Context) (string, error)
	// Guards says of a method, "/shop.v1.Payments/Pay", whether it is guarded. Nil: all but those without side
	// effects.
	Guards func(fullMethod string) bool
	// Optional lets calls of guarded methods without a key pass, without a guard.
	Optional bool
	// Keep says of a code whether later calls get it again. Nil: see the package's comment.
	Keep func(code codes.Code) bool
	// Timeout is the handler's deadline, until which the lease is renewed. 0: 60 s.
	Timeout time.Duration
	// Lease is how long a key stays taken when the process dies. 0: 30 s.
	Lease time.Duration
	// RetryAfter is what callers are told to wait while another call with the key runs. 0: 1 s.
	RetryAfter time.Duration
	// MaxAttempts is how often a call may kill its process before it is refused. 0: 5.
	MaxAttempts int64
	Observer    observe.Observer // nil: none
	Log         *slog.Logger     // nil: slog.Default()
}

// KeyOf is the idempotency key of the call, in a handler: what to pass on to others. It is empty elsewhere.
func KeyOf(ctx context.Context) string { return replay.KeyOf(ctx) }

// UnaryServerInterceptor makes the server's interceptor. It belongs behind the one that authenticates. The error
// names the field, and what would be right.
func UnaryServerInterceptor(c ServerConfig) (grpc.UnaryServerInterceptor, error) {
	if c.Principal == nil {
		return nil, errors.New("idemgrpc: no Principal: give the function that says who is authenticated; without it one caller would get another's response")
	}
	if c.Guards == nil {
		c.Guards = func(method string) bool { return !rpc.IsSafe(method) }
	}
	if c.Keep == nil {
		c.Keep = func(code codes.Code) bool { return rpc.Keep(uint32(code)) }
	}
	engine := &replay.Engine{
		Store: c.Store, Service: c.Service, Lease: c.Lease, Timeout: c.Timeout, RetryAfter: c.RetryAfter, MaxAttempts: c.MaxAttempts,
		Observer: c.Observer, Log: c.Log,
	}
	if err := engine.Check("idemgrpc"); err != nil {
		return nil, err
	}
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if !c.Guards(info.FullMethod) {
			return handler(ctx, request)
		}
		values := metadata.ValueFromIncomingContext(ctx, KeyName)
		if len(values) == 0 && c.Optional {
			return handler(ctx, request)
		}
		call, refused := callOf(ctx, &c, info.FullMethod, values, request)
		if refused != nil {
			return nil, status.ErrorProto(refused)
		}
		return serve(ctx, engine, &c, call, request, handler)
	}, nil
}

// callOf is the call that a request is, or why it is none.
func callOf(ctx context.Context, c *ServerConfig, method string, values []string, request any) (*replay.Call, *statuspb.Status) {
	if len(values) == 0 {
		return nil, rpc.KeyMissing()
	}
	key, err := replay.ParseKey(values)
	if err != nil {
		return nil, rpc.KeyMalformed(err)
	}
	principal, err := c.Principal(ctx)
	if err != nil || principal == "" {
		return nil, rpc.Nobody()
	}
	fingerprint, err := rpc.Fingerprint(method, request)
	if err != nil {
		return nil, rpc.Unreadable(err)
	}
	return &replay.Call{Key: key, Principal: principal, Route: method, Fingerprint: fingerprint}, nil
}

func serve(ctx context.Context, engine *replay.Engine, c *ServerConfig, call *replay.Call, request any, handler grpc.UnaryHandler) (any, error) {
	var response any
	var failure error
	answer := engine.Do(ctx, call, func(ctx context.Context) ([]byte, bool) {
		response, failure = handler(replay.WithKey(ctx, call.Key), request)
		if failure == nil {
			return rpc.Result(response, nil), c.Keep(codes.OK)
		}
		s := status.Convert(failure)
		return rpc.Result(nil, s.Proto()), c.Keep(s.Code())
	})
	switch answer.Kind {
	case replay.Ran:
		return response, failure
	case replay.Replayed:
		// Without a stream (in a test of the interceptor alone) there is nobody to tell.
		_ = grpc.SetHeader(ctx, metadata.Pairs("idempotency-replayed", "true"))
		message, s := rpc.Again(answer.Result)
		if s != nil {
			return nil, status.ErrorProto(s)
		}
		return message, nil
	}
	return nil, status.ErrorProto(rpc.Refusal(answer))
}
