package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// redriveJSON is what is known of a redrive and of what became of it, in --output json. Fields are added, and never renamed
// or removed.
type redriveJSON struct {
	Operation *operationJSON `json:"operation,omitempty"`
	// PayloadReplaced is what the log of operations says.
	PayloadReplaced bool `json:"payload_replaced"`
	// Outcome is WAITING, DUPLICATE, EFFECT, PROCESSING, FAILED, DEAD or UNKNOWN.
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
	// Duplicates are those of its scope and event type that were counted in its hour and the next, by what stopped them. No
	// message is counted by its key.
	Duplicates map[string]int64 `json:"duplicates_by_layer,omitempty"`
}

// keyFacts are what a store knows of a key.
type keyFacts struct {
	records    []*store.Record // of each scope that has one
	retries    []store.Retry
	letters    []store.DeadLetter
	operations []store.LoggedOperation // the newest, of all keys
}

// factsOf reads them. A message without a key has none but operations.
func factsOf(ctx context.Context, s *connect.Store, key string, scopes []string) (f keyFacts, err error) {
	if f.operations, err = s.Operations(ctx, 0, newestOperations); err != nil || key == "" {
		return f, err
	}
	for _, scope := range scopes {
		records, err := s.Records(ctx, scope, []string{key})
		if err != nil {
			return f, err
		}
		if records[0] != nil {
			f.records = append(f.records, records[0])
		}
	}
	if f.retries, err = s.ListRetries(ctx, store.RetryFilter{Key: key}, 0, mostOfAKey); err != nil {
		return f, err
	}
	f.letters, err = s.RecentDeadLetters(ctx, store.DeadLetterFilter{Key: key, Redriven: true, Digests: true}, store.Cursor{}, mostOfAKey)
	return f, err
}

// redriven says what became of a dead letter that was redriven.
func (f *keyFacts) redriven(ctx context.Context, s *connect.Store, d *store.DeadLetter) (*redriveJSON, error) {
	j := &redriveJSON{}
	if o := f.redriveOf(d); o != nil {
		operation := operationOf(s.Name, o)
		j.Operation, j.PayloadReplaced = &operation, replacesPayload(o)
	}
	j.Outcome, j.Text = f.fate(d, j.PayloadReplaced)
	if j.Outcome != idem.OutcomeDuplicate.String() {
		return j, nil
	}
	var err error
	if j.Duplicates, err = duplicatesSince(ctx, s, d); err != nil {
		return nil, err
	}
	j.Text += stoppedBy(j.Duplicates)
	return j, nil
}

// redriveOf is the operation that redrove a dead letter, the one that names it if there is one; nil where a program did,
// or it is too long ago.
func (f *keyFacts) redriveOf(d *store.DeadLetter) (found *store.LoggedOperation) {
	for i := range f.operations {
		if o := &f.operations[i]; o.Command == "dlq redrive" && redrove(o, d) {
			if strings.HasPrefix(o.Target, "ids ") {
				return o
			}
			found = cmp.Or(found, o)
		}
	}
	return found
}

// redrove says that an operation redrove a dead letter: it names it, or had a filter, and it was at that time.
func redrove(o *store.LoggedOperation, d *store.DeadLetter) bool {
	words := strings.Fields(o.Target)
	switch {
	case d.RedrivenAt.Before(o.BegunAt), !o.EndedAt.IsZero() && d.RedrivenAt.After(o.EndedAt), len(words) == 0:
		return false
	case words[0] == "ids":
		return slices.Contains(words, fmt.Sprint(d.ID))
	}
	return words[0] != "topic" && !o.EndedAt.IsZero()
}

// replacesPayload says that an operation repaired the one dead letter it is of.
func replacesPayload(o *store.LoggedOperation) bool {
	return o.Command == "dlq redrive" && strings.HasSuffix(o.Target, payloadReplaced)
}

