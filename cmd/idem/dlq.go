package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func newDLQ(std streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "dlq",
		Short: "Look at dead letters, give them another life, or drop them",
		Long: `Works on dead letters in the table dead_letter; ls, show and redrive on those of a topic too, by --topic.

` + placeHelp,
	}
	group(command)
	command.AddCommand(newDLQLs(std), newDLQShow(std), newDLQRedrive(std), newDLQDrop(std))
	return command
}

// letterFilter are the flags that select dead letters.
type letterFilter struct {
	scope, event, key, outcome, reason string
	since, until                       string
	redriven                           bool
}

// add adds them. The reason of a change is --reason, so that a dead letter's is --reject-reason.
func (f *letterFilter) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.scope, "scope", "", "of this scope")
	flags.StringVar(&f.event, "event-type", "", "of this event type")
	flags.StringVar(&f.key, "key", "", "of this idempotency key")
	flags.StringVar(&f.outcome, "outcome", "", "of this outcome, such as NON_RETRYABLE")
	flags.StringVar(&f.reason, "reject-reason", "", "of this reason: its code, or its code and how the detail begins, as in 'NO_RATE: E'")
	flags.StringVar(&f.since, "since", "", "ended since, as RFC 3339 or how long ago: 1h")
	flags.StringVar(&f.until, "until", "", "ended before, likewise")
	offer(command, "outcome", outcomes()...)
}

// outcomes are the names of outcomes.
func outcomes() []string {
	var names []string
	for o := idem.OutcomeRetryable; o <= idem.OutcomeFenced; o++ {
		names = append(names, o.String())
	}
	return names
}

func (f *letterFilter) filter() (store.DeadLetterFilter, error) {
	filter := store.DeadLetterFilter{Scope: f.scope, Key: f.key, EventType: f.event, Outcome: f.outcome, ReasonPrefix: f.reason, Redriven: f.redriven}
	if _, ok := idem.ParseOutcome(f.outcome); f.outcome != "" && !ok {
		return filter, fmt.Errorf("--outcome %s: the outcomes are %s%s", f.outcome, strings.Join(outcomes(), ", "), lint.DidYouMean(f.outcome, outcomes()))
	}
	now := time.Now()
	var err error
	if filter.Since, err = moment("--since", f.since, now); err != nil {
		return filter, err
	}
	if filter.Until, err = moment("--until", f.until, now); err != nil {
		return filter, err
	}
	if !filter.Since.IsZero() && !filter.Until.IsZero() && !filter.Since.Before(filter.Until) {
		return filter, errors.New("--since is not before --until: nothing would be selected")
	}
	return filter, nil
}

// empty says that all are selected.
func (f *letterFilter) empty() bool {
	return cmp.Or(f.scope, f.event, f.key, f.outcome, f.reason, f.since, f.until) == ""
}

// text is the filter in words, for people and the log of operations.
func (f *letterFilter) text() string {
	return filterText([2]string{"scope", f.scope}, [2]string{"event-type", f.event}, [2]string{"key", f.key}, [2]string{"outcome", f.outcome},
		[2]string{"reject-reason", f.reason}, [2]string{"since", f.since}, [2]string{"until", f.until})
}

// identities reads ids.
func identities(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 {
			return nil, fmt.Errorf("%q is no id: ids are the numbers in the first column of ls", arg)
		}
		ids[i] = id
	}
	return ids, nil
}
