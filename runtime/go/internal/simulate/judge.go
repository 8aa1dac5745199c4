package simulate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/seam"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Result is what came of a schedule.
type Result struct {
	Violations []history.Violation
	// Stuck says what was left to do, long after everything was calm; empty: nothing.
	Stuck string
	// Messages and Calls are how much there was, and Reached what of it, by its name.
	Messages, Calls int
	Reached         map[string]int
	// Trace is what happened, where Options ask for it.
	Trace []string
}

// Wrong says that the schedule has found something.
func (r *Result) Wrong() bool { return len(r.Violations) > 0 || r.Stuck != "" }

// String is what was found, a line each.
func (r *Result) String() string {
	var lines []string
	if r.Stuck != "" {
		lines = append(lines, "STUCK "+r.Stuck)
	}
	for _, v := range r.Violations {
		lines = append(lines, v.String())
	}
	return strings.Join(lines, "\n")
}

// collect is the history of a world that has come to rest.
func (w *world) collect(ctx context.Context) (*history.History, error) {
	letters, err := w.letters(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.history
	h.Effects = slices.Clone(h.Effects)
	h.DeadLetters = letters
	return &h, w.guardedEffects(ctx, &h)
}

// letters are the dead letters. Those of a topic stay there when they are redriven: the record says which are the
// end of a message.
func (w *world) letters(ctx context.Context) (all []history.DeadLetter, err error) {
	rows, err := w.store.ListDeadLetters(ctx, store.DeadLetterFilter{Redriven: true}, 0, 100000)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		all = append(all, history.DeadLetter{Key: strings.TrimSuffix(rows[i].Key, previous), Redriven: !rows[i].RedrivenAt.IsZero()})
	}
	for _, m := range w.broker.Messages(broker.DeadLetterTopic(topic, group)) {
		key := strings.TrimSuffix(seam.KeyOf(m.Headers), previous)
		records, err := w.store.Records(ctx, group, []string{key, key + previous})
		if err != nil {
			return nil, err
		}
		// A message of two keys that was redriven is STALE where the other key has had as many lives, and a dead
		// letter of its own that waits, or was redriven too: then that one has the effect.
		ended := true
		for _, r := range records {
			ended = ended && (r == nil || r.State == idem.StateDead)
		}
		w.mu.Lock()
		w.history.Unordered[key] = true // it may have been redriven
		w.mu.Unlock()
		all = append(all, history.DeadLetter{Key: key, Redriven: !ended})
	}
	return all, nil
}

// checkDone compares what handlers have done in their transactions with what they have published in them: each
// effect has its message, however often, and nothing that was rolled back has one.
func (w *world) checkDone(h *history.History) (found []history.Violation) {
	effects, published := make(map[string]bool), make(map[string]bool)
	for _, m := range w.broker.Messages(doneTopic) {
		published[seam.KeyOf(m.Headers)] = true
	}
	modes := make(map[string]history.Mode)
	for i := range h.Produced {
		modes[h.Produced[i].Key] = h.Produced[i].Mode
	}
	for _, e := range h.Effects {
		if modes[e.Key] == history.Tx {
			effects[e.Key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(effects)) {
		if !published[key] {
			found = append(found, history.Violation{Kind: history.Lost, Key: key, Detail: "done, and what its transaction has published is not there"})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(published)) {
		if !effects[key] {
			found = append(found, history.Violation{Kind: history.Unknown, Key: key, Detail: "published by a transaction that was rolled back"})
		}
	}
	return found
}

// guardedEffects reads what the database of the guarded objects has counted. Its serial numbers are an order of
// their own, which is enough: no lane has effects of both.
func (w *world) guardedEffects(ctx context.Context, h *history.History) error {
	if w.rows == nil {
		return nil
	}
	rows, err := w.rows.QueryContext(ctx, `SELECT n, key FROM effect ORDER BY n`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e := history.Effect{Call: -1}
		if err := rows.Scan(&e.Order, &e.Key); err != nil {
			return err
		}
		h.Effects = append(h.Effects, e)
		w.reached["guarded"]++
	}
	return rows.Err()
}
