package idemconnect_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idemconnect"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const payProcedure = "/idem.test.Payments/Pay"

type (
	request  = connect.Request[wrapperspb.StringValue]
	response = connect.Response[wrapperspb.StringValue]
	client   = connect.Client[wrapperspb.StringValue, wrapperspb.StringValue]
	handler  = func(ctx context.Context, r *request) (*response, error)
)

// protocols are Connect's, each with its codec.
var protocols = map[string][]connect.ClientOption{
	"connect json": {connect.WithProtoJSON()},
	"connect":      {},
	"grpc":         {connect.WithGRPC()},
	"grpc-web":     {connect.WithGRPCWeb()},
}

func config() idemconnect.ServerConfig {
	return idemconnect.ServerConfig{
		Store: memory.New(memory.Config{}), Service: "payments", Log: slog.New(slog.DiscardHandler),
		Principal: func(_ context.Context, r connect.AnyRequest) (string, error) { return r.Header().Get("User"), nil },
	}
}

// world is a real server with HTTP/2, and a client of it.
func world(t *testing.T, c idemconnect.ServerConfig, h handler, options ...connect.ClientOption) *client {
	t.Helper()
	interceptor, err := idemconnect.NewServerInterceptor(c)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle(payProcedure, connect.NewUnaryHandler(payProcedure, h, connect.WithInterceptors(interceptor),
		connect.WithRecover(func(context.Context, connect.Spec, http.Header, any) error {
			return connect.NewError(connect.CodeInternal, errors.New("panic"))
		})))
	server := httptest.NewUnstartedServer(mux)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](server.Client(), server.URL+payProcedure, options...)
}

type call struct{ key, user, value string }

type answer struct {
	value    string
	replayed bool
	err      error
}

func invoke(ctx context.Context, c *client, q call) answer {
	r := connect.NewRequest(wrapperspb.String(q.value))
	if q.key != "" {
		r.Header().Set("Idempotency-Key", q.key)
	}
	if q.user == "" {
		q.user = "ann"
	}
	if q.user != "nobody" {
		r.Header().Set("User", q.user)
	}
	got, err := c.CallUnary(ctx, r)
	if err != nil {
		return answer{err: err}
	}
	return answer{got.Msg.GetValue(), got.Header().Get("Idempotency-Replayed") == "true", nil}
}

// pay counts its calls, and answers with their number.
func pay(calls *atomic.Int64) handler {
	return func(ctx context.Context, r *request) (*response, error) {
		return connect.NewResponse(wrapperspb.String(fmt.Sprintf("%d %s %s", calls.Add(1), r.Msg.GetValue(), idemconnect.KeyOf(ctx)))), nil
	}
}

// refused checks a refusal's code and reason, and gives its retry delay.
func refused(t *testing.T, err error, code connect.Code, reason string) time.Duration {
	t.Helper()
	var e *connect.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code(), "%v", err)
	var got string
	var wait time.Duration
	for _, d := range e.Details() {
		value, err := d.Value()
		require.NoError(t, err)
		switch d := value.(type) {
		case *errdetails.ErrorInfo:
			got = d.GetReason()
		case *errdetails.RetryInfo:
			wait = d.GetRetryDelay().AsDuration()
		}
	}
	require.Equal(t, reason, got)
	return wait
}

func TestSecondCallGetsTheFirstOnesResponseInEveryProtocol(t *testing.T) {
	t.Parallel()
	for name, options := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			c := world(t, config(), pay(&calls), options...)
			assert.Equal(t, answer{"1 100 k", false, nil}, invoke(t.Context(), c, call{key: "k", value: "100"}))
			assert.Equal(t, answer{"1 100 k", true, nil}, invoke(t.Context(), c, call{key: `"k"`, value: "100"}))
			assert.Equal(t, answer{"2 100 k", false, nil}, invoke(t.Context(), c, call{key: "k", value: "100", user: "bob"}))
			refused(t, invoke(t.Context(), c, call{key: "k", value: "200"}).err, connect.CodeFailedPrecondition, "KEY_REUSED")
			refused(t, invoke(t.Context(), c, call{value: "100"}).err, connect.CodeInvalidArgument, "KEY_MISSING")
			refused(t, invoke(t.Context(), c, call{key: `"open`}).err, connect.CodeInvalidArgument, "KEY_SYNTAX")
			refused(t, invoke(t.Context(), c, call{key: "k", user: "nobody"}).err, connect.CodeUnauthenticated, "PRINCIPAL_MISSING")
			assert.EqualValues(t, 2, calls.Load())
		})
	}
}

func TestErrorsAreKeptOrReleasedByTheirCode(t *testing.T) {
	t.Parallel()
	for code, kept := range map[connect.Code]bool{
		connect.CodeInvalidArgument: true, connect.CodeNotFound: true, connect.CodeFailedPrecondition: true,
		connect.CodeUnavailable: false, connect.CodeInternal: false, connect.CodeUnauthenticated: false, connect.CodeResourceExhausted: false,
	} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			c := world(t, config(), func(context.Context, *request) (*response, error) {
				calls.Add(1)
				e := connect.NewError(code, errors.New("no"))
				detail, err := connect.NewErrorDetail(durationpb.New(7))
				assert.NoError(t, err)
				e.AddDetail(detail)
				return nil, e
			})
			for range 3 {
				var e *connect.Error
				require.ErrorAs(t, invoke(t.Context(), c, call{key: "k"}).err, &e)
				assert.Equal(t, code, e.Code())
				assert.Equal(t, "no", e.Message())
				require.Len(t, e.Details(), 1)
				value, err := e.Details()[0].Value()
				require.NoError(t, err)
				assert.EqualValues(t, 7, value.(*durationpb.Duration).GetNanos())
			}
			assert.Equal(t, kept, calls.Load() == 1, "%d calls", calls.Load())
		})
	}
}

