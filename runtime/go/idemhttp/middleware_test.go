package idemhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idemhttp"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func config() idemhttp.Config {
	return idemhttp.Config{
		Store: memory.New(memory.Config{}), Service: "payments",
		Principal: func(r *http.Request) (string, error) {
			user, _, ok := r.BasicAuth()
			if !ok {
				return "", errors.New("no user")
			}
			return user, nil
		},
		Log: slog.New(slog.DiscardHandler),
	}
}

// serve starts a server with the middleware in front of a handler, behind a mux.
func serve(t *testing.T, c idemhttp.Config, handler http.HandlerFunc) string {
	t.Helper()
	m, err := idemhttp.New(c)
	require.NoError(t, err)
	mux := http.NewServeMux()
	for _, pattern := range []string{"/payments", "/orders/{id}", "/refunds"} {
		mux.Handle(pattern, m.Wrap(handler))
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

type answer struct {
	status int
	header http.Header
	body   string
}

// code is the code of a problem.
func (a answer) code(t *testing.T) string {
	t.Helper()
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"), a.body)
	var problem struct {
		Type, Title, Detail, Code string
		Status                    int
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &problem))
	assert.Equal(t, a.status, problem.Status)
	assert.NotEmpty(t, problem.Title)
	assert.NotEmpty(t, problem.Detail, "it says what to do")
	assert.Regexp(t, "^urn:idem:problem:[a-z-]+$", problem.Type)
	return problem.Code
}

type request struct {
	method, path, key, user, body string
	header                        http.Header
}

func (q request) build(t testing.TB, ctx context.Context, base string) *http.Request {
	t.Helper()
	if q.method == "" {
		q.method = http.MethodPost
	}
	if q.path == "" {
		q.path = "/payments"
	}
	r, err := http.NewRequestWithContext(ctx, q.method, base+q.path, strings.NewReader(q.body))
	require.NoError(t, err)
	for name, values := range q.header {
		r.Header[name] = values
	}
	if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	if q.user == "" {
		q.user = "ann"
	}
	if q.user != "nobody" {
		r.SetBasicAuth(q.user, "x")
	}
	return r
}

func send(t testing.TB, base string, q request) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(q.build(t, context.Background(), base))
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return answer{response.StatusCode, response.Header, string(body)}
}

