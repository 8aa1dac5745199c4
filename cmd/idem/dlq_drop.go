package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/show"
)

func newDLQDrop(std streams) *cobra.Command {
	flags := selectFlags{mayBeGone: true}
	command := &cobra.Command{
		Use:   "drop [ID...]",
		Short: "Remove dead letters for good",
		Long: `Removes the dead letters that are selected. Their messages are lost: ` + "`idem dlq show --raw`" + ` keeps a payload. What is
selected is what was there when you were asked.

` + placeHelp,
		Example: `  idem dlq drop 17 18 --reason 'test data'
  idem dlq drop --scope mail --until 720h --reason 'nobody wants these mails any more' --max 5000`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.drop(cmd.Context(), std, args) },
	}
	flags.add(command)
	return command
}

func (f *selectFlags) drop(ctx context.Context, std streams, args []string) error {
	if err := f.checkSelection(args); err != nil {
		return err
	}
	s, err := f.openOne(ctx, !f.dryRun)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := f.selected(ctx, std, s, args)
	if err != nil {
		return err
	}
	count := len(found.ids)
	stop, err := f.preview(std, func() error { return found.show(ctx, std, f.json(), s) }, "%d would be dropped", count)
	if stop || err != nil {
		return err
	}
	var dropped int64
	err = f.carryOut(ctx, std, s, change{command: "dlq drop", what: fmt.Sprintf("drop %s of %s for good", counted(count, "dead letter"), s.Place()), target: found.target, count: count},
		func() (int64, error) {
			dropped, err = inPages(found.ids, func(ids []int64) (int, error) { return (&chosen{s, found}).drop(ctx, ids) })
			return dropped, err
		})
	if err != nil {
		return err
	}
	if since := int64(count) - dropped; since > 0 {
		fmt.Fprintf(std.err, "%d were redriven or dropped by somebody else since, and skipped\n", since)
		found.skipped += int(since)
	}
	if f.json() {
		return show.Line(std.out, map[string]int64{"dropped": dropped, "skipped": int64(found.skipped)})
	}
	fmt.Fprintf(std.out, "dropped %d\n", dropped)
	return nil
}
