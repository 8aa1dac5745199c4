package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// growFlags are the flags of `idem topic grow`.
type growFlags struct {
	kafka      kafkaFlags
	to, state  string
	partitions int32
	groups     []string
	ignore     []string
	databases  []string
	noDatabase bool
	dryRun     bool
	undo       bool
}

func newTopicGrow(std streams) *cobra.Command {
	var flags growFlags
	command := &cobra.Command{
		Use:   "grow TOPIC --to NEW --partitions N --group GROUP...",
		Short: "Move a topic to one with more partitions, and keep the order within each key",
		Long: `Moves a topic to a new one with more partitions. Partitions that are added to a topic in place
move its keys while older messages of theirs are still to be read elsewhere, and their order is
lost; this keeps it.

The steps, each of which is checked:
  1. create the new topic, and its retry and dead-letter topics, configured as the old ones are
  2. fence the old topic: it takes no more messages, whoever sends them
  3. wait until no outbox has a message for it; then producers may write to the new topic
  4. wait until each group has read it to the end, with no retry and no parked message left
  5. let each group begin the new topic at its first message; then consumers may read it

It waits as long as it takes. Interrupted, it goes on where it was when it is run again: --state is
the file that remembers. It refuses what would break the order, such as a group that reads the
topic and is not named, or one that reads the new topic too early.

In steps 3 and 4 the relay of an outbox needs the alias TOPIC=NEW. After step 5 the scheduler of
retries, the redriver of dead letters and the relay need it, as long as there is anything of the
old topic; before, they must not have it for retries.

The databases are those of the groups and of the producers' outboxes; --database may come several
times, and without one they are the stores of the context, or IDEM_DSN or DATABASE_URL.`,
		Example: `  idem topic grow orders --to orders-2 --partitions 24 --group payments --group mail --dry-run
  idem topic grow orders --to orders-2 --partitions 24 --group payments=payments-eu --no-database
  idem topic grow orders --to orders-2 --partitions 24 --group payments --undo`,
		Args: exactly("TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args[0]) },
	}
	flags.kafka.add(command)
	f := command.Flags()
	f.StringVar(&flags.to, "to", "", "the new topic")
	f.Int32Var(&flags.partitions, "partitions", 0, "how many partitions it gets")
	f.StringSliceVar(&flags.groups, "group", nil, "a group that reads the topic, or GROUP=SCOPE; all of them are to be named")
	f.StringSliceVar(&flags.ignore, "ignore-group", nil, "a group that has read it, and that nobody runs any more")
	f.StringSliceVar(&flags.databases, "database", nil, "a database with tables of idem, a PostgreSQL URL or sqlite:FILE")
	f.BoolVar(&flags.noDatabase, "no-database", false, "there is no database with retries or an outbox")
	f.BoolVar(&flags.dryRun, "dry-run", false, "check, and show what would be done")
	f.BoolVar(&flags.undo, "undo", false, "take the fence away, as long as the new topic is empty")
	f.StringVar(&flags.state, "state", "", "the file that remembers the steps (default: .idem-grow-TOPIC.json)")
	command.MarkFlagsMutuallyExclusive("database", "no-database")
	command.MarkFlagsMutuallyExclusive("dry-run", "undo")
	return command
}

func (f *growFlags) run(ctx context.Context, std streams, topic string) error {
	move, err := f.move(topic)
	if err != nil {
		return err
	}
	move.Report = func(text string) { fmt.Fprintln(std.out, text) }
	databases, err := f.openDatabases(ctx)
	if err != nil {
		return err
	}
	if len(databases) > 0 {
		defer databases.close()
		move.Tables = databases
	}
	b, err := f.kafka.open(!f.dryRun)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	move.Broker = b

	switch {
	case f.undo:
		if err = move.Undo(ctx); err == nil {
			fmt.Fprintf(std.out, "%s takes messages again\n", topic)
		}
	case f.dryRun:
		var plan []string
		if plan, err = move.Plan(ctx); err == nil && len(plan) == 0 {
			plan = []string{fmt.Sprintf("nothing: %s has moved to %s", topic, f.to)}
		}
		for _, line := range plan {
			fmt.Fprintln(std.out, line)
		}
	default:
		err = move.Run(ctx)
	}
	return growExit(ctx, err)
}

// growExit makes a refusal an answer of no; a cluster or database that cannot be asked is none.
func growExit(ctx context.Context, err error) error {
	var refused *kafka.GrowError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case errors.As(err, &refused), errors.Is(err, broker.ErrUnknownTopic):
		return failf("%w", err)
	}
	return brokenf("%w", err)
}

// move reads the flags and the file.
func (f *growFlags) move(topic string) (*kafka.Grow, error) {
	switch {
	case f.to == "":
		return nil, errors.New("no --to: name the new topic")
	case f.partitions < 1:
		return nil, errors.New("no --partitions: say how many the new topic gets")
	case len(f.groups) == 0:
		return nil, errors.New("no --group: name all groups that read the topic")
	}
	move := &kafka.Grow{Old: topic, New: f.to, Partitions: f.partitions, Ignore: f.ignore}
	for _, text := range f.groups {
		name, scope, _ := strings.Cut(text, "=")
		if name == "" {
			return nil, fmt.Errorf("--group %s: it is GROUP or GROUP=SCOPE", text)
		}
		move.Groups = append(move.Groups, kafka.GrowGroup{Name: name, Scope: scope})
	}
	if f.state == "" {
		f.state = ".idem-grow-" + topic + ".json"
	}
	data, err := os.ReadFile(f.state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, brokenf("--state: %w", err)
	default:
		if err := json.Unmarshal(data, &move.State); err != nil {
			return nil, brokenf("--state: %s: %w", f.state, err)
		}
	}
	move.Save = func(state kafka.GrowState) error { return saveGrowState(f.state, state) }
	return move, nil
}

// saveGrowState replaces the file as a whole, so that an interruption leaves the old one. A move that is
// undone leaves none.
func saveGrowState(file string, state kafka.GrowState) error {
	if state.Old == "" {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	next := file + ".new"
	if err := os.WriteFile(next, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

func (f *growFlags) openDatabases(ctx context.Context) (growDatabases, error) {
	if f.noDatabase || f.undo {
		return nil, nil
	}
	names := f.databases
	if len(names) == 0 {
		target, err := connect.Resolve(connect.Flags{Context: f.kafka.context})
		if err != nil {
			return nil, err
		}
		for _, d := range target.Stores {
			names = append(names, d.DSN)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("no --database, and DATABASE_URL is not set: name the databases that have retries and outboxes, or say --no-database")
	}
	return openGrowDatabases(ctx, names)
}