// pay counts its calls, and answers with their number.
func pay(calls *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "/payments/17")
		w.Header().Set("Set-Cookie", "session=secret")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"call":%d,"key":%q,"body":%q}`, calls.Add(1), idemhttp.KeyOf(r.Context()), body)
	}
}

func TestSecondCallGetsTheFirstOnesResponse(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), pay(&calls))
	first := send(t, url, request{key: `"k-1"`, body: "100 EUR"})
	assert.Equal(t, 201, first.status)
	assert.Equal(t, `{"call":1,"key":"k-1","body":"100 EUR"}`, first.body)
	assert.Equal(t, "session=secret", first.header.Get("Set-Cookie"))
	assert.Empty(t, first.header.Get("Idempotency-Replayed"))
	for _, key := range []string{`"k-1"`, `k-1`} { // one key (HDR-043)
		again := send(t, url, request{key: key, body: "100 EUR"})
		assert.Equal(t, 201, again.status)
		assert.Equal(t, first.body, again.body)
		assert.Equal(t, "application/json", again.header.Get("Content-Type"))
		assert.Equal(t, "/payments/17", again.header.Get("Location"))
		assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		assert.Empty(t, again.header.Get("Set-Cookie"), "a header that is not on the list is not kept")
	}
	assert.EqualValues(t, 1, calls.Load())
}

func TestFaultKeyWithAnotherPayloadIsRejected(t *testing.T) { // peers 12
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), pay(&calls))
	send(t, url, request{key: "k", body: "100"})
	for name, q := range map[string]request{
		"body":  {key: "k", body: "200"},
		"query": {key: "k", body: "100", path: "/payments?currency=USD"},
	} {
		reused := send(t, url, q)
		assert.Equal(t, 422, reused.status, name)
		assert.Equal(t, "KEY_REUSED", reused.code(t), name)
	}
	assert.Equal(t, 201, send(t, url, request{key: "k", body: "100"}).status, "the identical request still gets its response")
	assert.EqualValues(t, 1, calls.Load())
}

func TestPathOfOneRouteIsPartOfTheFingerprint(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), pay(&calls))
	send(t, url, request{key: "k", path: "/orders/1"})
	assert.Equal(t, "KEY_REUSED", send(t, url, request{key: "k", path: "/orders/2"}).code(t))
}

func TestScopeIsPrincipalMethodAndRoute(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), pay(&calls))
	for i, q := range []request{{}, {user: "bob"}, {method: http.MethodPatch}, {method: http.MethodDelete}, {path: "/refunds"}, {user: "an"}, {user: "annPOST"}} {
		q.key, q.body = "k", "100"
		first := send(t, url, q)
		assert.Contains(t, first.body, fmt.Sprintf(`"call":%d,`, i+1))
		assert.Equal(t, "true", send(t, url, q).header.Get("Idempotency-Replayed"))
	}
}

func TestKeysThatAreMissingOrMalformed(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), pay(&calls))
	missing := send(t, url, request{})
	assert.Equal(t, 400, missing.status)
	assert.Equal(t, "KEY_MISSING", missing.code(t))
	for name, c := range map[string]struct {
		values []string
		code   string
	}{
		"empty":          {[]string{""}, "KEY_SYNTAX"},
		"blank inside":   {[]string{"a b"}, "KEY_SYNTAX"},
		"open quote":     {[]string{`"abc`}, "KEY_SYNTAX"},
		"parameters":     {[]string{`"abc";a=1`}, "KEY_SYNTAX"},
		"too long":       {[]string{strings.Repeat("k", 1025)}, "KEY_TOO_LONG"},
		"two that fight": {[]string{"a", "b"}, "HEADER_CONFLICT"},
		"not ASCII":      {[]string{"schlüssel"}, "KEY_SYNTAX"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := send(t, url, request{header: http.Header{"Idempotency-Key": c.values}})
			assert.Equal(t, 400, bad.status)
			assert.Equal(t, c.code, bad.code(t))
		})
	}
	assert.Zero(t, calls.Load())
	assert.Equal(t, 201, send(t, url, request{header: http.Header{"Idempotency-Key": {"a", `"a"`}}}).status, "equal values are one")
}

func TestMethodsThatNeedNoKeyPass(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), pay(&calls))
	for range 2 {
		assert.Equal(t, 201, send(t, url, request{method: http.MethodGet, key: "k", user: "nobody"}).status)
		assert.Equal(t, 201, send(t, url, request{method: http.MethodPut, user: "nobody"}).status)
	}
	assert.EqualValues(t, 4, calls.Load(), "nothing is guarded")
	for range 2 {
		assert.Equal(t, 201, send(t, url, request{method: http.MethodPut, key: "k"}).status)
	}
	assert.EqualValues(t, 5, calls.Load(), "a PUT with a key is")
}

func TestNobodyIs401(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), pay(&calls))
	nobody := send(t, url, request{key: "k", user: "nobody"})
	assert.Equal(t, 401, nobody.status)
	assert.Equal(t, "PRINCIPAL_MISSING", nobody.code(t))
	assert.Zero(t, calls.Load())
}

func TestHundredDuplicatesAtOnceAreOneEffect(t *testing.T) {
	t.Parallel()
	var calls, fresh, replayed, waiting atomic.Int64
	gate := make(chan struct{})
	url := serve(t, config(), func(w http.ResponseWriter, r *http.Request) {
		<-gate
		pay(&calls)(w, r)
	})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for {
				a := send(t, url, request{key: "k", body: "100"})
				switch {
				case a.status == 409:
					assert.Equal(t, "IN_PROGRESS", a.code(t))
					assert.Equal(t, "1", a.header.Get("Retry-After"))
					if waiting.Add(1) == 99 {
						close(gate) // each of the others has been told to wait
					}
					<-gate
					continue
				case a.header.Get("Idempotency-Replayed") == "true":
					replayed.Add(1)
				default:
					fresh.Add(1)
				}
				assert.Equal(t, `{"call":1,"key":"k","body":"100"}`, a.body)
				return
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, calls.Load())
	assert.EqualValues(t, 1, fresh.Load())
	assert.EqualValues(t, 99, replayed.Load())
}

func TestWhatIsNotKeptRunsAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{500, 502, 503, 429, 409, 401, 403, 408} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			url := serve(t, config(), func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) <= 7 { // more often than a process may crash
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(status)
				}
			})
			for range 7 {
				a := send(t, url, request{key: "k"})
				assert.Equal(t, status, a.status)
				assert.Equal(t, "7", a.header.Get("Retry-After"))
			}
			assert.Equal(t, 200, send(t, url, request{key: "k"}).status)
			assert.Equal(t, "true", send(t, url, request{key: "k"}).header.Get("Idempotency-Replayed"))
			assert.EqualValues(t, 8, calls.Load())
		})
	}
}

func TestVerdictsOnTheRequestAreKept(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 204, 303, 400, 404, 422} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			url := serve(t, config(), func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.WriteHeader(status)
			})
			for range 3 {
				assert.Equal(t, status, send(t, url, request{key: "k"}).status)
			}
			assert.EqualValues(t, 1, calls.Load())
		})
	}
}

func TestPanicReleasesTheClaim(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	url := serve(t, config(), func(w http.ResponseWriter, r *http.Request) {
		if calls.Load() == 0 {
			calls.Add(1)
			panic(http.ErrAbortHandler)
		}
		pay(&calls)(w, r)
	})
	_, err := http.DefaultClient.Do(request{key: "k"}.build(t, t.Context(), url)) //nolint:bodyclose // there is none
	require.Error(t, err, "the panic goes on to the server, which closes the connection")
	assert.Contains(t, send(t, url, request{key: "k"}).body, `"call":2`)
}

func TestClientThatGoesAwayFindsItsResponseLater(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	entered, finish := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	c := config()
	c.Observer = tellOutcome(func(d *observe.Delivery) {
		if d.Outcome == idem.OutcomeOK {
			ended <- nil
		}
	})
	url := serve(t, c, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-finish
		if err := r.Context().Err(); err != nil {
			ended <- err
		}
		pay(&calls)(w, r)
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-entered
		leave()
	}()
	_, err := http.DefaultClient.Do(request{key: "k", body: "100"}.build(t, ctx, url)) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, context.Canceled)
	close(finish)
	require.NoError(t, <-ended, "the handler's context goes on")
	a := send(t, url, request{key: "k", body: "100"})
	assert.Equal(t, 201, a.status)
	assert.Equal(t, "true", a.header.Get("Idempotency-Replayed"))
	assert.EqualValues(t, 1, calls.Load())
}

type tellOutcome func(*observe.Delivery)

func (f tellOutcome) Delivery(_ context.Context, d *observe.Delivery) { f(d) }
func (tellOutcome) Measure(observe.Metric, observe.Labels, float64)   {}

func TestResponseLargerThanTheRecordIsSentAndGoneLater(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := config()
	c.MaxResponse = 1000
	url := serve(t, c, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusCreated)
		for range 100 {
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}
	})
	first := send(t, url, request{key: "k"})
	assert.Equal(t, 201, first.status)
	assert.Len(t, first.body, 10000)
	again := send(t, url, request{key: "k"})
	assert.Equal(t, 410, again.status)
	assert.Equal(t, "RESPONSE_GONE", again.code(t))
	assert.Equal(t, "201", again.header.Get("Idem-Original-Status"))
	assert.EqualValues(t, 1, calls.Load())
}

