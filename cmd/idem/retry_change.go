package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// retryChangeFlags are those of `idem retry now` and `idem retry cancel`.
type retryChangeFlags struct {
	operateFlags
	retryFilter
	changeFlags
	all bool
}

func (f *retryChangeFlags) add(command *cobra.Command) {
	f.operateFlags.add(command)
	f.retryFilter.add(command)
	f.changeFlags.add(command)
	offerValues(command, &f.place, retryValues)
	offerRetries(command, &f.place)
	command.Flags().BoolVar(&f.all, "all", false, "all, where there is neither an id nor a filter")
}

func newRetryNow(std streams) *cobra.Command {
	var flags retryChangeFlags
	command := &cobra.Command{
		Use:   "now [ID...]",
		Short: "Make deliveries to come due now",
		Long: `Makes deliveries that are PENDING due now. Those that are PARKED wait for the head of their lane, and stay. Counts of
retries stay as they are.

` + placeHelp,
		Example: `  idem retry now 4711 --reason 'the bank is back'
  idem retry now --scope payments --reject-reason BANK_DOWN --reason 'the bank is back' --max 20000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd.Context(), std, args, retryVerb{"now", "make %s of %s due now", "due now",
				func(ctx context.Context, o store.Operator, ids []int64) (int, error) { return o.RetryNow(ctx, ids) }})
		},
	}
	flags.add(command)
	return command
}

func newRetryCancel(std streams) *cobra.Command {
	var flags retryChangeFlags
	command := &cobra.Command{
		Use:   "cancel [ID...]",
		Short: "End deliveries to come: they become dead letters",
		Long: `Makes dead letters of deliveries to come, with the reason CANCELLED and yours. Nothing is lost: ` + "`idem dlq redrive`" + ` gives
them another life. A lane that one of them heads goes on. What a scheduler publishes just now stays.

` + placeHelp,
		Example: `  idem retry cancel 4711 --reason 'the order is void'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd.Context(), std, args, retryVerb{"cancel", "end %s of %s, as dead letters", "cancelled",
				func(ctx context.Context, o store.Operator, ids []int64) (int, error) {
					return o.CancelRetries(ctx, ids, "CANCELLED: "+oneLine(flags.changeFlags.reason))
				}})
		},
	}
	flags.add(command)
	return command
}

func deliveries(n int) string {
	if n == 1 {
		return "1 delivery"
	}
	return fmt.Sprintf("%d deliveries", n)
}

// oneLine makes a reject_reason of an operator's words, without control characters. (HDR-023)
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// retryVerb is what is done to deliveries.
type retryVerb struct {
	name, asked, done string
	do                func(ctx context.Context, o store.Operator, ids []int64) (int, error)
}

func (f *retryChangeFlags) check(args []string) error {
	if err := checkSelection(args, f.retryFilter == (retryFilter{}), f.all); err != nil {
		return err
	}
	return f.changeFlags.check()
}

func (f *retryChangeFlags) run(ctx context.Context, std streams, args []string, verb retryVerb) error {
	if err := f.check(args); err != nil {
		return err
	}
	ids, err := identities(args)
	if err != nil {
		return err
	}
	filter, err := f.filter()
	if err != nil {
		return err
	}
	s, err := f.openOne(ctx, !f.dryRun)
	if err != nil {
		return err
	}
	defer s.Close()
	o, err := s.Operator()
	if err != nil {
		return brokenf("%s: %w", s.Place(), err)
	}
	rows, gone, err := f.selected(ctx, std, s, o, filter, ids)
	if err != nil {
		return err
	}
	target := f.retryFilter.text()
	if len(ids) > 0 {
		target = "ids " + idText(idsOf(rows))
	}
	stop, err := f.preview(std, func() error { return pickedSheet.sample(std, f.json(), s.Name, rows, len(rows)) },
		"%d are selected, and nothing was changed", len(rows))
	if stop || err != nil {
		return err
	}
	var done int64
	err = f.carryOut(ctx, std, s, change{command: "retry " + verb.name, what: fmt.Sprintf(verb.asked, deliveries(len(rows)), s.Place()), target: target, count: len(rows)}, func() (int64, error) {
		done, err = inPages(idsOf(rows), func(ids []int64) (int, error) { return verb.do(ctx, o, ids) })
		return done, err
	})
	if err != nil {
		return err
	}
	rest := int64(len(rows)+gone) - done
	if f.json() {
		err = show.Line(std.out, map[string]int64{"changed": done, "left": rest})
	} else {
		fmt.Fprintf(std.out, "%d %s; %d left as they were (parked, due, being published, or gone)\n", done, verb.done, rest)
	}
	if err == nil && done == 0 {
		return &exit{code: exitNo}
	}
	return err
}

