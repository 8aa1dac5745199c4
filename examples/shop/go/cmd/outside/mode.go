package main

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"
)

// mode is how calls fail. The zero value is: not at all.
type mode struct {
	// Status is the answer of calls that fail; 0: none do.
	Status int `json:"status"`
	// DelayMs is how long a call takes.
	DelayMs int `json:"delay_ms"`
	// Rate is which part of the calls fails, 0 to 1; 0 is all of them.
	Rate float64 `json:"rate"`
	// Kind is which calls fail and take long: payment, refund or mail; empty: all.
	Kind string `json:"kind"`
	// After has a call that fails do its work first, so that its caller does not know.
	After bool `json:"after"`
}

func (w *world) setMode(rw http.ResponseWriter, r *http.Request) {
	var m mode
	decoder := json.NewDecoder(http.MaxBytesReader(rw, r.Body, 1<<16))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		answer(rw, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	if m.Status != 0 && (m.Status < 400 || m.Status > 599) || m.Rate < 0 || m.Rate > 1 {
		answer(rw, http.StatusBadRequest, map[string]string{"error": "status is 400 to 599, and rate 0 to 1"})
		return
	}
	w.mu.Lock()
	w.mode = m
	w.mu.Unlock()
	answer(rw, http.StatusOK, m)
}

func (w *world) currentMode() mode {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode
}

func (m mode) concerns(kind string) bool { return m.Kind == "" || m.Kind == kind }

// delay is how long a call takes.
func (m mode) delay(kind string) time.Duration {
	if !m.concerns(kind) {
		return 0
	}
	return time.Duration(m.DelayMs) * time.Millisecond
}

// chosen says whether a call fails.
func (m mode) chosen(kind string) bool {
	return m.Status != 0 && m.concerns(kind) && (m.Rate == 0 || rand.Float64() < m.Rate)
}

func (m mode) fail(rw http.ResponseWriter) {
	if m.Status == http.StatusTooManyRequests || m.Status == http.StatusServiceUnavailable {
		rw.Header().Set("Retry-After", "1")
	}
	answer(rw, m.Status, map[string]string{"error": "not now"})
}