func TestLargestResponseThatIsKeptFitsTheRecord(t *testing.T) {
	t.Parallel()
	for size, status := range map[int]int{65000: 200, 65535: 410, 65536: 410, 65537: 410} {
		url := serve(t, config(), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(make([]byte, size))
		})
		assert.Len(t, send(t, url, request{key: "k"}).body, size)
		assert.Equal(t, status, send(t, url, request{key: "k"}).status, size)
	}
}

func TestBodyOverTheLimitIs413(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := config()
	c.MaxBody = 10
	url := serve(t, c, pay(&calls))
	assert.Equal(t, 201, send(t, url, request{key: "k", body: "0123456789"}).status)
	large := send(t, url, request{key: "l", body: "0123456789a"})
	assert.Equal(t, 413, large.status)
	assert.Equal(t, "BODY_TOO_LARGE", large.code(t))
}

// broken is a store that fails as it is told.
type broken struct {
	store.Store
	claims, completes, lost atomic.Int64 // how often to fail; lost: after it was written
}

var errDown = errors.New("dial tcp 127.0.0.1:5432: connection refused")

func (b *broken) Claim(ctx context.Context, c []store.Claim) ([]store.Grant, error) {
	if b.claims.Add(-1) >= 0 {
		return nil, errDown
	}
	return b.Store.Claim(ctx, c)
}

func (b *broken) Complete(ctx context.Context, c []store.Completion) ([]bool, error) {
	if b.completes.Add(-1) >= 0 {
		return nil, errDown
	}
	done, err := b.Store.Complete(ctx, c)
	if b.lost.Add(-1) >= 0 {
		return nil, errDown
	}
	return done, err
}

func TestStoreThatIsDownRefusesBeforeTheEffect(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	c := config()
	down := &broken{Store: c.Store}
	down.claims.Store(2)
	c.Store = down
	url := serve(t, c, pay(&calls))
	refused := send(t, url, request{key: "k"})
	assert.Equal(t, 503, refused.status)
	assert.Equal(t, "STORE_UNAVAILABLE", refused.code(t))
	assert.Equal(t, "1", refused.header.Get("Retry-After"))
	assert.Zero(t, calls.Load())
	assert.Equal(t, 201, send(t, url, request{key: "k"}).status)
}

func TestLostRepliesOfTheStoreAreNoSecondEffect(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*broken){
		"claim lost":    func(b *broken) { b.claims.Store(1) },
		"complete fail": func(b *broken) { b.completes.Store(2) },
		"complete lost": func(b *broken) { b.lost.Store(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			c := config()
			b := &broken{Store: c.Store}
			set(b)
			c.Store = b
			url := serve(t, c, pay(&calls))
			assert.Equal(t, 201, send(t, url, request{key: "k"}).status)
			assert.Equal(t, "true", send(t, url, request{key: "k"}).header.Get("Idempotency-Replayed"))
			assert.EqualValues(t, 1, calls.Load())
		})
	}
}

func TestFaultLeaseThatExpiresWhileTheHandlerRunsIsRenewed(t *testing.T) { // peers 10
	t.Parallel()
	var calls atomic.Int64
	c := config()
	c.Lease = 30 * time.Millisecond
	renewals := make(chan struct{}, 100)
	c.Store = renewing{c.Store, renewals}
	url := serve(t, c, func(w http.ResponseWriter, r *http.Request) {
		for range 6 { // two leases long
			<-renewals
		}
		pay(&calls)(w, r)
	})
	assert.Equal(t, 201, send(t, url, request{key: "k"}).status)
	assert.Equal(t, "true", send(t, url, request{key: "k"}).header.Get("Idempotency-Replayed"))
	assert.EqualValues(t, 1, calls.Load())
}

type renewing struct {
	store.Store
	renewals chan<- struct{}
}

func (s renewing) Renew(ctx context.Context, r []store.Renewal) ([]bool, error) {
	held, err := s.Store.Renew(ctx, r)
	s.renewals <- struct{}{}
	return held, err
}

