package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/store"
)

// redriveFlags are the flags of `idem dlq redrive`.
type redriveFlags struct {
	selectFlags
	deadTopic
	campaign        string
	secondEffect    bool
	rate            float64
	payload, schema string
}

func newDLQRedrive(std streams) *cobra.Command {
	var flags redriveFlags
	command := &cobra.Command{
		Use:   "redrive [ID...]",
		Short: "Give dead letters another life, once what stopped them is repaired",
		Long: `Writes a delivery for each dead letter that is selected, which the scheduler of retries publishes. The message keeps its
key, so that it has one effect however often it is redriven. What is selected is what was there when you were asked.

A TOO_OLD message may have had its effect, which no record tells any more: it stays, unless --allow-second-effect.

With --payload the one dead letter gets another payload: the bytes of a file, or with --schema, of a file .json, the
message in protobuf's JSON, encoded as the old payload was, with the fields that are never shown. --dry-run shows what
changes: with --schema field by field, without it the sizes. With --schema a repair whose fields say another key is
refused, unless --allow-second-effect.

With --topic the dead letters are those of a topic of Kafka, and ids are PARTITION/OFFSET: they are published to the retry
topic at once, and stay in theirs.
The database is the one of the service, whose records say which had another life already.

` + placeHelp,
		Example: `  idem dlq redrive --scope payments --reject-reason NO_RATE --dry-run
  idem dlq redrive --scope payments --reject-reason NO_RATE --reason 'rates of July are loaded'
  idem dlq redrive 17 --payload repaired.json --schema image.binpb --reason 'amount in cents'
  idem dlq redrive --topic orders.dlq.payments --reject-reason NO_RATE --reason 'rates of July are loaded'
  idem dlq redrive 3/42 0/17 --topic orders.dlq.payments --reason 'rates of July are loaded'`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	flags.selectFlags.add(command)
	flags.deadTopic.add(command)
	f := command.Flags()
	f.StringVar(&flags.campaign, "name", "", "of a redrive with --topic, so that it goes on where it was interrupted (default: the time)")
	f.BoolVar(&flags.secondEffect, "allow-second-effect", false, "redrive TOO_OLD ones too, which may have had their effect, and a repair of another key")
	f.Float64Var(&flags.rate, "rate", 100, "at most so many a second")
	f.StringVar(&flags.payload, "payload", "", "file with another payload for the one dead letter")
	f.StringVar(&flags.schema, "schema", "", "directory of .proto files, or an image: for a payload in JSON, and to check its key")
	return command
}

func (f *redriveFlags) run(ctx context.Context, std streams, args []string) error {
	if f.deadTopic.topic != "" {
		return f.runTopic(ctx, std, args)
	}
	if err := f.check(args); err != nil {
		return err
	}
	repair, schema, err := f.repair(ctx)
	if err != nil {
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
	sample := func() error { return found.show(ctx, std, f.json(), s) }
	if repair != nil { // a file that does not fit is seen before anybody is asked
		d, err := letterByID(ctx, s, found.ids[0])
		if err != nil {
			return unreached(ctx, err, s.DSN)
		}
		if d != nil {
			changed, err := f.checkRepair(std, schema, d, repair)
			if err != nil {
				return failf("%w: nothing was changed", err)
			}
			j := letterOf(s.Name, d)
			j.Repair = changed
			sample = func() error { return f.showRepair(std, &letterSheet, d, j, changed) }
		}
	}
	count, stop, err := f.previewRedrive(std, len(found.ids), found.tooOld, sample)
	if stop || err != nil {
		return err
	}
	var report deadletter.Report
	err = f.carryOut(ctx, std, s, change{command: "dlq redrive", what: fmt.Sprintf("redrive %s of %s", counted(count, "dead letter"), s.Place()), target: f.targetOf(found), count: count},
		func() (int64, error) {
			report, err = f.redrive(ctx, s, found, repair)
			report.Skipped += int64(found.skipped)
			return report.Redriven, err
		})
	if err != nil {
		return err
	}
	return f.tell(std, report)
}

// previewRedrive is preview, and says how many stay since they are TOO_OLD.
func (f *redriveFlags) previewRedrive(std streams, count, tooOld int, sample func() error) (left int, stop bool, err error) {
	if f.secondEffect {
		tooOld = 0
	}
	left = count - tooOld
	stop, err = f.preview(std, sample, "%d would be redriven", left)
	if tooOld > 0 && err == nil {
		fmt.Fprintf(std.err, "%d are TOO_OLD and stay: they may have had their effect; --allow-second-effect redrives them\n", tooOld)
	}
	if left == 0 && !stop {
		err = failf("nothing was redriven")
	}
	return left, stop, err
}

func (f *redriveFlags) check(args []string) error {
	switch {
	case f.payload != "" && len(args) != 1:
		return errors.New("--payload is for one dead letter: give its id")
	case f.payload == "" && f.schema != "":
		return errors.New("--schema goes with --payload")
	case strings.HasSuffix(f.payload, ".json") && f.schema == "":
		return errors.New("--payload is JSON: --schema says how to encode it")
	case f.campaign != "" && f.deadTopic.topic == "":
		return errors.New("--name goes with --topic")
	case !(f.rate > 0): // NaN, too
		return errors.New("--rate is more than 0")
	}
	return f.checkSelection(args)
}

// payloadReplaced ends the target of an operation that repaired a payload.
const payloadReplaced = " payload replaced"

// targetOf adds what permits a second effect, and a payload that was replaced, to the log.
func (f *redriveFlags) targetOf(found *selection) string {
	target := found.target
	if f.secondEffect {
		target += " allow-second-effect"
	}
	if f.payload != "" {
		target += payloadReplaced
	}
	return target
}

func (f *redriveFlags) redrive(ctx context.Context, s *connect.Store, found *selection, repair func(*store.DeadLetter) ([]byte, error)) (deadletter.Report, error) {
	r, err := deadletter.New(&chosen{s, found}, s, deadletter.Config{
		Limit: -1, Rate: f.rate, Repair: repair, AllowSecondEffect: f.secondEffect, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return deadletter.Report{}, err
	}
	return r.Run(ctx, store.DeadLetterFilter{})
}

// tell says what was done. What was not redriven makes the answer no.
func (f *redriveFlags) tell(std streams, r deadletter.Report) error {
	if f.json() {
		err := show.Line(std.out, map[string]int64{"redriven": r.Redriven, "skipped": r.Skipped, "refused": r.Refused, "failed": r.Failed})
		if err != nil {
			return err
		}
	} else {
		fmt.Fprintf(std.out, "redriven %d; skipped %d (redriven or dropped already), refused %d (TOO_OLD), failed %d\n",
			r.Redriven, r.Skipped, r.Refused, r.Failed)
	}
	switch {
	case r.FirstError != nil:
		return failf("%s", show.Text(r.FirstError.Error()))
	case r.Refused > 0:
		return &exit{code: exitNo}
	}
	return nil
}
