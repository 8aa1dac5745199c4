package idemhttp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idemhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// client is a client whose waits are noted, not waited.
func client(t *testing.T, c idemhttp.TransportConfig) (*http.Client, *[]time.Duration) {
	t.Helper()
	var mu sync.Mutex
	waits := []time.Duration{}
	c.Sleep = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, d)
		return ctx.Err()
	}
	transport, err := idemhttp.NewTransport(c)
	require.NoError(t, err)
	return &http.Client{Transport: transport}, &waits
}

// scripted answers the n-th request by the n-th step, and the last one for ever.
type scripted struct {
	mu     sync.Mutex
	keys   []string
	bodies []string
	steps  []func(http.ResponseWriter)
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys, s.bodies = append(s.keys, r.Header.Get("Idempotency-Key")), append(s.bodies, string(body))
	s.steps[min(len(s.keys), len(s.steps))-1](w)
}

func status(code int, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "body")
	}
}

func start(t *testing.T, steps ...func(http.ResponseWriter)) (*scripted, string) {
	t.Helper()
	s := &scripted{steps: steps}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return s, server.URL
}

func post(t *testing.T, c *http.Client, ctx context.Context, url string) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("100 EUR"))
	require.NoError(t, err)
	response, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, nil
}

func TestRequestIsSentAgainWithOneKeyAndTheSameBody(t *testing.T) {
	t.Parallel()
	server, url := start(t, status(500), status(503), status(409), status(201))
	c, waits := client(t, idemhttp.TransportConfig{})
	code, err := post(t, c, idemhttp.WithKey(t.Context(), `pay:"1"`), url)
	require.NoError(t, err)
	assert.Equal(t, 201, code)
	assert.Equal(t, []string{`"pay:\"1\""`, `"pay:\"1\""`, `"pay:\"1\""`, `"pay:\"1\""`}, server.keys)
	assert.Equal(t, []string{"100 EUR", "100 EUR", "100 EUR", "100 EUR"}, server.bodies)
	// The delays are those that every service computes: 1, 2, 4 s and the jitter of the key.
	require.Len(t, *waits, 3)
	for n, wait := range *waits {
		least := time.Second << n
		assert.GreaterOrEqual(t, wait, least)
		assert.LessOrEqual(t, wait, least+500*time.Millisecond)
	}
}

func TestEachRequestHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	server, url := start(t, status(200))
	c, _ := client(t, idemhttp.TransportConfig{})
	for range 2 {
		_, err := post(t, c, t.Context(), url)
		require.NoError(t, err)
	}
	require.Len(t, server.keys, 2)
	assert.Regexp(t, `^"[0-9a-f-]{36}"$`, server.keys[0])
	assert.NotEqual(t, server.keys[0], server.keys[1])
}

func TestRequestThatIsSafeHasNoKeyAndIsSentAgain(t *testing.T) {
	t.Parallel()
	server, url := start(t, status(502), status(200))
	c, waits := client(t, idemhttp.TransportConfig{})
	response, err := c.Get(url)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 200, response.StatusCode)
	assert.Equal(t, []string{"", ""}, server.keys)
	assert.Len(t, *waits, 1)
}

func TestResponseThatSaysNoIsReturnedAtOnce(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 400, 401, 404, 410, 422, 501, 508} {
		server, url := start(t, status(code))
		c, waits := client(t, idemhttp.TransportConfig{})
		got, err := post(t, c, t.Context(), url)
		require.NoError(t, err)
		assert.Equal(t, code, got)
		assert.Len(t, server.keys, 1)
		assert.Empty(t, *waits)
	}
}

func TestLastResponseIsReturnedWhenTheRetriesAreUsedUp(t *testing.T) {
	t.Parallel()
	server, url := start(t, status(503))
	c, waits := client(t, idemhttp.TransportConfig{})
	code, err := post(t, c, t.Context(), url)
	require.NoError(t, err)
	assert.Equal(t, 503, code)
	assert.Len(t, server.keys, 5)
	assert.Len(t, *waits, 4)
}

// TestFaultRetryAfterOfEveryKind is fault 19 of the peers: 0 loops hot, a negative one is ignored or worse,
// and a large one overflows.
func TestFaultRetryAfterOfEveryKind(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                                  0,
		"0":                                 0,
		"00":                                0,
		"7":                                 7 * time.Second,
		" 7\t":                              7 * time.Second,
		"-1":                                0,
		"+7":                                0,
		"1.5":                               0,
		"1e3":                               0,
		"soon":                              0,
		"604800":                            7 * 24 * time.Hour,
		"604801":                            7 * 24 * time.Hour,
		"9223372036854775808":               7 * 24 * time.Hour,
		"99999999999999999999999999999":     7 * 24 * time.Hour,
		"Wed, 04 Mar 2026 05:06:17 GMT":     10 * time.Second,
		"Wednesday, 04-Mar-26 05:06:17 GMT": 10 * time.Second,
		"Wed Mar  4 05:06:17 2026":          10 * time.Second,
		"Wed, 04 Mar 2026 05:06:00 GMT":     0,
		"Thu, 01 Jan 1970 00:00:00 GMT":     0,
		"Fri, 31 Dec 9999 23:59:59 GMT":     7 * 24 * time.Hour,
	} {
		assert.Equal(t, want, idemhttp.RetryAfter(http.Header{"Retry-After": {value}}, now), "%q", value)
	}
	assert.Zero(t, idemhttp.RetryAfter(nil, now))
}

