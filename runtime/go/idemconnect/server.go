package idemconnect

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"connectrpc.com/connect"
	"github.com/idem-spec/idem/runtime/go/internal/replay"
	"github.com/idem-spec/idem/runtime/go/internal/rpc"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// KeyName is the name of the header.
const KeyName = "Idempotency-Key"

// ServerConfig is that of the server's interceptor. Store, Service and Principal are needed.
type ServerConfig struct {
	Store store.Store
	// Service is a name of [A-Za-z0-9._-], 1 to 160 bytes: the same in all instances.
	Service string
	// Principal is who calls, as your authentication says: part of the key's scope. An error, or an empty text,
	// is answered CodeUnauthenticated.
	Principal func(ctx context.Context, r connect.AnyRequest) (string, error)
	// Guards says of a method whether it is guarded. Nil: all but those without side effects.
	Guards func(spec connect.Spec) bool
	// Optional lets calls of guarded methods without a key pass, without a guard.
	Optional bool
	// Keep says of a code, 0 for success, whether later calls get it again. Nil: see package idemgrpc.
	Keep func(code connect.Code) bool
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

// NewServerInterceptor makes the server's interceptor. Calls of clients pass it. The error names the field, and
// what would be right.
func NewServerInterceptor(c ServerConfig) (connect.Interceptor, error) {
	if c.Principal == nil {
		return nil, replay.NoPrincipal("idemconnect")
	}
	if c.Guards == nil {
		c.Guards = func(spec connect.Spec) bool { return !isSafe(spec) }
	}
	var keep func(code uint32) bool
	if c.Keep != nil {
		keep = func(code uint32) bool { return c.Keep(connect.Code(code)) }
	}
	server, err := rpc.NewServer("idemconnect", replay.Engine{
		Store: c.Store, Service: c.Service, Lease: c.Lease, Timeout: c.Timeout, RetryAfter: c.RetryAfter, MaxAttempts: c.MaxAttempts,
		Observer: c.Observer, Log: c.Log,
	}, keep)
	if err != nil {
		return nil, err
	}
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			keys := r.Header().Values(KeyName)
			if r.Spec().IsClient || !c.Guards(r.Spec()) || len(keys) == 0 && c.Optional {
				return next(ctx, r)
			}
			principal := func() (string, error) { return c.Principal(ctx, r) }
			return serve(ctx, server, &rpc.Call{Method: r.Spec().Procedure, Keys: keys, Request: r.Any(), Principal: principal}, r, next)
		}
	}), nil
}

func isSafe(spec connect.Spec) bool {
	return spec.IdempotencyLevel == connect.IdempotencyNoSideEffects || rpc.IsSafe(spec.Procedure)
}

func serve(ctx context.Context, server *rpc.Server, call *rpc.Call, r connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	var response connect.AnyResponse
	var failure error
	call.Run = func(ctx context.Context) (any, *statuspb.Status) {
		if response, failure = next(ctx, r); failure != nil {
			return nil, statusOf(failure)
		}
		return response.Any(), nil
	}
	answer := server.Do(ctx, call)
	if answer.Ran {
		return response, failure
	}
	if answer.Status != nil {
		e := errorOf(answer.Status)
		if answer.Replayed {
			e.Meta().Set("Idempotency-Replayed", "true")
		}
		return nil, e
	}
	again := connect.NewResponse(&repeated{answer.Response})
	again.Header().Set("Idempotency-Replayed", "true")
	return again, nil
}

// repeated is a message of a type that is known at run time alone. Codecs see the message within.
type repeated struct{ message proto.Message }

func (r *repeated) ProtoReflect() protoreflect.Message { return r.message.ProtoReflect() }

// statusOf is an error as gRPC would have it.
func statusOf(err error) *statuspb.Status {
	var e *connect.Error
	switch {
	case errors.As(err, &e):
		s := &statuspb.Status{Code: int32(e.Code()), Message: e.Message()}
		for _, d := range e.Details() {
			s.Details = append(s.Details, &anypb.Any{TypeUrl: "type.googleapis.com/" + d.Type(), Value: d.Bytes()})
		}
		return s
	case errors.Is(err, context.Canceled):
		return &statuspb.Status{Code: int32(connect.CodeCanceled), Message: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &statuspb.Status{Code: int32(connect.CodeDeadlineExceeded), Message: err.Error()}
	}
	return &statuspb.Status{Code: int32(connect.CodeUnknown), Message: err.Error()}
}

// errorOf is a status as Connect has it.
func errorOf(s *statuspb.Status) *connect.Error {
	e := connect.NewError(connect.Code(s.GetCode()), errors.New(s.GetMessage()))
	for _, d := range s.GetDetails() {
		if detail, err := connect.NewErrorDetail(d); err == nil {
			e.AddDetail(detail)
		}
	}
	return e
}
