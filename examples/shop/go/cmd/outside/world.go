package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// effect is something that cannot be taken back: money that was moved, or a mail that was sent.
type effect struct {
	Kind string    `json:"kind"` // payment, refund or mail
	Key  string    `json:"key"`
	At   time.Time `json:"at"`
	// Calls is how often it was asked for, by the same key.
	Calls int `json:"calls"`
	demand
}

// demand is what a call asks for.
type demand struct {
	Payment  string `json:"payment_id,omitempty"`
	Order    string `json:"order_id"`
	Amount   string `json:"amount,omitempty"`
	Currency string `json:"currency,omitempty"`
	Channel  string `json:"channel,omitempty"`
	Template string `json:"template,omitempty"`
}

type world struct {
	mu      sync.Mutex
	mode    mode
	effects []*effect
	known   map[string]*effect // by kind and key
}

func newWorld() *world { return &world{known: make(map[string]*effect)} }

func (w *world) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /bank/payments", w.call("payment", payable))
	mux.HandleFunc("POST /bank/refunds", w.call("refund", payable))
	mux.HandleFunc("POST /mail", w.call("mail", func(demand) error { return nil }))
	mux.HandleFunc("POST /mode", w.setMode)
	mux.HandleFunc("GET /ledger", w.ledger)
	return mux
}

// call answers calls of a kind, those that check accepts.
func (w *world) call(kind string, check func(demand) error) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		m := w.currentMode()
		time.Sleep(m.delay(kind))
		fails := m.chosen(kind)
		if fails && !m.After {
			m.fail(rw)
			return
		}
		var d demand
		if err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, 1<<16)).Decode(&d); err != nil {
			answer(rw, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		if err := check(d); err != nil {
			answer(rw, http.StatusUnprocessableEntity, map[string]string{"error": err.Error()})
			return
		}
		done, err := w.do(kind, keyOf(r), d)
		switch {
		case err != nil:
			answer(rw, http.StatusUnprocessableEntity, map[string]string{"error": err.Error()})
		case fails:
			m.fail(rw)
		default:
			answer(rw, http.StatusOK, done)
		}
	}
}

// do has the effect, unless an earlier call with the key had it.
func (w *world) do(kind, key string, d demand) (effect, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.known[kind+" "+key]; e != nil && key != "" {
		e.Calls++
		if e.demand != d {
			return effect{}, fmt.Errorf("the key %s was used for another %s", key, kind)
		}
		return *e, nil
	}
	e := &effect{Kind: kind, Key: key, At: time.Now().UTC(), Calls: 1, demand: d}
	w.effects = append(w.effects, e)
	w.known[kind+" "+key] = e
	return *e, nil
}

func (w *world) ledger(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	effects := make([]effect, len(w.effects))
	for i, e := range w.effects {
		effects[i] = *e
	}
	w.mu.Unlock()
	answer(rw, http.StatusOK, map[string]any{"effects": effects})
}

// keyOf is the Idempotency-Key of a call: a structured field's string, or as those write it who do not know that.
func keyOf(r *http.Request) string {
	value := r.Header.Get("Idempotency-Key")
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return value
}

var (
	amounts    = regexp.MustCompile(`^[0-9]{1,15}([.][0-9]{1,2})?$`)
	currencies = regexp.MustCompile(`^[A-Z]{3}$`)
)

func payable(d demand) error {
	switch {
	case !currencies.MatchString(d.Currency):
		return fmt.Errorf("%q is no currency", d.Currency)
	case !amounts.MatchString(d.Amount):
		return fmt.Errorf("%q is no amount", d.Amount)
	}
	return nil
}

func answer(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body)
}
