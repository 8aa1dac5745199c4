package idemhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idemhttp"
	"github.com/idem-spec/idem/runtime/go/store"
)

func TestTrailersAreSentAndSentAgain(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(h http.Header, body func()){
		"announced": func(h http.Header, body func()) {
			h.Set("Trailer", "x-digest, X-Rows")
			h.Add("Trailer", "X-Not-Set")
			body()
			h.Set("X-Digest", "abc")
			h["X-Rows"] = []string{"1", "2"}
		},
		"announced, and set before the body": func(h http.Header, body func()) {
			h.Set("Trailer", "X-Digest,X-Rows")
			h.Set("X-Digest", "abc")
			h["X-Rows"] = []string{"1", "2"}
			body()
		},
		"by prefix": func(h http.Header, body func()) {
			body()
			h.Set(http.TrailerPrefix+"X-Digest", "abc")
			h[http.TrailerPrefix+"X-Rows"] = []string{"1", "2"}
		},
	} {
		for protocol := 1; protocol <= 2; protocol++ {
			t.Run(fmt.Sprint(name, " HTTP/", protocol), func(t *testing.T) {
				t.Parallel()
				server := trailing(t, config(), protocol, func(w http.ResponseWriter, _ *http.Request) {
					set(w.Header(), func() { _, _ = io.WriteString(w, "body") })
				})
				for _, replayed := range []string{"", "true"} {
					r, body := sendTo(t, server)
					assert.Equal(t, protocol, r.ProtoMajor)
					assert.Equal(t, replayed, r.Header.Get("Idempotency-Replayed"))
					assert.Equal(t, "body", body)
					assert.Equal(t, "abc", r.Trailer.Get("X-Digest"))
					assert.Equal(t, []string{"1", "2"}, r.Trailer["X-Rows"])
					assert.Empty(t, r.Header.Get("X-Digest"))
				}
			})
		}
	}
}

func TestTrailersFollowAResponseThatIsLargerThanTheRecord(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"kept claim": false, "lost claim": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config()
			if lost {
				c.Store = fencing{c.Store}
			}
			c.MaxResponse = 100
			server := trailing(t, c, 1, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Trailer", "X-Digest")
				for range 20 {
					_, _ = io.WriteString(w, strings.Repeat("x", 1000))
				}
				w.Header().Set("X-Digest", "abc")
				w.Header().Set(http.TrailerPrefix+"X-Rows", "1")
			})
			r, body := sendTo(t, server)
			assert.Len(t, body, 20000)
			assert.Equal(t, http.Header{"X-Digest": {"abc"}, "X-Rows": {"1"}}, r.Trailer)
		})
	}
}

// fencing is a store that refuses each completion.
type fencing struct{ store.Store }

func (fencing) Complete(_ context.Context, completions []store.Completion) ([]bool, error) {
	return make([]bool, len(completions)), nil
}

// trailing starts a server of HTTP/1 or HTTP/2.
func trailing(t *testing.T, c idemhttp.Config, protocol int, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	m, err := idemhttp.New(c)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(m.Wrap(handler))
	server.EnableHTTP2 = protocol == 2
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// sendTo makes a call with one key, and reads its response to the end.
func sendTo(t *testing.T, server *httptest.Server) (*http.Response, string) {
	t.Helper()
	response, err := server.Client().Do(request{key: "k"}.build(t, t.Context(), server.URL))
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	return response, string(body)
}