func TestFaultFirstWorkerOfAKeyThatWasTakenOverWritesNothing(t *testing.T) { // peers 9
	t.Parallel()
	var calls atomic.Int64
	c := config()
	c.Lease = 20 * time.Millisecond
	memoryStore := c.Store.(*memory.Store)
	var observed sync.Map
	c.Observer = tellOutcome(func(d *observe.Delivery) { observed.Store(d.Outcome, true) })
	url := serve(t, c, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			// The key is forgotten under its feet; the lease is lost, and the context says so.
			scopes := scopesOf(t, c, r)
			n, err := memoryStore.Forget(context.Background(), scopes, []string{"k"})
			assert.NoError(t, err)
			assert.Equal(t, 1, n)
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusCreated)
	})
	lost := send(t, url, request{key: "k"})
	assert.Equal(t, 409, lost.status)
	assert.Equal(t, "IN_PROGRESS", lost.code(t))
	_, fenced := observed.Load(idem.OutcomeFenced)
	assert.True(t, fenced)
	assert.Equal(t, 201, send(t, url, request{key: "k"}).status)
	assert.EqualValues(t, 2, calls.Load())
}

func TestCallThatKillsItsProcessEndsToo(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	now := time.Now()
	var clock sync.Mutex
	c := config()
	c.Store = memory.New(memory.Config{Now: func() time.Time { clock.Lock(); defer clock.Unlock(); return now }})
	c.MaxAttempts = 3
	dead := &broken{Store: c.Store}
	c.Store = deadly{dead}
	url := serve(t, c, pay(&calls))
	for range 3 { // a process that dies neither completes nor releases
		send(t, url, request{key: "k"})
		clock.Lock()
		now = now.Add(time.Minute)
		clock.Unlock()
	}
	a := send(t, url, request{key: "k"})
	assert.Equal(t, 508, a.status)
	assert.Equal(t, "CRASH_LOOP", a.code(t))
	assert.EqualValues(t, 3, calls.Load())
}

// deadly is a store that hears nothing of what becomes of a claim.
type deadly struct{ store.Store }

func (deadly) Complete(_ context.Context, c []store.Completion) ([]bool, error) {
	return make([]bool, len(c)), nil
}
func (deadly) Settle(_ context.Context, s []store.Settlement) ([]store.Settled, error) {
	return make([]store.Settled, len(s)), nil
}

func TestNewNamesTheFieldAndTheMend(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*idemhttp.Config){
		"no Principal: give the function": func(c *idemhttp.Config) { c.Principal = nil },
		"no Store: give one of":           func(c *idemhttp.Config) { c.Store = nil },
		`Service is "a b"`:                func(c *idemhttp.Config) { c.Service = "a b" },
		"MaxBody is -1":                   func(c *idemhttp.Config) { c.MaxBody = -1 },
		"MaxResponse is 65537":            func(c *idemhttp.Config) { c.MaxResponse = 65537 },
		"Lease is -1s":                    func(c *idemhttp.Config) { c.Lease = -time.Second },
		"Timeout is 1ns":                  func(c *idemhttp.Config) { c.Timeout = 1 },
		"RetryAfter is -1ns":              func(c *idemhttp.Config) { c.RetryAfter = -1 },
		"MaxAttempts is -1":               func(c *idemhttp.Config) { c.MaxAttempts = -1 },
	} {
		c := config()
		change(&c)
		_, err := idemhttp.New(c)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "idemhttp: ")
	}
}

func TestObserverHearsOfEachCall(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var heard []string
	c := config()
	c.Observer = tellOutcome(func(d *observe.Delivery) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, d.Scope+" "+d.EventType+" "+d.Key+" "+d.Outcome.String())
		panic("observer")
	})
	var calls atomic.Int64
	url := serve(t, c, pay(&calls))
	send(t, url, request{key: "k", path: "/orders/7"})
	send(t, url, request{key: "k", path: "/orders/7"})
	send(t, url, request{key: "k", path: "/orders/8"})
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{"payments POST.orders.id k OK", "payments POST.orders.id k DUPLICATE", "payments POST.orders.id k KEY_REUSED"}, heard)
}
