package idemgrpc_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idemgrpc"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	payMethod    = "/idem.test.Payments/Pay"
	refundMethod = "/idem.test.Payments/Refund"
	healthMethod = "/grpc.health.v1.Health/Check"
)

type handler func(ctx context.Context, request *wrapperspb.StringValue) (*wrapperspb.StringValue, error)

// world is a real server on a port of 127.0.0.1, and a connection to it.
func world(t *testing.T, c idemgrpc.ServerConfig, h handler, client ...grpc.UnaryClientInterceptor) *grpc.ClientConn {
	t.Helper()
	interceptor, err := idemgrpc.UnaryServerInterceptor(c)
	require.NoError(t, err)
	recovers := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (response any, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = status.Error(codes.Internal, "panic")
			}
		}()
		return next(ctx, request)
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(recovers, interceptor))
	for service, methods := range map[string][]string{"idem.test.Payments": {"Pay", "Refund"}, "grpc.health.v1.Health": {"Check"}} {
		d := grpc.ServiceDesc{ServiceName: service, HandlerType: (*any)(nil)}
		for _, name := range methods {
			full := "/" + service + "/" + name
			d.Methods = append(d.Methods, grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, decode func(any) error, i grpc.UnaryServerInterceptor) (any, error) {
				request := new(wrapperspb.StringValue)
				if err := decode(request); err != nil {
					return nil, err
				}
				return i(ctx, request, &grpc.UnaryServerInfo{FullMethod: full}, func(ctx context.Context, request any) (any, error) {
					return h(ctx, request.(*wrapperspb.StringValue))
				})
			}})
		}
		server.RegisterService(&d, struct{}{})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithChainUnaryInterceptor(client...))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func config() idemgrpc.ServerConfig {
	return idemgrpc.ServerConfig{
		Store: memory.New(memory.Config{}), Service: "payments", Log: slog.New(slog.DiscardHandler),
		Principal: func(ctx context.Context) (string, error) {
			return strings.Join(metadata.ValueFromIncomingContext(ctx, "user"), ""), nil
		},
	}
}

// pay counts its calls, and answers with their number.
func pay(calls *atomic.Int64) handler {
	return func(ctx context.Context, r *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		n := calls.Add(1)
		return wrapperspb.String(strings.Repeat("I", int(n)) + " " + r.GetValue() + " " + idemgrpc.KeyOf(ctx)), nil
	}
}

type call struct{ method, key, user, value string }

type answer struct {
	value    string
	replayed bool
	err      error
}

func (q call) context(ctx context.Context) context.Context {
	if q.key != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "idempotency-key", q.key)
	}
	if q.user == "" {
		q.user = "ann"
	}
	if q.user != "nobody" {
		ctx = metadata.AppendToOutgoingContext(ctx, "user", q.user)
	}
	return ctx
}

func invoke(ctx context.Context, conn *grpc.ClientConn, q call) answer {
	if q.method == "" {
		q.method = payMethod
	}
	var header metadata.MD
	reply := new(wrapperspb.StringValue)
	err := conn.Invoke(q.context(ctx), q.method, wrapperspb.String(q.value), reply, grpc.Header(&header))
	return answer{reply.GetValue(), len(header.Get("idempotency-replayed")) > 0, err}
}

// refused checks a refusal's code and reason, and gives its retry delay.
func refused(t *testing.T, err error, code codes.Code, reason string) time.Duration {
	t.Helper()
	s := status.Convert(err)
	require.Equal(t, code, s.Code(), "%v", err)
	var got string
	var wait time.Duration
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			assert.Equal(t, "idem", d.GetDomain())
			got = d.GetReason()
		case *errdetails.RetryInfo:
			wait = d.GetRetryDelay().AsDuration()
		}
	}
	require.Equal(t, reason, got)
	return wait
}

func TestSecondCallGetsTheFirstOnesResponse(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	conn := world(t, config(), pay(&calls))
	assert.Equal(t, answer{"I 100 k", false, nil}, invoke(t.Context(), conn, call{key: "k", value: "100"}))
	assert.Equal(t, answer{"I 100 k", true, nil}, invoke(t.Context(), conn, call{key: `"k"`, value: "100"}))
	assert.Equal(t, answer{"II 100 k", false, nil}, invoke(t.Context(), conn, call{key: "k", value: "100", user: "bob"}))
	assert.Equal(t, answer{"III 100 k", false, nil}, invoke(t.Context(), conn, call{key: "k", value: "100", method: refundMethod}))
}

func TestRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	conn := world(t, config(), pay(&calls))
	invoke(t.Context(), conn, call{key: "k", value: "100"})
	refused(t, invoke(t.Context(), conn, call{key: "k", value: "200"}).err, codes.FailedPrecondition, "KEY_REUSED")
	refused(t, invoke(t.Context(), conn, call{value: "100"}).err, codes.InvalidArgument, "KEY_MISSING")
	refused(t, invoke(t.Context(), conn, call{key: `"open`}).err, codes.InvalidArgument, "KEY_SYNTAX")
	refused(t, invoke(t.Context(), conn, call{key: "k", user: "nobody"}).err, codes.Unauthenticated, "PRINCIPAL_MISSING")
	assert.EqualValues(t, 1, calls.Load())
}

func TestMethodsOfGRPCsOwnPassAndOptionalOnesToo(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	conn := world(t, config(), pay(&calls))
	require.NoError(t, invoke(t.Context(), conn, call{method: healthMethod, user: "nobody"}).err)
	c := config()
	c.Optional = true
	conn = world(t, c, pay(&calls))
	require.NoError(t, invoke(t.Context(), conn, call{user: "nobody"}).err)
	assert.EqualValues(t, 2, calls.Load())
}

func TestErrorsAreKeptOrReleasedByTheirCode(t *testing.T) {
	t.Parallel()
	for code, kept := range map[codes.Code]bool{
		codes.InvalidArgument: true, codes.NotFound: true, codes.AlreadyExists: true, codes.FailedPrecondition: true, codes.OutOfRange: true, codes.DataLoss: true,
		codes.Canceled: false, codes.Unknown: false, codes.DeadlineExceeded: false, codes.ResourceExhausted: false, codes.Aborted: false, codes.Internal: false,
		codes.Unavailable: false, codes.PermissionDenied: false, codes.Unauthenticated: false, codes.Unimplemented: false,
	} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			conn := world(t, config(), func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
				calls.Add(1)
				s, err := status.New(code, "no").WithDetails(durationpb.New(7))
				assert.NoError(t, err)
				return nil, s.Err()
			})
			for range 3 {
				s := status.Convert(invoke(t.Context(), conn, call{key: "k"}).err)
				assert.Equal(t, code, s.Code())
				assert.Equal(t, "no", s.Message())
				require.Len(t, s.Details(), 1)
				assert.EqualValues(t, 7, s.Details()[0].(*durationpb.Duration).GetNanos())
			}
			assert.Equal(t, kept, calls.Load() == 1, "%d calls", calls.Load())
		})
	}
}

func TestKeepSaysWhatIsKeptInPlaceOfTheDefault(t *testing.T) {
	t.Parallel()
	c := config()
	c.Keep = func(code codes.Code) bool { return code == codes.Unavailable }
	var calls atomic.Int64
	conn := world(t, c, func(ctx context.Context, r *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		if calls.Add(1) < 3 {
			return r, nil
		}
		return nil, status.Error(codes.Unavailable, "no")
	})
	for range 5 {
		_ = invoke(t.Context(), conn, call{key: "k"})
	}
	assert.EqualValues(t, 3, calls.Load(), "success is not kept, and UNAVAILABLE is")
}

func TestPanicReleasesTheClaim(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	conn := world(t, config(), func(ctx context.Context, r *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		if calls.Load() == 0 {
			calls.Add(1)
			panic("handler")
		}
		return pay(&calls)(ctx, r)
	})
	assert.Equal(t, codes.Internal, status.Code(invoke(t.Context(), conn, call{key: "k"}).err))
	assert.Equal(t, answer{"II  k", false, nil}, invoke(t.Context(), conn, call{key: "k"}))
}

func TestHundredDuplicatesAtOnceAreOneEffect(t *testing.T) {
	t.Parallel()
	var calls, waiting atomic.Int64
	gate := make(chan struct{})
	conn := world(t, config(), func(ctx context.Context, r *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		<-gate
		return pay(&calls)(ctx, r)
	})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			a := invoke(t.Context(), conn, call{key: "k", value: "100"})
			if a.err != nil {
				assert.Equal(t, time.Second, refused(t, a.err, codes.Aborted, "IN_PROGRESS"))
				if waiting.Add(1) == 99 {
					close(gate)
				}
				<-gate
				for a.err != nil {
					a = invoke(t.Context(), conn, call{key: "k", value: "100"})
				}
			}
			assert.Equal(t, "I 100 k", a.value)
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, calls.Load())
}

