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
	listFlags
	letterFilter
	deadTopic
}

func newDLQLs(std streams) *cobra.Command {
	var flags dlqLsFlags
	command := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List dead letters",
		Long: `Lists dead letters that wait, newest first; with --with-redriven those that were redriven, too. All filters have to fit.

` + placeHelp,
		Example: `  idem dlq ls --context prod
  idem dlq ls --scope payments --reject-reason NO_RATE --since 24h
  idem dlq ls --output json --limit 1000 | jq -r .key
  idem dlq ls --topic orders.dlq.payments --brokers kafka-1:9092`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.letterFilter.add(command)
	flags.listFlags.add(command, "behind this id, which is older")
	offerValues(command, &flags.place, letterValues)
	flags.deadTopic.add(command)
	command.Flags().BoolVar(&flags.redriven, "with-redriven", false, "list those that were redriven as well as those that wait")
	return command
}

func (f *dlqLsFlags) run(ctx context.Context, std streams) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	if err := f.listFlags.check(); err != nil {
		return err
	}
	if f.deadTopic.topic != "" {
		return f.runTopic(ctx, std, filter)
	}
	stores, closeAll, err := f.openStores(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	after, err := f.cursor(ctx, stores)
	if err != nil {
		return err
	}
	filter.Digests = f.json()
	return letterSheet.list(ctx, std, &f.listFlags, stores, func() string { return f.whyNoLetter(ctx, stores...) }, func(s *connect.Store, limit int) ([]store.DeadLetter, error) {
		return s.RecentDeadLetters(ctx, filter, after, limit)
	})
}

// cursor is the place behind --after.
func (f *dlqLsFlags) cursor(ctx context.Context, stores []*connect.Store) (store.Cursor, error) {
	if f.after == 0 {
		return store.Cursor{}, nil
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

var letterSheet = sheet[store.DeadLetter]{
	head:  []string{"ID", "AGE", "SCOPE", "EVENT TYPE", "KEY", "OUTCOME", "REASON"},
	none:  "no dead letters",
	row:   letterRow,
	json:  func(name string, d *store.DeadLetter) any { return letterOf(name, d) },
	id:    func(d *store.DeadLetter) int64 { return d.ID },
	order: func(a, b *store.DeadLetter) int { return b.CreatedAt.Compare(a.CreatedAt) },
	once:  func(d *store.DeadLetter) any { return store.CursorOf(d) }, // one that ends once more is another
}

func letterRow(d *store.DeadLetter) []string {
	age := show.Age(time.Since(d.CreatedAt))
	if !d.RedrivenAt.IsZero() {
		age += " (redriven)"
	}
	return []string{fmt.Sprint(d.ID), age, d.Scope, d.EventType, show.Cut(d.Key, keyWidth), outcomeOf(d), show.Cut(d.Reason, 60)}
}