func TestFaultRetryAfterIsTheLeastAndTheBackoffToo(t *testing.T) { // peers 19
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for value, want := range map[string][2]time.Duration{
		"0":                             {time.Second, 1500 * time.Millisecond}, // never hot
		"-5":                            {time.Second, 1500 * time.Millisecond},
		"20":                            {20 * time.Second, 20500 * time.Millisecond},
		"Wed, 04 Mar 2026 05:06:37 GMT": {30 * time.Second, 30500 * time.Millisecond},
	} {
		_, url := start(t, status(429, "Retry-After", value), status(200))
		c, waits := client(t, idemhttp.TransportConfig{Now: func() time.Time { return now }})
		code, err := post(t, c, t.Context(), url)
		require.NoError(t, err)
		assert.Equal(t, 200, code)
		require.Len(t, *waits, 1, value)
		assert.GreaterOrEqual(t, (*waits)[0], want[0], value)
		assert.LessOrEqual(t, (*waits)[0], want[1], value)
	}
	// What is longer than anybody waits is the caller's to know.
	server, url := start(t, status(503, "Retry-After", "99999999999999999999"))
	c, waits := client(t, idemhttp.TransportConfig{})
	code, err := post(t, c, t.Context(), url)
	require.NoError(t, err)
	assert.Equal(t, 503, code)
	assert.Len(t, server.keys, 1)
	assert.Empty(t, *waits)
}

func TestWaitThatTheDeadlineDoesNotAllowIsNotBegun(t *testing.T) {
	t.Parallel()
	_, url := start(t, status(503, "Retry-After", "30"))
	c, waits := client(t, idemhttp.TransportConfig{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	code, err := post(t, c, ctx, url)
	require.NoError(t, err)
	assert.Equal(t, 503, code, "the response is worth more than an expired deadline")
	assert.Empty(t, *waits)
}

func TestConnectionThatBreaksIsTriedAgainAndTheEffectIsOne(t *testing.T) {
	t.Parallel()
	var calls, tries atomic.Int64
	m, err := idemhttp.New(config())
	require.NoError(t, err)
	guarded := m.Wrap(pay(&calls))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) <= 2 { // it is carried out, and its response is lost
			guarded.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		guarded.ServeHTTP(w, r)
	}))
	server.Start()
	t.Cleanup(server.Close)
	c, waits := client(t, idemhttp.TransportConfig{})
	r := request{body: "100"}.build(t, t.Context(), server.URL)
	response, err := c.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Contains(t, string(body), `"call":1`)
	assert.EqualValues(t, 1, calls.Load())
	assert.EqualValues(t, 3, tries.Load())
	assert.NotEmpty(t, *waits)
	assert.Empty(t, r.Header.Get("Idempotency-Key"), "the caller's request is left as it is")
}

func TestErrorsThatNoRetryMends(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		base http.RoundTripper
		url  string
		want string
	}{
		"certificate": {http.DefaultTransport, server.URL, "certificate"},
		"hostname":    {&http.Transport{TLSClientConfig: &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "other.test"}}, server.URL, "other.test"},
		"no host":     {failing{&net.DNSError{Err: "no such host", Name: "bank.test", IsNotFound: true}}, "http://bank.test", "no such host"},
		"scheme":      {http.DefaultTransport, "ftp://bank.test", "scheme"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, waits := client(t, idemhttp.TransportConfig{Base: c.base})
			_, err := post(t, client, t.Context(), c.url)
			require.ErrorContains(t, err, c.want)
			assert.Empty(t, *waits)
		})
	}
	for _, err := range []error{&net.DNSError{Err: "server misbehaving", IsTimeout: true}, io.EOF, errors.New("anything"), fmt.Errorf("x: %w", net.ErrClosed)} {
		client, waits := client(t, idemhttp.TransportConfig{Base: failing{err}})
		_, got := post(t, client, t.Context(), "http://bank.test")
		require.ErrorIs(t, got, err)
		assert.Len(t, *waits, 4, "%v", err)
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, f.err
}

func TestCallerThatGivesUpIsNotKept(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, url := start(t, func(w http.ResponseWriter) { cancel(); w.WriteHeader(500) })
	transport, err := idemhttp.NewTransport(idemhttp.TransportConfig{})
	require.NoError(t, err)
	begin := time.Now()
	_, _ = post(t, &http.Client{Transport: transport}, ctx, url)
	assert.Less(t, time.Since(begin), time.Second, "no wait for a caller that is gone")
}

func TestBodyThatCannotBeReadTwiceIsSentOnce(t *testing.T) {
	t.Parallel()
	server, url := start(t, status(503))
	c, waits := client(t, idemhttp.TransportConfig{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, io.MultiReader(bytes.NewReader([]byte("x"))))
	require.NoError(t, err)
	response, err := c.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 503, response.StatusCode)
	assert.Len(t, server.keys, 1)
	assert.Empty(t, *waits)
}

func TestKeyThatIsNoneIsNotSent(t *testing.T) {
	t.Parallel()
	server, url := start(t, status(200))
	c, _ := client(t, idemhttp.TransportConfig{})
	_, err := post(t, c, idemhttp.WithKey(t.Context(), "a b"), url)
	require.ErrorContains(t, err, "KEY_SYNTAX")
	assert.Empty(t, server.keys)
}

func TestNewTransportNamesTheField(t *testing.T) {
	t.Parallel()
	_, err := idemhttp.NewTransport(idemhttp.TransportConfig{Policy: &idem.Policy{}})
	require.ErrorContains(t, err, "start from idem.DefaultPolicy()")
	_, err = idemhttp.NewTransport(idemhttp.TransportConfig{MaxWait: -1})
	require.ErrorContains(t, err, "MaxWait is -1ns")
}