func TestCallerThatGoesAwayFindsItsResponseLater(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	ctx, leave := context.WithCancel(t.Context())
	left, ended := make(chan struct{}), make(chan error, 1)
	conn := world(t, config(), func(ctx context.Context, r *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		leave()
		<-left
		ended <- ctx.Err()
		return pay(&calls)(ctx, r)
	})
	assert.Equal(t, codes.Canceled, status.Code(invoke(ctx, conn, call{key: "k"}).err))
	close(left)
	require.NoError(t, <-ended)
	for {
		a := invoke(t.Context(), conn, call{key: "k"})
		if status.Code(a.err) == codes.Aborted {
			continue // it is just ending
		}
		assert.Equal(t, answer{"I  k", true, nil}, a)
		break
	}
	assert.EqualValues(t, 1, calls.Load())
}

func TestResponseLargerThanTheRecordIsGoneLater(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	conn := world(t, config(), func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		calls.Add(1)
		return wrapperspb.String(strings.Repeat("x", 70000)), nil
	})
	assert.Len(t, invoke(t.Context(), conn, call{key: "k"}).value, 70000)
	refused(t, invoke(t.Context(), conn, call{key: "k"}).err, codes.FailedPrecondition, "RESPONSE_GONE")
	assert.EqualValues(t, 1, calls.Load())
}

func TestClientCallsAgainWithOneKey(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	interceptor, err := idemgrpc.UnaryClientInterceptor(idemgrpc.ClientConfig{Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}})
	require.NoError(t, err)
	var tries int
	keys := map[string]int{}
	conn := world(t, config(), func(ctx context.Context, r *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
		tries++
		keys[idemgrpc.KeyOf(ctx)]++
		switch tries {
		case 1:
			return nil, status.Error(codes.Unavailable, "down")
		case 2:
			s, err := status.New(codes.ResourceExhausted, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(20 * time.Second)})
			assert.NoError(t, err)
			return nil, s.Err()
		}
		return wrapperspb.String("done"), nil
	}, interceptor)
	assert.Equal(t, answer{"done", false, nil}, invoke(t.Context(), conn, call{}))
	require.Len(t, keys, 1, "one key: %v", keys)
	require.Len(t, waits, 2)
	assert.GreaterOrEqual(t, waits[0], time.Second)
	assert.Less(t, waits[0], 2*time.Second)
	assert.GreaterOrEqual(t, waits[1], 20*time.Second)
	assert.Equal(t, answer{"done", false, nil}, invoke(idemgrpc.WithKey(t.Context(), "mine"), conn, call{}))
	assert.Equal(t, 1, keys["mine"])
	require.ErrorContains(t, invoke(idemgrpc.WithKey(t.Context(), "a b"), conn, call{}).err, "KEY_SYNTAX")
	assert.Equal(t, answer{"done", false, nil}, invoke(t.Context(), conn, call{method: healthMethod}))
	assert.Equal(t, 1, keys[""], "gRPC's own methods have no key")
}

func TestClientTakesNoForAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		tries int
	}{
		"no":        {status.Error(codes.InvalidArgument, "no"), 1},
		"far later": {withRetry(time.Hour), 1},
		"down":      {status.Error(codes.Unavailable, "down"), 5},
		"unknown":   {errors.New("anything"), 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			interceptor, err := idemgrpc.UnaryClientInterceptor(idemgrpc.ClientConfig{Sleep: func(context.Context, time.Duration) error { return nil }})
			require.NoError(t, err)
			tries := 0
			conn := world(t, config(), func(context.Context, *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
				tries++
				return nil, c.err
			}, interceptor)
			require.Error(t, invoke(t.Context(), conn, call{}).err)
			assert.Equal(t, c.tries, tries)
		})
	}
}

func withRetry(d time.Duration) error {
	s, _ := status.New(codes.Unavailable, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
	return s.Err()
}

func TestNewNamesTheFieldAndTheMend(t *testing.T) {
	t.Parallel()
	c := config()
	c.Principal = nil
	_, err := idemgrpc.UnaryServerInterceptor(c)
	require.ErrorContains(t, err, "idemgrpc: no Principal: give the function")
	c = config()
	c.Service = ""
	_, err = idemgrpc.UnaryServerInterceptor(c)
	require.ErrorContains(t, err, `idemgrpc: Service is ""`)
	_, err = idemgrpc.UnaryClientInterceptor(idemgrpc.ClientConfig{Policy: &idem.Policy{}})
	require.ErrorContains(t, err, "idemgrpc: Policy")
}
