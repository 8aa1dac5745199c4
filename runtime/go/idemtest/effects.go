package idemtest

import (
	"slices"
	"sync"
	"testing"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/seam"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// Effects is where the effects of a handler can be seen: all there are, each as a text that says what it is. One
// that happened twice is there twice. *Recorder, Query, Published and EffectsFunc are some.
type Effects interface {
	List(w *World) ([]string, error)
}

// EffectsFunc makes Effects of a function. What was there before a world began does not count.
type EffectsFunc func(w *World) ([]string, error)

// List calls f.
func (f EffectsFunc) List(w *World) ([]string, error) { return f(w) }

// Query is the effects that a query of one column of text finds in the world's SQLite store.
func Query(text string) Effects {
	return EffectsFunc(func(w *World) ([]string, error) { return w.store.query(w.t.Context(), text) })
}

// Published is the messages of a topic, by their idempotency keys. The same key published twice is one effect: it is
// for its consumers to have it once.
func Published(topic string) Effects {
	return EffectsFunc(func(w *World) ([]string, error) {
		var keys []string
		for _, m := range w.Messages(topic) {
			keys = append(keys, seam.KeyOf(m.Headers))
		}
		slices.Sort(keys)
		return slices.Compact(keys), nil
	})
}

// Recorder keeps effects in memory: Add stands for what a handler does outside. The zero value is ready. Its methods
// may be called from several goroutines.
type Recorder struct {
	mu      sync.Mutex
	effects []string
	once    map[string]bool
}

// Add is an effect. In a *memory.Tx it belongs into tx.Do.
func (r *Recorder) Add(effect string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.effects = append(r.effects, effect)
}

// Once is an effect of somebody who has each key once, as payment services do by their Idempotency-Key: a second call
// with the same key does nothing. The key is guard.KeyOf(ctx).
func (r *Recorder) Once(key, effect string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.once[key] {
		return
	}
	if r.once == nil {
		r.once = make(map[string]bool)
	}
	r.once[key] = true
	r.effects = append(r.effects, effect)
}

// List is all effects, in their order.
func (r *Recorder) List(*World) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.effects), nil
}

// Reset forgets everything. A world begins with it.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.effects, r.once = nil, nil
}

// Message makes what a broker takes of a generated message.
func Message(t testing.TB, topic string, m payload.Keyed) broker.Message {
	t.Helper()
	made, err := payload.Message(topic, m, payload.Options{})
	if err != nil {
		t.Fatal("idemtest: " + err.Error())
	}
	return made
}
