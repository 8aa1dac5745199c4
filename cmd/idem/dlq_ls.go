package main

import (
	"context"
	"errors"
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
	deadTopic
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
		Long: `Lists dead letters that wait, newest first. All filters have to fit.

` + placeHelp,
		Example: `  idem dlq ls --context prod
  idem dlq ls --scope payments --reject-reason NO_RATE --since 24h
  idem dlq ls --output json --limit 1000 | jq -r .key
  idem dlq ls --topic orders.dlq.payments --brokers kafka-1:9092`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.operateFlags.add(command)
	flags.letterFilter.add(command)
	flags.deadTopic.add(command)
	flags.watchFlags.add(command)
	offerScopes(command, &flags.place)
	f := command.Flags()
	f.BoolVar(&flags.redriven, "redriven", false, "those that were redriven, too")
	f.IntVar(&flags.limit, "limit", 50, "at most so many of each store")
	f.Int64Var(&flags.after, "after", 0, "behind this id, which is older")
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
	if f.deadTopic.topic != "" {
		return f.runTopic(ctx, std, filter)
	}
	stores, closeAll, err := f.openAll(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	after, err := f.cursor(ctx, stores)
	if err != nil {
		return err
	}
	shown := map[letterPlace]bool{}
	return f.watchFlags.run(ctx, std, func() error {
		lists := make([][]store.DeadLetter, len(stores))
		for i, s := range stores {
			// One more than is shown, to know whether there are more.
			if lists[i], err = s.RecentDeadLetters(ctx, filter, after, f.limit+1); err != nil {
				return unreached(ctx, err, s.DSN)
			}
		}
		if f.json() {
			return f.lines(std, stores, lists, shown)
		}
		f.table(std, stores, lists)
		return nil
	})
}

// cursor is the place behind --after.
func (f *dlqLsFlags) cursor(ctx context.Context, stores []*connect.Store) (store.Cursor, error) {
	switch {
	case f.after == 0:
		return store.Cursor{}, nil
	case len(stores) > 1:
		return store.Cursor{}, errors.New("--after is an id of one store: say which by --store")
	}
	d, err := letterByID(ctx, stores[0], f.after)
	if err != nil {
		return store.Cursor{}, unreached(ctx, err, stores[0].DSN)
	}
	if d == nil {
		return store.Cursor{}, failf("--after: there is no dead letter %d any more in %s; --until TIME goes on there", f.after, stores[0].Place())
	}
	return store.CursorOf(d), nil
}

// letterPlace is a dead letter that was shown; one that ends once more is another.
type letterPlace struct {
	store int
	store.Cursor
}

// lines writes an object a line; while it is watched, of each dead letter once.
func (f *dlqLsFlags) lines(std streams, stores []*connect.Store, lists [][]store.DeadLetter, shown map[letterPlace]bool) error {
	for i, s := range stores {
		for j := range min(len(lists[i]), f.limit) {
			place := letterPlace{i, store.CursorOf(&lists[i][j])}
			if shown[place] {
				continue
			}
			if err := show.Line(std.out, letterOf(s.Name, &lists[i][j])); err != nil {
				return err
			}
			if f.watch {
				shown[place] = true
			}
		}
	}
	return nil
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
