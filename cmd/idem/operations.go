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

func newOperations(std streams) *cobra.Command {
	var flags listFlags
	command := &cobra.Command{
		Use:   "operations",
		Short: "List what operators changed by hand: who, what and why",
		Long: `Lists the log of operations, newest first. One without an end is a change of which nobody knows how it ended.

` + placeHelp,
		Example: `  idem operations --context prod
  idem operations --output json | jq 'select(.operator | startswith("ana@"))'`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return listOperations(cmd.Context(), std, &flags) },
	}
	flags.add(command, "behind this id, which is older")
	return command
}

func listOperations(ctx context.Context, std streams, f *listFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	stores, closeAll, err := f.openStores(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	return operationSheet.list(ctx, std, f, stores, nil, func(s *connect.Store, limit int) ([]store.LoggedOperation, error) {
		return s.Operations(ctx, f.after, limit)
	})
}

var operationSheet = sheet[store.LoggedOperation]{
	head:  []string{"ID", "BEGUN (UTC)", "OPERATOR", "COMMAND", "CHANGED", "TARGET", "REASON"},
	none:  "no operations",
	row:   operationRow,
	json:  func(name string, o *store.LoggedOperation) any { return operationOf(name, o) },
	id:    func(o *store.LoggedOperation) int64 { return o.ID },
	order: func(a, b *store.LoggedOperation) int { return b.BegunAt.Compare(a.BegunAt) },
	once:  func(o *store.LoggedOperation) any { return operationPlace{o.ID, o.EndedAt.IsZero()} },
}

// operationPlace tells an operation from the same one once it has ended.
type operationPlace struct {
	id      int64
	running bool
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
	more := ""
	if replacesPayload(o) {
		more = ", payload replaced"
	}
	return fmt.Sprintf("%s by %s, changed %s%s: %s", o.Command, o.Operator, changedText(o), more, o.Reason)
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
