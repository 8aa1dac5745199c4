package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func post(t *testing.T, h http.Handler, path, key, body string) int {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

const order = `{"payment_id":"p-1","order_id":"1","amount":"9.99","currency":"EUR"}`

func TestMoneyIsMovedOnceForEachKey(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := w.handler()
	for _, c := range []struct {
		name, path, key, body string
		status, effects       int
	}{
		{"the first call", "/bank/payments", `"k"`, order, 200, 1},
		{"the same call again", "/bank/payments", `"k"`, order, 200, 1},
		{"the same key, not quoted", "/bank/payments", "k", order, 200, 1},
		{"the key for another amount", "/bank/payments", "k", strings.Replace(order, "9.99", "9.98", 1), 422, 1},
		{"another key", "/bank/payments", "k2", order, 200, 2},
		{"no key", "/bank/payments", "", order, 200, 3},
		{"no currency", "/bank/payments", "k3", strings.Replace(order, "EUR", "euro", 1), 422, 3},
		{"no amount", "/bank/payments", "k4", strings.Replace(order, "9.99", "9.990000000000002", 1), 422, 3},
		{"a refund by the key of a payment", "/bank/refunds", "k", order, 200, 4},
	} {
		if status := post(t, h, c.path, c.key, c.body); status != c.status || len(w.effects) != c.effects {
			t.Errorf("%s: status %d and %d effects, want %d and %d", c.name, status, len(w.effects), c.status, c.effects)
		}
	}
	if calls := w.effects[0].Calls; calls != 4 {
		t.Errorf("%d calls of the first key, want 4", calls)
	}
}

func TestAModeFailsBeforeTheEffectOrAfterIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mode     string
		status, effect int
	}{
		{"before", `{"status":503}`, 503, 0},
		{"after", `{"status":503,"after":true}`, 503, 1},
		{"of another kind", `{"status":503,"kind":"mail"}`, 200, 1},
		{"ended", `{}`, 200, 1},
	} {
		w := newWorld()
		if status := post(t, w.handler(), "/mode", "", c.mode); status != 200 {
			t.Fatalf("%s: /mode %d", c.name, status)
		}
		if status := post(t, w.handler(), "/bank/payments", "k", order); status != c.status || len(w.effects) != c.effect {
			t.Errorf("%s: status %d and %d effects, want %d and %d", c.name, status, len(w.effects), c.status, c.effect)
		}
	}
}

func TestAModeIsSlowForTheCallsThatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode mode
		kind string
		want time.Duration
	}{
		{mode{DelayMs: 20}, "mail", 20 * time.Millisecond},
		{mode{DelayMs: 20, Kind: "payment"}, "payment", 20 * time.Millisecond},
		{mode{DelayMs: 20, Kind: "payment"}, "mail", 0},
	} {
		if got := c.mode.delay(c.kind); got != c.want {
			t.Errorf("%+v: a %s takes %v, want %v", c.mode, c.kind, got, c.want)
		}
	}
}
