package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/lag"
	"github.com/idem-spec/idem/internal/operate/show"
)

// lagFlags are the flags of `idem lag`.
type lagFlags struct {
	kafka          kafkaFlags
	watchFlags     watchFlags
	output         string
	all            bool
	groups, topics []string
	since, window  time.Duration
	stuck, measure time.Duration
}

func newLag(std streams) *cobra.Command {
	var flags lagFlags
	command := &cobra.Command{
		Use:   "lag [--group GROUP...] [--topic TOPIC...]",
		Short: "Say how far consumer groups are behind, since when, and why",
		Long: `Shows each partition that a group reads: where the group goes on and where the partition ends, what comes and what is
done, whether the lag rises, is flat or drains, how old the first message is that is not done, and who has the partition.
Below it says in a line each what is the matter, and what to do.

The past is read from Kafka: the group's commits in __consumer_offsets (which takes DESCRIBE and READ on that topic), and
the offsets at times past. Where it may not be read, or has nothing, it measures for as long as --for.

A lag rises or drains where within --window it was farther from where it is than by 10 messages, a tenth of those that came
or were done, and what the group usually commits at once; it is flat where it was not, or has not changed for a tenth of
--window. It began to rise when it was low for the last time, which is known to a thirtieth of --since, better within the
last minutes, and to --interval while it watches. A partition is stuck that had something to do and has not moved for --stuck.`,
		Example: `  idem lag --context prod
  idem lag --group payments --watch
  idem lag --group payments -o json | jq '.partitions[] | select(.slope == "rising")'`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.kafka.add(command)
	flags.watchFlags.add(command)
	f := command.Flags()
	f.StringVarP(&flags.output, "output", "o", "table", "table or json, an object for each group a line")
	f.BoolVar(&flags.all, "all", false, "show partitions without lag, too; JSON always has them")
	f.StringSliceVar(&flags.groups, "group", nil, "of these groups (default: all that there are)")
	f.StringSliceVar(&flags.topics, "topic", nil, "of these topics (default: all that the groups read)")
	f.DurationVar(&flags.since, "since", time.Hour, "how far to look back")
	f.DurationVar(&flags.window, "window", 5*time.Minute, "over which time rates and slopes are told")
	f.DurationVar(&flags.stuck, "stuck", time.Minute, "how long a partition may stay where it is with something to do")
	f.DurationVar(&flags.measure, "for", 10*time.Second, "how long to measure where the past cannot be read; 0 does not")
	offer(command, "output", "table", "json")
	offerFunc(command, "group", flags.groupNames)
	return command
}

// groupNames are those of the cluster, where it answers at once.
func (f *lagFlags) groupNames(cmd *cobra.Command) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), time.Second)
	defer cancel()
	b, err := f.kafka.open(false)
	if err != nil {
		return nil
	}
	defer func() { _ = b.Close() }()
	names, _ := b.GroupNames(ctx) // what cannot be offered is typed
	return names
}

func (f *lagFlags) check() error {
	switch {
	case f.output != "table" && f.output != "json":
		return fmt.Errorf("--output %s: it is table or json", f.output)
	case f.window < time.Second || f.since < f.window:
		return fmt.Errorf("--window %v and --since %v: the window is at least 1s, and no longer than what is looked back", f.window, f.since)
	case f.stuck < 0 || f.measure < 0:
		return errors.New("--stuck and --for are not below 0")
	}
	return f.watchFlags.check()
}

func (f *lagFlags) run(ctx context.Context, std streams) error {
	if err := f.check(); err != nil {
		return err
	}
	b, err := f.kafka.open(false)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	l := &lag.Looker{Broker: b, Groups: f.groups, Topics: f.topics, Since: f.since, Window: f.window, Stuck: f.stuck, Measure: f.measure,
		Measuring: func(why string) {
			fmt.Fprintf(std.err, "measuring for %v: %s (--for 0 does not)\n", f.measure, show.Text(why))
		}}
	if f.watchFlags.watch {
		l.Measure = 0 // it looks again anyway
	}
	told := 0
	return f.watchFlags.run(ctx, std, func() error {
		report, err := l.Look(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, lag.ErrNoGroup), errors.Is(err, lag.ErrNoTopic):
			return failf("%w", err)
		case err != nil:
			return brokenf("%w", err)
		}
		if f.output == "json" {
			err = lagLines(std.out, report)
		} else {
			if f.watchFlags.watch {
				fmt.Fprintf(std.out, "at %s\n", report.At.UTC().Format(time.RFC3339))
			}
			lagTables(std.out, report, f.since, f.all)
		}
		if isTerminal(std.out) && f.watchFlags.watch {
			told = 0 // the screen was cleared
		}
		for ; told < len(report.Notes); told++ {
			fmt.Fprintln(std.err, "note:", show.Text(report.Notes[told]))
		}
		if len(report.Groups) == 0 {
			fmt.Fprintln(std.err, "no groups")
		}
		return err
	})
}