// selected reads what is selected, without the payloads, which may be many, and says how many ids are not there any more:
// those that were published, or changed before an interruption.
func (f *retryChangeFlags) selected(ctx context.Context, std streams, s *connect.Store, o store.Operator, filter store.RetryFilter, ids []int64) (rows []pickedRetry, gone int, err error) {
	if len(ids) > 0 {
		return f.byID(ctx, std, s, o, ids)
	}
	after := int64(0)
	page := func(limit int) ([]store.Retry, error) {
		list, err := o.ListRetries(ctx, filter, after, limit)
		if len(list) > 0 {
			after = list[len(list)-1].ID
		}
		return list, err
	}
	for {
		list, err := page(min(pageSize, f.max+1-len(rows)))
		if err != nil {
			return nil, 0, unreached(ctx, err, s.DSN)
		}
		if len(list) == 0 {
			break
		}
		if rows = append(rows, picked(s.Name, list)...); len(rows) > f.max {
			return nil, 0, f.tooMany(len(rows), "deliveries", time.Now().Add(countTime), func() (int, error) {
				list, err := page(pageSize)
				return len(list), err
			})
		}
	}
	if len(rows) == 0 {
		return nil, 0, noneOf("delivery to come", f.retryFilter.text(), f.whyNoRetry(ctx, s))
	}
	return rows, 0, nil
}

func (f *retryChangeFlags) byID(ctx context.Context, std streams, s *connect.Store, o store.Operator, ids []int64) (rows []pickedRetry, gone int, err error) {
	if len(ids) > f.max {
		return nil, 0, failf("%d ids, and --max is %d: nothing was changed", len(ids), f.max)
	}
	slices.Sort(ids)
	var missing []int64
	for _, id := range slices.Compact(ids) {
		list, err := o.ListRetries(ctx, store.RetryFilter{}, id-1, 1)
		switch {
		case err != nil:
			return nil, 0, unreached(ctx, err, s.DSN)
		case len(list) == 0 || list[0].ID != id:
			missing = append(missing, id)
		default:
			rows = append(rows, picked(s.Name, list)...)
		}
	}
	skip(std, "not in "+s.Place()+" (published or cancelled since, or never there), and skipped", missing...)
	if len(rows) == 0 {
		return nil, 0, failf("nothing is left to do: nothing was changed")
	}
	return rows, len(missing), nil
}

// pickedRetry is a row without its payload and headers, and what is shown of it.
type pickedRetry struct {
	store.Retry
	shown retryJSON
}

func picked(name string, list []store.Retry) []pickedRetry {
	rows := make([]pickedRetry, len(list))
	for i := range list {
		rows[i].shown = retryOf(name, &list[i])
		list[i].Payload, list[i].Headers = nil, nil
		rows[i].Retry = list[i]
	}
	return rows
}

var pickedSheet = sheet[pickedRetry]{
	head: retrySheet.head,
	row:  func(r *pickedRetry) []string { return retryRow(&r.Retry) },
	json: func(_ string, r *pickedRetry) any { return r.shown },
}

func idsOf(rows []pickedRetry) []int64 {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids
}