// fate is what became of a dead letter that was redriven, by what is there now: a record has no history.
func (f *keyFacts) fate(d *store.DeadLetter, replaced bool) (outcome, text string) {
	// A delivery that was redriven has the retry topic for its source, and keeps its event id.
	later := func(scope, event string, redrives int32) bool {
		return scope == d.Scope && event == d.EventID && redrives > d.RedriveCount
	}
	for i := range f.retries {
		if r := &f.retries[i]; later(r.Scope, r.EventID, r.RedriveCount) {
			if r.Action == idem.ActionRedrive {
				return "WAITING", "not delivered yet: it waits in msg_retry"
			}
			return idem.StateFailed.String(), fmt.Sprintf("it was delivered, and comes again: %s, %s", r.Action, r.Reason)
		}
	}
	for i := range f.letters {
		if l := &f.letters[i]; l.ID != d.ID && later(l.Scope, l.EventID, l.RedriveCount) && l.CreatedAt.After(d.RedrivenAt) {
			return idem.StateDead.String(), fmt.Sprintf("it ended again, as dead letter %d: %s", l.ID, codeOf(l.Reason))
		}
	}
	if d.Key == "" {
		return "UNKNOWN", "the message has no key, so that no record tells"
	}
	at := slices.IndexFunc(f.records, func(r *store.Record) bool { return r.Scope == d.Scope })
	if at < 0 {
		return "UNKNOWN", "no record tells: it was not claimed yet, or the record is older than the retention"
	}
	return f.fateByRecord(d, f.records[at], replaced)
}

func (f *keyFacts) fateByRecord(d *store.DeadLetter, r *store.Record, replaced bool) (outcome, text string) {
	since := r.UpdatedAt.UTC().Format(time.RFC3339)
	its := r.RedriveCount > int64(d.RedriveCount) && !r.UpdatedAt.Before(d.RedrivenAt)
	switch {
	case r.State != idem.StateSuccess && its:
		return r.State.String(), stateText(r)
	case r.State != idem.StateSuccess:
		return "UNKNOWN", "not claimed yet, by the record: " + stateText(r)
	case its && f.lives(d, r) > 1:
		return "UNKNOWN", "the key has its one effect since " + since + ", by this or by another of its dead letters that were redriven"
	case its:
		return "EFFECT", "it had its effect at " + since
	case d.Outcome == idem.OutcomeKeyReused && !replaced:
		return "UNKNOWN", "on its way: with the payload that it had it ends as KEY_REUSED again"
	}
	return idem.OutcomeDuplicate.String(), "a duplicate, and nothing happens again: the key had its effect at " + since
}

// lives is how many dead letters of a record were redriven before it succeeded.
func (f *keyFacts) lives(d *store.DeadLetter, r *store.Record) (n int) {
	for i := range f.letters {
		if l := &f.letters[i]; l.Scope == d.Scope && !l.RedrivenAt.IsZero() && !l.RedrivenAt.After(r.UpdatedAt) && int64(l.RedriveCount) < r.RedriveCount {
			n++
		}
	}
	return n
}

// duplicatesSince are those of a dead letter's scope and event type in the hour of its redrive and the next, by layer.
func duplicatesSince(ctx context.Context, s *connect.Store, d *store.DeadLetter) (map[string]int64, error) {
	hour := store.Hour(d.RedrivenAt)
	counts, err := s.Counts(ctx, store.CountFilter{Since: hour, Until: hour.Add(2 * time.Hour), Scope: d.Scope, ByEventType: true})
	if err != nil {
		return nil, err
	}
	of := map[string]int64{}
	for _, c := range counts {
		if c.EventType == d.EventType && c.Outcome == idem.OutcomeDuplicate.String() && c.N > 0 {
			of[c.Layer] += c.N
		}
	}
	return of, nil
}

// stoppedBy says what stops such a duplicate, as far as counts of all keys tell. Whether this one has been delivered they do
// not.
func stoppedBy(of map[string]int64) string {
	if len(of) == 0 {
		return "; no duplicate of its type is counted since, so that it is on its way, or not counted yet"
	}
	return "; duplicates of its type were stopped at " + strings.Join(slices.Sorted(maps.Keys(of)), " or ") + " then"
}
