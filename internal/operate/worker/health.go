package worker

import (
	"encoding/json"
	"net/http"
	"time"
)

// Health is the state of a worker, as its endpoint tells it.
type Health struct {
	// OK says that it runs, and that no part has been hindered for long.
	OK bool `json:"ok"`
	// Phase is running or draining.
	Phase string       `json:"phase"`
	Parts []PartHealth `json:"parts"`
}

// PartHealth is one part's.
type PartHealth struct {
	Store string `json:"store"`
	Part  string `json:"part"`
	// Error is what hinders it, and For how long it has.
	Error string `json:"error,omitempty"`
	For   string `json:"for,omitempty"`
}

// unhealthyAfter is for how long a part may be hindered. A cleaner that fails tries again after a minute.
const unhealthyAfter = 2 * time.Minute

// Health is the state at present.
func (w *Worker) Health() Health {
	h := Health{OK: true, Phase: "running"}
	if w.draining.Load() {
		h.OK, h.Phase = false, "draining"
	}
	for _, p := range w.parts {
		of := PartHealth{Store: p.store, Part: p.name}
		p.mu.Lock()
		if p.err != nil {
			elapsed := time.Since(p.since)
			of.Error, of.For = p.err.Error(), elapsed.Round(time.Second).String()
			h.OK = h.OK && elapsed <= unhealthyAfter
		}
		p.mu.Unlock()
		h.Parts = append(h.Parts, of)
	}
	return h
}

// ServeHTTP answers with Health as JSON: 200 where it is OK, 503 where it is not.
func (w *Worker) ServeHTTP(out http.ResponseWriter, _ *http.Request) {
	h := w.Health()
	out.Header().Set("Content-Type", "application/json")
	out.Header().Set("Cache-Control", "no-store")
	if !h.OK {
		out.WriteHeader(http.StatusServiceUnavailable)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	_ = e.Encode(h) // who asked may be gone
}
