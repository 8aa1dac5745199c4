package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// dedupChangeFlags are those of `idem dedup release` and `idem dedup forget`.
type dedupChangeFlags struct {
	dedupShowFlags
	changeFlags
	secondEffect bool
}

func (f *dedupChangeFlags) add(command *cobra.Command) {
	f.operateFlags.add(command)
	f.changeFlags.add(command)
	command.Flags().StringVar(&f.scope, "scope", "", "the scope; required")
	offerScopes(command, &f.place)
}

func newDedupRelease(std streams) *cobra.Command {
	var flags dedupChangeFlags
	command := &cobra.Command{
		Use:   "release KEY...",
		Short: "End the claims of a worker that is gone",
		Long: `Ends the leases of keys that are PROCESSING, so that the next delivery takes each over, and need not wait until the
lease is over. The worker that held it is fenced out: what it writes within the store's transaction is rolled back. A
worker that is alive and renews its lease keeps it. What it does elsewhere, as in another service, may be done twice,
as after each lease that ends.

` + placeHelp,
		Example:           `  idem dedup release --scope payments 'payments.succeeded:v1:p-1' --reason 'node 7 is gone'`,
		Args:              atLeastOne("KEY"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return flags.release(cmd.Context(), std, args) },
	}
	flags.add(command)
	return command
}

func newDedupForget(std streams) *cobra.Command {
	var flags dedupChangeFlags
	command := &cobra.Command{
		Use:   "forget KEY... --allow-second-effect",
		Short: "Make keys new again: the next delivery has its effect once more",
		Long: `Forgets what is known of keys. The next delivery of each has its effect, also where it had one: --allow-second-effect
says that this is meant. A worker that holds a claim is fenced out.

` + placeHelp,
		Example:           `  idem dedup forget --scope mail 'mail.sent:v1:m-1' --allow-second-effect --reason 'the mail never came, says the customer'`,
		Args:              atLeastOne("KEY"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return flags.forget(cmd.Context(), std, args) },
	}
	flags.add(command)
	command.Flags().BoolVar(&flags.secondEffect, "allow-second-effect", false, "the next delivery may have a second effect; required")
	return command
}

func (f *dedupChangeFlags) release(ctx context.Context, std streams, keys []string) error {
	return f.run(ctx, std, keys, recordVerb{
		name: "release", asked: "end the claims of %s of %s", done: "released",
		fits: func(r *store.Record) bool { return r.State == idem.StateProcessing },
		do: func(ctx context.Context, s *connect.Store, keys []string) (int, error) {
			o, err := s.Operator()
			if err != nil {
				return 0, err
			}
			return o.Release(ctx, f.scope, keys)
		},
	})
}

func (f *dedupChangeFlags) forget(ctx context.Context, std streams, keys []string) error {
	if !f.secondEffect && !f.dryRun {
		return errors.New("no --allow-second-effect: a key that is forgotten has its effect once more")
	}
	return f.run(ctx, std, keys, recordVerb{
		name: "forget", asked: "forget %s of %s: the next deliveries have an effect, also where there was one", done: "forgotten",
		fits: func(*store.Record) bool { return true },
		do: func(ctx context.Context, s *connect.Store, keys []string) (int, error) {
			return s.Forget(ctx, f.scope, keys)
		},
	})
}

// recordVerb is what is done to records.
type recordVerb struct {
	name, asked, done string
	fits              func(*store.Record) bool
	do                func(ctx context.Context, s *connect.Store, keys []string) (int, error)
}

func (f *dedupChangeFlags) run(ctx context.Context, std streams, keys []string, verb recordVerb) error {
	if f.scope == "" {
		return errNoScope
	}
	if err := f.changeFlags.check(); err != nil {
		return err
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) > f.max {
		return failf("%d keys, and --max is %d: nothing was changed", len(keys), f.max)
	}
	s, err := f.openOne(ctx, !f.dryRun)
	if err != nil {
		return err
	}
	defer s.Close()
	records, err := f.fitting(ctx, std, s, keys, verb)
	if err != nil {
		return err
	}
	stop, err := f.preview(std, func() error { return f.show(std, s, records) }, "%d would be "+verb.done, len(records))
	if stop || err != nil {
		return err
	}
	fitting := make([]string, len(records))
	for i, r := range records {
		fitting[i] = r.Key
	}
	target := "scope=" + f.scope + " keys " + strings.Join(fitting, " ")
	if f.secondEffect {
		target += " allow-second-effect"
	}
	done := 0
	err = f.carryOut(ctx, std, s, change{command: "dedup " + verb.name, what: fmt.Sprintf(verb.asked, counted(len(fitting), "key"), s.Place()), target: target, count: len(fitting)}, func() (int64, error) {
		done, err = verb.do(ctx, s, fitting)
		return int64(done), err
	})
	if err != nil {
		return err
	}
	if f.json() {
		err = show.Line(std.out, map[string]int{"changed": done})
	} else {
		fmt.Fprintf(std.out, "%s %d\n", verb.done, done)
	}
	if err == nil && done == 0 {
		return &exit{code: exitNo}
	}
	return err
}

// fitting are the records that there is something to do about.
func (f *dedupChangeFlags) fitting(ctx context.Context, std streams, s *connect.Store, keys []string, verb recordVerb) ([]*store.Record, error) {
	records, err := s.Records(ctx, f.scope, keys)
	if err != nil {
		return nil, unreached(ctx, err, s.DSN)
	}
	var fitting []*store.Record
	for i, r := range records {
		switch {
		case r == nil:
			fmt.Fprintf(std.err, "nothing is known of %s\n", show.Text(keys[i]))
		case !verb.fits(r):
			fmt.Fprintf(std.err, "%s is %s, and stays\n", show.Text(r.Key), stateText(r))
		default:
			fitting = append(fitting, r)
		}
	}
	if len(fitting) == 0 {
		return nil, failf("there is nothing to do%s: nothing was changed", f.whyNoScope(ctx, s))
	}
	return fitting, nil
}

func (f *dedupChangeFlags) show(std streams, s *connect.Store, records []*store.Record) error {
	for i, r := range records {
		if err := f.print(std, s, r, i > 0); err != nil {
			return err
		}
	}
	return nil
}
