package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// mostValues are how many values of a kind are looked through for one that was meant.
const mostValues = 200

// filterValue is a value of a filter, and those that rows have.
type filterValue struct {
	name, value string
	known       []string
}

// whyNone continues "nothing is selected": it says which value of a filter no row has, and which was probably meant. Where
// it cannot tell, it is empty. none is "none", and rows are "dead letters".
func whyNone(none, rows string, values ...filterValue) string {
	var parts []string
	used := 0
	for _, v := range values {
		if v.value == "" || len(v.known) == 0 {
			continue
		}
		used++
		if slices.Contains(v.known, v.value) {
			continue
		}
		part := fmt.Sprintf("%s has the %s %s", none, v.name, v.value)
		switch near := lint.DidYouMean(v.value, v.known); {
		case near != "":
			part += near
		case len(v.known) <= 8:
			part += "; there are " + strings.Join(v.known, ", ")
		}
		parts = append(parts, show.Text(part))
	}
	switch {
	case len(parts) > 0:
		return ": " + strings.Join(parts, ": ")
	case used > 1:
		return ": there are " + rows + " of each, and none of all: filters have to fit all"
	}
	return ""
}

// valuesOf are those of all stores. What cannot be read is not known.
func valuesOf(ctx context.Context, stores []*connect.Store, read func(context.Context, *connect.Store) (store.Values, error)) (all store.Values) {
	for _, s := range stores {
		v, err := read(ctx, s)
		if err != nil {
			continue
		}
		all.Scopes = both(all.Scopes, v.Scopes)
		all.EventTypes = both(all.EventTypes, v.EventTypes)
		all.Outcomes = both(all.Outcomes, v.Outcomes)
		all.Codes = both(all.Codes, v.Codes)
	}
	return all
}

// both are the values of two lists, each once and in order.
func both(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func codeOf(reason string) string {
	code, _, _ := strings.Cut(reason, ":")
	return code
}

// whyNone says what of a filter no dead letter has that waits.
func (f *letterFilter) whyNone(v store.Values) string {
	none := "none"
	if f.redriven {
		none = "none that waits"
	}
	return whyNone(none, "dead letters", filterValue{"scope", f.scope, v.Scopes}, filterValue{"event type", f.event, v.EventTypes},
		filterValue{"outcome", f.outcome, v.Outcomes}, filterValue{"reason", codeOf(f.reason), v.Codes})
}

// whyNoLetter asks the stores for what they have.
func (f *letterFilter) whyNoLetter(ctx context.Context, stores ...*connect.Store) string {
	if f.key != "" && !f.redriven {
		for _, s := range stores {
			// The index of keys has few rows of one.
			had, err := s.RecentDeadLetters(ctx, store.DeadLetterFilter{Key: f.key, Redriven: true}, store.Cursor{}, 1)
			if err == nil && len(had) > 0 && !had[0].RedrivenAt.IsZero() {
				return fmt.Sprintf(": dead letter %d of this key, in %s, was redriven at %s: see idem dlq show and idem trace",
					had[0].ID, s.Place(), had[0].RedrivenAt.UTC().Format(time.RFC3339))
			}
		}
	}
	return f.whyNone(valuesOf(ctx, stores, letterValues))
}

// whyNoRetry says what of a filter no delivery to come has.
func (f *retryFilter) whyNoRetry(ctx context.Context, stores ...*connect.Store) string {
	v := valuesOf(ctx, stores, retryValues)
	return whyNone("none", "deliveries to come", filterValue{"scope", f.scope, v.Scopes}, filterValue{"event type", f.event, v.EventTypes},
		filterValue{"reason", codeOf(f.reason), v.Codes})
}

// offerValues has the shell complete the filters with what there is.
func offerValues(command *cobra.Command, place *connect.Flags, read func(context.Context, *connect.Store) (store.Values, error)) {
	offerScopes(command, place)
	for flag, of := range map[string]func(store.Values) []string{
		"event-type":    func(v store.Values) []string { return v.EventTypes },
		"reject-reason": func(v store.Values) []string { return v.Codes },
	} {
		offerFunc(command, flag, func(cmd *cobra.Command) []string {
			return stored(cmd.Context(), place, func(ctx context.Context, s *connect.Store) ([]string, error) {
				v, err := read(ctx, s)
				return of(v), err
			})
		})
	}
}

func letterValues(ctx context.Context, s *connect.Store) (store.Values, error) {
	return s.DeadLetterValues(ctx, mostValues)
}

func retryValues(ctx context.Context, s *connect.Store) (store.Values, error) {
	return s.RetryValues(ctx, mostValues)
}
