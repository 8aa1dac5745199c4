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
		return nil, errors.New("idemconnect: no Principal: give the function that says who is authenticated; without it one caller would get another's response")
	}
	if c.Guards == nil {
		c.Guards = func(spec connect.Spec) bool { return !isSafe(spec) }
	}
	if c.Keep == nil {
		c.Keep = func(code connect.Code) bool { return rpc.Keep(uint32(code)) }
	}
	s := &server{c: c, engine: replay.Engine{
		Store: c.Store, Service: c.Service, Lease: c.Lease, Timeout: c.Timeout, RetryAfter: c.RetryAfter, MaxAttempts: c.MaxAttempts,
		Observer: c.Observer, Log: c.Log,
	}}
	if err := s.engine.Check("idemconnect"); err != nil {
		return nil, err
	}
	return connect.UnaryInterceptorFunc(s.wrap), nil
}

func isSafe(spec connect.Spec) bool {
	return spec.IdempotencyLevel == connect.IdempotencyNoSideEffects || rpc.IsSafe(spec.Procedure)
}

type server struct {
	c      ServerConfig
	engine replay.Engine
}

func (s *server) wrap(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if r.Spec().IsClient || !s.c.Guards(r.Spec()) {
			return next(ctx, r)
		}
		values := r.Header().Values(KeyName)
		if len(values) == 0 && s.c.Optional {
			return next(ctx, r)
		}
		call, refused := s.call(ctx, values, r)
		if refused != nil {
			return nil, errorOf(refused)
		}
		return s.serve(ctx, call, r, next)
	}
}

// call is the call that a request is, or why it is none.
func (s *server) call(ctx context.Context, values []string, r connect.AnyRequest) (*replay.Call, *statuspb.Status) {
	if len(values) == 0 {
		return nil, rpc.KeyMissing()
	}
	key, err := replay.ParseKey(values)
	if err != nil {
		return nil, rpc.KeyMalformed(err)
	}
	principal, err := s.c.Principal(ctx, r)
	if err != nil || principal == "" {
		return nil, rpc.Nobody()
	}
	fingerprint, err := rpc.Fingerprint(r.Spec().Procedure, r.Any())
	if err != nil {
		return nil, rpc.Unreadable(err)
	}
	return &replay.Call{Key: key, Principal: principal, Route: r.Spec().Procedure, Fingerprint: fingerprint}, nil
}

func (s *server) serve(ctx context.Context, call *replay.Call, r connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	var response connect.AnyResponse
	var failure error
	answer := s.engine.Do(ctx, call, func(ctx context.Context) ([]byte, bool) {
		response, failure = next(replay.WithKey(ctx, call.Key), r)
		if failure == nil {
			return rpc.Result(response.Any(), nil), s.c.Keep(0)
		}
		status := statusOf(failure)
		return rpc.Result(nil, status), s.c.Keep(connect.Code(status.GetCode()))
	})
	switch answer.Kind {
	case replay.Ran:
		return response, failure
	case replay.Replayed:
		message, status := rpc.Again(answer.Result)
		if status != nil {
			failure := errorOf(status)
			failure.Meta().Set("Idempotency-Replayed", "true")
			return nil, failure
		}
		response := connect.NewResponse(&repeated{message})
		response.Header().Set("Idempotency-Replayed", "true")
		return response, nil
	}
	return nil, errorOf(rpc.Refusal(answer))
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
