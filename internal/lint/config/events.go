package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/idem-spec/idem/internal/lint"
)

// CheckEvents refuses facts of event types that no message has: a misspelled one would turn its rules on and say
// nothing. eventTypes are those of the messages. Unless these are the whole repository's, another module may have
// the event type, and one is refused only where it is near to one that has no facts. place is what the error of
// an event type begins with.
func (f Facts) CheckEvents(eventTypes []string, whole bool, place func(eventType string) string) error {
	meant := slices.DeleteFunc(slices.Clone(eventTypes), func(t string) bool {
		_, declared := f.Events[t]
		return declared
	})
	var problems []error
	for _, t := range slices.Sorted(maps.Keys(f.Events)) {
		if slices.Contains(eventTypes, t) {
			continue
		}
		near := lint.DidYouMean(t, meant)
		switch {
		case near != "":
			problems = append(problems, fmt.Errorf("%s: no message has the event type %q%s", place(t), t, near))
		case whole:
			problems = append(problems, fmt.Errorf("%s: no message has the event type %q: it is what stands before the version in a key; leave it out, or write one that a message has", place(t), t))
		}
	}
	return errors.Join(problems...)
}

// OfEvents are the facts without those of event types that no message has, for which no rule has anything to do.
func (f Facts) OfEvents(eventTypes []string) Facts {
	f.Events = maps.Clone(f.Events)
	maps.DeleteFunc(f.Events, func(t string, _ Fact) bool { return !slices.Contains(eventTypes, t) })
	return f
}
