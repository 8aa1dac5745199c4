package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

func TestTheBanksAnswersAreWhatTheSchemaSaysOfThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status  int
		outcome idem.Outcome
		after   int64
	}{
		{200, idem.OutcomeOK, 0},
		{402, idem.OutcomeNonRetryable, 0},
		{422, idem.OutcomeNonRetryable, 0},
		{409, idem.OutcomeDuplicate, 0},
		{429, idem.OutcomeThrottled, 7000},
		{503, idem.OutcomeThrottled, 7000},
		{500, idem.OutcomeRetryable, 0},
		{504, idem.OutcomeRetryable, 0},
	} {
		calls, key := 0, ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls, key = calls+1, r.Header.Get("Idempotency-Key")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(c.status)
			fmt.Fprint(w, `{"at":"2026-01-02T03:04:05Z"}`)
		}))
		b, err := newBank(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		at, err := b.charge(guard.WithKey(t.Context(), "k"), transfer{})
		server.Close()
		result := idem.ResultOf(err)
		if result.Outcome != c.outcome || result.AfterMs != c.after {
			t.Errorf("%d: %v after %d ms, want %v after %d", c.status, result.Outcome, result.AfterMs, c.outcome, c.after)
		}
		if calls != 1 || key != `"k"` {
			t.Errorf("%d: %d calls with the key %s, want one with the delivery's", c.status, calls, key)
		}
		if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); err == nil && !at.Equal(want) {
			t.Errorf("%v, want %v", at, want)
		}
	}
}