func TestHundredDuplicatesAtOnceAreOneEffect(t *testing.T) {
	t.Parallel()
	var calls, waiting atomic.Int64
	gate := make(chan struct{})
	c := world(t, config(), func(ctx context.Context, r *request) (*response, error) {
		<-gate
		return pay(&calls)(ctx, r)
	})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			a := invoke(t.Context(), c, call{key: "k", value: "100"})
			if a.err != nil {
				assert.Equal(t, time.Second, refused(t, a.err, connect.CodeAborted, "IN_PROGRESS"))
				if waiting.Add(1) == 99 {
					close(gate)
				}
				<-gate
				for a.err != nil {
					a = invoke(t.Context(), c, call{key: "k", value: "100"})
				}
			}
			assert.Equal(t, "1 100 k", a.value)
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, calls.Load())
}

func TestKeepSaysWhatIsKeptInPlaceOfTheDefault(t *testing.T) {
	t.Parallel()
	config := config()
	config.Keep = func(code connect.Code) bool { return code == connect.CodeUnavailable }
	var calls atomic.Int64
	c := world(t, config, func(_ context.Context, r *request) (*response, error) {
		if calls.Add(1) < 3 {
			return connect.NewResponse(r.Msg), nil
		}
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("no"))
	})
	for range 5 {
		_ = invoke(t.Context(), c, call{key: "k"})
	}
	assert.EqualValues(t, 3, calls.Load(), "success is not kept, and unavailable is")
}

func TestPanicReleasesTheClaim(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := world(t, config(), func(ctx context.Context, r *request) (*response, error) {
		if calls.Load() == 0 {
			calls.Add(1)
			panic("handler")
		}
		return pay(&calls)(ctx, r)
	})
	require.Error(t, invoke(t.Context(), c, call{key: "k"}).err)
	assert.Equal(t, answer{"2  k", false, nil}, invoke(t.Context(), c, call{key: "k"}))
}

func TestResponseLargerThanTheRecordIsGoneLater(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := world(t, config(), func(context.Context, *request) (*response, error) {
		calls.Add(1)
		return connect.NewResponse(wrapperspb.String(strings.Repeat("x", 70000))), nil
	})
	assert.Len(t, invoke(t.Context(), c, call{key: "k"}).value, 70000)
	refused(t, invoke(t.Context(), c, call{key: "k"}).err, connect.CodeFailedPrecondition, "RESPONSE_GONE")
	assert.EqualValues(t, 1, calls.Load())
}

func TestClientCallsAgainWithOneKey(t *testing.T) {
	t.Parallel()
	for name, options := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var waits []time.Duration
			interceptor, err := idemconnect.NewClientInterceptor(idemconnect.ClientConfig{Sleep: func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			}})
			require.NoError(t, err)
			tries, keys := 0, map[string]int{}
			c := world(t, config(), func(ctx context.Context, _ *request) (*response, error) {
				tries++
				keys[idemconnect.KeyOf(ctx)]++
				switch tries {
				case 1:
					return nil, connect.NewError(connect.CodeUnavailable, errors.New("down"))
				case 2:
					e := connect.NewError(connect.CodeResourceExhausted, errors.New("later"))
					detail, err := connect.NewErrorDetail(&errdetails.RetryInfo{RetryDelay: durationpb.New(20 * time.Second)})
					assert.NoError(t, err)
					e.AddDetail(detail)
					return nil, e
				}
				return connect.NewResponse(wrapperspb.String("done")), nil
			}, append(options, connect.WithInterceptors(interceptor))...)
			assert.Equal(t, answer{"done", false, nil}, invoke(t.Context(), c, call{}))
			require.Len(t, keys, 1, "one key: %v", keys)
			require.Len(t, waits, 2)
			assert.GreaterOrEqual(t, waits[0], time.Second)
			assert.GreaterOrEqual(t, waits[1], 20*time.Second)
			assert.Equal(t, answer{"done", false, nil}, invoke(idemconnect.WithKey(t.Context(), "mine"), c, call{}))
			assert.Equal(t, 1, keys["mine"])
			require.ErrorContains(t, invoke(idemconnect.WithKey(t.Context(), "a b"), c, call{}).err, "KEY_SYNTAX")
		})
	}
}

func TestProcedureWithoutSideEffectsPasses(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	interceptor, err := idemconnect.NewServerInterceptor(config())
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle(payProcedure, connect.NewUnaryHandler(payProcedure, pay(&calls), connect.WithInterceptors(interceptor), connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c := connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](server.Client(), server.URL+payProcedure)
	assert.Equal(t, answer{"1 x ", false, nil}, invoke(t.Context(), c, call{value: "x", user: "nobody"}))
}

func TestNewNamesTheFieldAndTheMend(t *testing.T) {
	t.Parallel()
	c := config()
	c.Principal = nil
	_, err := idemconnect.NewServerInterceptor(c)
	require.ErrorContains(t, err, "idemconnect: no Principal: give the function")
	c = config()
	c.Store = nil
	_, err = idemconnect.NewServerInterceptor(c)
	require.ErrorContains(t, err, "idemconnect: no Store")
	_, err = idemconnect.NewClientInterceptor(idemconnect.ClientConfig{Policy: &idem.Policy{}})
	require.ErrorContains(t, err, "idemconnect: Policy")
}
