package idemgrpc

import (
	"context"
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
		return nil, replay.NoPrincipal("idemgrpc")
	}
	if c.Guards == nil {
		c.Guards = func(method string) bool { return !rpc.IsSafe(method) }
	}
	var keep func(code uint32) bool
	if c.Keep != nil {
		keep = func(code uint32) bool { return c.Keep(codes.Code(code)) }
	}
	server, err := rpc.NewServer("idemgrpc", replay.Engine{
		Store: c.Store, Service: c.Service, Lease: c.Lease, Timeout: c.Timeout, RetryAfter: c.RetryAfter, MaxAttempts: c.MaxAttempts,
		Observer: c.Observer, Log: c.Log,
	}, keep)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		keys := metadata.ValueFromIncomingContext(ctx, KeyName)
		if !c.Guards(info.FullMethod) || len(keys) == 0 && c.Optional {
			return handler(ctx, request)
		}
		principal := func() (string, error) { return c.Principal(ctx) }
		return serve(ctx, server, &rpc.Call{Method: info.FullMethod, Keys: keys, Request: request, Principal: principal}, handler)
	}, nil
}

func serve(ctx context.Context, server *rpc.Server, call *rpc.Call, handler grpc.UnaryHandler) (any, error) {
	var response any
	var failure error
	call.Run = func(ctx context.Context) (any, *statuspb.Status) {
		if response, failure = handler(ctx, call.Request); failure != nil {
			return nil, status.Convert(failure).Proto()
		}
		return response, nil
	}
	answer := server.Do(ctx, call)
	if answer.Ran {
		return response, failure
	}
	if answer.Replayed {
		// Without a stream (in a test of the interceptor alone) there is nobody to tell.
		_ = grpc.SetHeader(ctx, metadata.Pairs("idempotency-replayed", "true"))
	}
	if answer.Status != nil {
		return nil, status.ErrorProto(answer.Status)
	}
	return answer.Response, nil
}
