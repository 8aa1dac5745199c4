package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// operationsFlags are the flags of `idem operations`.
type operationsFlags struct {
	operateFlags
	limit int
	after int64
}

func newOperations(std streams) *cobra.Command {
	var flags operationsFlags
	command := &cobra.Command{
		Use:   "operations",
		Short: "List what operators changed by hand: who, what and why",
		Long: `Lists the log of operations, newest first. One without an end is a change of which nobody knows how it ended.

` + placeHelp,
		Example: `  idem operations --context prod
  idem operations --output json | jq 'select(.operator | startswith("ana@"))'`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.add(command)
	command.Flags().IntVar(&flags.limit, "limit", 50, "at most so many of each store")
	command.Flags().Int64Var(&flags.after, "after", 0, "behind this id, which is older")
	return command
}

func (f *operationsFlags) run(ctx context.Context, std streams) error {
	if f.limit < 1 {
		return fmt.Errorf("--limit %d: it is at least 1", f.limit)
	}
	stores, closeAll, err := f.openAll(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	head := []string{"ID", "BEGUN (UTC)", "OPERATOR", "COMMAND", "CHANGED", "TARGET", "REASON"}
	if len(stores) > 1 {
		head = append([]string{"STORE"}, head...)
	}
	var rows [][]string
	for _, s := range stores {
		list, err := s.Operations(ctx, f.after, f.limit)
		if err != nil {
			return unreached(ctx, err, s.DSN)
		}
		for i := range list {
			if f.json() {
				if err := show.Line(std.out, operationOf(s.Name, &list[i])); err != nil {
					return err
				}
				continue
			}
			row := operationRow(&list[i])
			if len(stores) > 1 {
				row = append([]string{s.Name}, row...)
			}
			rows = append(rows, row)
		}
	}
	switch {
	case f.json():
	case len(rows) == 0:
		fmt.Fprintln(std.err, "no operations")
	default:
		show.Table(std.out, head, rows)
	}
	return nil
}

func operationRow(o *store.LoggedOperation) []string {
	return []string{fmt.Sprint(o.ID), o.BegunAt.UTC().Format(time.DateTime), o.Operator, o.Command, changedText(o), show.Cut(o.Target, 60), show.Cut(o.Reason, 60)}
}

func changedText(o *store.LoggedOperation) string {
	if o.EndedAt.IsZero() {
		return "unknown"
	}
	return fmt.Sprint(o.Changed)
}

func operationText(o *store.LoggedOperation) string {
	return fmt.Sprintf("%s by %s, changed %s: %s", o.Command, o.Operator, changedText(o), o.Reason)
}

// operationJSON is an operation in --output json. Fields are added, and never renamed or removed.
type operationJSON struct {
	Store    string     `json:"store,omitempty"`
	ID       int64      `json:"id"`
	BegunAt  time.Time  `json:"begun_at"`
	EndedAt  *time.Time `json:"ended_at,omitempty"`
	Operator string     `json:"operator"`
	Command  string     `json:"command"`
	Target   string     `json:"target"`
	Reason   string     `json:"reason"`
	Changed  int64      `json:"changed"`
}

func operationOf(name string, o *store.LoggedOperation) operationJSON {
	j := operationJSON{
		Store: name, ID: o.ID, BegunAt: o.BegunAt.UTC(), Operator: o.Operator, Command: o.Command, Target: o.Target, Reason: o.Reason, Changed: o.Changed,
	}
	if !o.EndedAt.IsZero() {
		ended := o.EndedAt.UTC()
		j.EndedAt = &ended
	}
	return j
}
