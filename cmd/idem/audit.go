package main

import (
	"context"
	"errors"
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

// auditFlags are the flags of `idem audit`.
type auditFlags struct {
	operateFlags
	watchFlags
	since, until, by, scope string
}

// What counts are told apart by.
const (
	byType  = "type"
	byScope = "scope"
	byLayer = "layer"
	byHour  = "hour"
)

var dimensions = []string{byType, byScope, byLayer, byHour}

func newAudit(std streams) *cobra.Command {
	var flags auditFlags
	command := &cobra.Command{
		Use:   "audit",
		Short: "Show how many duplicates were stopped, and where; keys that were used twice; effects saved",
		Long: `Shows what became of deliveries, as consumers count it in the table idem_audit, by the hour.

  DONE          had their effect
  STOPPED       did not run again: duplicates, stale copies, and messages whose transition another key had made
  AT …          of those, by what found out: redis, a memory in front of the store; store, the record; state, the state
                machine; handler, the handler itself; window, the consumer's own memory
  SAVED         effects that would have happened again: what was stopped, but for what only the handler noticed
  KEYS REUSED   messages with the key of another content: a mistake of their producer; they are dead letters
  RETRIES       failures that were tried again
  DEAD LETTERS  messages that ended

A process writes its counts every ten seconds: the last ones are missing here until then, and lost where it crashes.
Hours are kept for 90 days. --since and --until are widened to whole hours.

` + placeHelp,
		Example: `  idem audit --context prod --since 7d
  idem audit --since 24h --by layer
  idem audit --since 2026-11-01T00:00:00Z --by hour --output json`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.operateFlags.add(command)
	flags.watchFlags.add(command)
	f := command.Flags()
	f.StringVar(&flags.since, "since", "7d", "from when on, as RFC 3339 or how long ago: 24h, 7d")
	f.StringVar(&flags.until, "until", "", "until when, likewise (default: now)")
	f.StringVar(&flags.by, "by", byType, "what is told apart: "+strings.Join(dimensions, ", "))
	f.StringVar(&flags.scope, "scope", "", "of this scope")
	offer(command, "by", dimensions...)
	offerScopes(command, &flags.place)
	return command
}

func (f *auditFlags) run(ctx context.Context, std streams) error {
	if !slices.Contains(dimensions, f.by) {
		return fmt.Errorf("--by %s: it is %s%s", f.by, strings.Join(dimensions, ", "), lint.DidYouMean(f.by, dimensions))
	}
	if err := f.watchFlags.check(); err != nil {
		return err
	}
	if _, err := f.filter(time.Now(), false); err != nil {
		return err
	}
	stores, closeAll, err := f.openAll(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	bars := !f.json() && f.by != byHour && isTerminal(std.out)
	return f.watchFlags.run(ctx, std, func() error { return f.show(ctx, std, stores, bars) })
}

// mostBars is how many bars show the course of a count.
const mostBars = 24

// filter is what to read. For bars the time is cut into spans.
func (f *auditFlags) filter(now time.Time, bars bool) (store.CountFilter, error) {
	filter := store.CountFilter{Scope: f.scope, ByScope: f.by == byScope, ByEventType: f.by == byType}
	var err error
	if filter.Since, err = moment("--since", f.since, now); err != nil {
		return filter, err
	}
	if filter.Until, err = moment("--until", f.until, now); err != nil {
		return filter, err
	}
	if filter.Until.IsZero() {
		filter.Until = now
	}
	if !filter.Since.Before(filter.Until) {
		return filter, errors.New("--since is not before --until: nothing would be shown")
	}
	filter.Since = store.Hour(filter.Since)
	switch hours := filter.Until.Sub(filter.Since)/time.Hour + 1; {
	case f.by == byHour:
		filter.By = time.Hour
	case bars:
		filter.By = (hours + mostBars - 1) / mostBars * time.Hour
	}
	return filter, nil
}

func (f *auditFlags) show(ctx context.Context, std streams, stores []*connect.Store, bars bool) error {
	filter, err := f.filter(time.Now(), bars)
	if err != nil {
		return err
	}
	sheet := auditSheet{by: f.by, filter: filter, bars: bars, several: len(stores) > 1}
	for _, s := range stores {
		counts, err := s.Counts(ctx, filter)
		if err != nil {
			return unreached(ctx, err, s.DSN)
		}
		sheet.add(s.Name, counts)
	}
	if f.json() {
		for _, r := range sheet.rows {
			if err := show.Line(std.out, sheet.json(r)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(sheet.rows) == 0 {
		fmt.Fprintf(std.err, "nothing was counted since %s: consumers count every ten seconds, unless they are told not to\n", filter.Since.Format(time.RFC3339))
		return nil
	}
	fmt.Fprintln(std.out, covered(filter, time.Now()))
	sheet.table(std.out)
	if bars {
		fmt.Fprintf(std.err, "a bar is %s of what was stopped\n", show.Age(filter.By))
	}
	return nil
}

// covered says of which time the counts are: of the hours that begin in the one that was asked for.
func covered(filter store.CountFilter, now time.Time) string {
	const minutes = "2006-01-02 15:04"
	until := store.Hour(filter.Until.Add(time.Hour - 1))
	if until.After(now) {
		until = now.UTC()
	}
	return fmt.Sprintf("from %s to %s UTC: hours are counted as a whole", filter.Since.Format(minutes), until.Format(minutes))
}
