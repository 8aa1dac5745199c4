package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAnOrderThatIsSentTwiceHasOneAnswer: each order is sent twice by these settings.
func TestAnOrderThatIsSentTwiceHasOneAnswer(t *testing.T) {
	t.Parallel()
	type answer struct {
		status int
		body   string
	}
	for _, c := range []struct {
		name    string
		key     string
		answers []answer
		fails   bool
	}{
		{"the same", "k", []answer{{202, "1"}, {202, "1"}}, false},
		{"another one", "k", []answer{{202, "1"}, {202, "2"}}, true},
		{"no key, the same", "", []answer{{202, "1"}, {202, "1"}}, false},
		{"the second is refused", "k", []answer{{202, "1"}, {422, ""}}, true},
		{"it is in progress at first", "k", []answer{{409, ""}, {202, "1"}, {202, "1"}}, false},
		{"no answer at first", "k", []answer{{503, ""}, {202, "1"}, {202, "1"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := c.answers[len(keys)]
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				w.WriteHeader(a.status)
				_, _ = w.Write([]byte(a.body))
			}))
			defer server.Close()
			err := send(t.Context(), &service{server.URL, server.Client()}, order{ID: "o-1", key: c.key}, settings{duplicates: 1}, new(counts))
			if (err != nil) != c.fails {
				t.Errorf("error %v, want one: %t", err, c.fails)
			}
			if len(keys) != len(c.answers) {
				t.Errorf("%d requests, want %d", len(keys), len(c.answers))
			}
			want := ""
			if c.key != "" {
				want = `"` + c.key + `"`
			}
			for _, key := range keys {
				if key != want {
					t.Errorf("Idempotency-Key %s, want %s", key, want)
				}
			}
		})
	}
}
