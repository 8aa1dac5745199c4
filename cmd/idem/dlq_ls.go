package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// dlqLsFlags are the flags of `idem dlq ls`.
type dlqLsFlags struct {
	operateFlags
	letterFilter
	watchFlags
	limit int
	after int64
}

func newDLQLs(std streams) *cobra.Command {
	var flags dlqLsFlags
	command := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List dead letters",
		Long: `Lists dead letters that wait, in the order in which they were first written. All filters have to fit.

` + placeHelp,
		Example: `  idem dlq ls --context prod
  idem dlq ls --scope payments --reject-reason NO_RATE --since 24h
  idem dlq ls --output json --limit 1000 | jq -r .key`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.operateFlags.add(command)
	flags.letterFilter.add(command)
	flags.watchFlags.add(command)
	offerScopes(command, &flags.place)
	f := command.Flags()
	f.BoolVar(&flags.redriven, "redriven", false, "those that were redriven, too")
	f.IntVar(&flags.limit, "limit", 50, "at most so many of each store")
	f.Int64Var(&flags.after, "after", 0, "behind this id")
	return command
}

func (f *dlqLsFlags) run(ctx context.Context, std streams) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	if f.limit < 1 {
		return fmt.Errorf("--limit %d: it is at least 1", f.limit)
	}
	if err := f.watchFlags.check(); err != nil {
		return err
	}
	stores, closeAll, err := f.openAll(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	after := make([]int64, len(stores))
	for i := range after {
		after[i] = f.after
	}
	return f.watchFlags.run(ctx, std, func() error {
		lists := make([][]store.DeadLetter, len(stores))
		for i, s := range stores {
			// One more than is shown, to know whether there are more.
			if lists[i], err = s.ListDeadLetters(ctx, filter, after[i], f.limit+1); err != nil {
				return unreached(ctx, err, s.DSN)
			}
		}
		if !f.json() {
			f.table(std, stores, lists)
			return nil
		}
		for i, s := range stores {
			for j := range min(len(lists[i]), f.limit) {
				if err := show.Line(std.out, letterOf(s.Name, &lists[i][j])); err != nil {
					return err
				}
				if f.watch { // only those that are new
					after[i] = lists[i][j].ID
				}
			}
		}
		return nil
	})
}

func (f *dlqLsFlags) table(std streams, stores []*connect.Store, lists [][]store.DeadLetter) {
	head := []string{"ID", "AGE", "SCOPE", "EVENT TYPE", "KEY", "OUTCOME", "REASON"}
	var rows [][]string
	for i, s := range stores {
		for j := range min(len(lists[i]), f.limit) {
			row := letterRow(&lists[i][j])
			if len(stores) > 1 {
				row = append([]string{s.Name}, row...)
			}
			rows = append(rows, row)
		}
	}
	if len(stores) > 1 {
		head = append([]string{"STORE"}, head...)
	}
	if len(rows) == 0 {
		fmt.Fprintln(std.err, "no dead letters")
		return
	}
	show.Table(std.out, head, rows)
	for i, s := range stores {
		if n := len(lists[i]); n > f.limit {
			fmt.Fprintf(std.err, "there are more in %s: --after %d\n", s.Place(), lists[i][n-2].ID)
		}
	}
}

func letterRow(d *store.DeadLetter) []string {
	age := show.Age(time.Since(d.CreatedAt))
	if !d.RedrivenAt.IsZero() {
		age += " (redriven)"
	}
	return []string{fmt.Sprint(d.ID), age, d.Scope, d.EventType, show.Cut(d.Key, 60), d.Outcome.String(), show.Cut(d.Reason, 60)}
}
