package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/checklist"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// faultsFlags are the flags of `idem faults`.
type faultsFlags struct {
	schema string
	only   []string
	list   bool
	report string
	output string
	outage time.Duration
	logs   string
}

func newFaults(std streams) *cobra.Command {
	var flags faultsFlags
	command := &cobra.Command{
		Use:   "faults ADAPTER.yaml...",
		Short: "Run the checklist of faults against your own service",
		Long: `Starts a service, injects the faults that such services meet, and says what was lost, done twice or
given up: duplicates, crashes between commit and commit, timeouts until the dead letter, a message in
reversed order, Redis or a whole data centre away, poison, zombies, a failover.

The service may be in any language. An adapter, a YAML file, says how it is started, what it consumes,
and where its effects are seen; docs: https://github.com/idem-spec/idem/blob/main/cmd/idem/faults.md.
Several adapters make one report, and a message that all of them consume is sent to all at once.

Each fault says what was injected, what was seen, and the proof. A fault that does not apply is skipped
with its reason; one that could not be injected is no pass. Run it against servers of a test: it
makes topics and a database of its own, and cuts the service off from them by proxies.

Exit code: 0 all green, 1 a fault was found, 2 usage, or an adapter or server that cannot be used,
3 the service could not be started.`,
		Example: `  idem faults --schema proto payments.yaml
  idem faults --schema proto --fault zombie-worker,poison-bytes payments.yaml
  idem faults --schema image.binpb --report html --output faults.html orders.yaml payments.yaml
  idem faults --list`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), args, std) },
	}
	f := command.Flags()
	f.StringVar(&flags.schema, "schema", "", "directory of .proto files, or an image, of the messages (default: what idem.yaml says)")
	f.StringSliceVar(&flags.only, "fault", nil, "these faults alone, joined by commas")
	f.BoolVar(&flags.list, "list", false, "list the faults")
	f.StringVar(&flags.report, "report", "text", "kind of report: text, junit, html or json")
	f.StringVar(&flags.output, "output", "", "write the report to this file, and the text report to standard output")
	f.DurationVar(&flags.outage, "outage", 2*time.Minute, "how long the outage of everything downstream is")
	f.Lookup("outage").DefValue = "2m" // not 2m0s
	f.StringVar(&flags.logs, "logs", "", "keep what the services say in this directory (default: a temporary one, removed where all is green)")
	offer(command, "report", "text", "junit", "html", "json")
	offer(command, "fault", faultNames()...)
	return command
}

func faultNames() []string {
	var names []string
	for _, l := range checklist.Lines() {
		names = append(names, l.Name)
	}
	return names
}

func (f *faultsFlags) run(ctx context.Context, files []string, std streams) error {
	write, err := faultsWriter(f.report)
	if err != nil {
		return err
	}
	for _, name := range f.only {
		if !slices.Contains(faultNames(), name) {
			return fmt.Errorf("--fault %s: there is none; idem faults --list shows them%s", name, checklist.Near(name))
		}
	}
	if f.outage <= 0 {
		return errors.New("--outage is more than 0")
	}
	if f.list {
		return listFaults(std.out)
	}
	if len(files) == 0 {
		return errors.New("no adapter: a YAML file that says how the service is started and what it consumes")
	}
	var adapters []*checklist.Adapter
	for _, file := range files {
		a, err := checklist.ReadAdapter(file)
		if err != nil {
			return brokenf("%w", err)
		}
		adapters = append(adapters, a)
	}
	return f.check(ctx, adapters, write, std)
}

// check runs the checklist and writes the report.
func (f *faultsFlags) check(ctx context.Context, adapters []*checklist.Adapter, write reportWriter[*checklist.Report], std streams) error {
	set, err := f.set(ctx, adapters)
	if err != nil {
		return err
	}
	output, err := createReport(f.output)
	if err != nil {
		return err
	}
	logs, err := f.logsIn()
	if err != nil {
		return err
	}
	progress := newProgress(std.err)
	report, err := checklist.Run(ctx, adapters, checklist.Options{
		Schema: set, Only: f.only, Outage: f.outage, Logs: logs, Progress: faultsProgress(progress, std.err),
		Kafka: kafka.Config{ClientID: "idem-cli", Logger: slog.New(slog.DiscardHandler)},
	})
	progress.clear()
	if err != nil {
		return faultsNotRun(err, logs)
	}
	if err := writeReport(report, write, output, std.out); err != nil {
		return brokenf("write the report: %w", err)
	}
	if !report.Green() {
		fmt.Fprintln(std.err, "idem: the logs of the services are in", logs)
		return &exit{code: exitNo}
	}
	if f.logs == "" {
		_ = os.RemoveAll(logs) // a temporary directory
	}
	return nil
}

// faultsProgress tells what is under way: on a terminal by one line, else by a line for each fault, as CI's logs have it.
func faultsProgress(line *progress, w io.Writer) func(step, within string) {
	if isTerminal(w) {
		return func(step, within string) {
			if within != "" {
				step += ": " + within
			}
			line.tell(step)
		}
	}
	return func(step, within string) {
		if within == "" {
			fmt.Fprintln(w, step)
		}
	}
}

func faultsNotRun(err error, logs string) error {
	var start *checklist.StartError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &start):
		return &exit{exitNotRun, fmt.Errorf("%w\nAll that it said is in %s", err, logs)}
	}
	return brokenf("%w", err)
}

// set reads the schema, where there is one or an adapter needs it.
func (f *faultsFlags) set(ctx context.Context, adapters []*checklist.Adapter) (*schema.Set, error) {
	if f.schema == "" {
		if !slices.ContainsFunc(adapters, (*checklist.Adapter).NeedsSchema) {
			return nil, nil
		}
		var err error
		if f.schema, err = configuredSchema(); err != nil {
			return nil, err
		}
	}
	files, err := source.Read(ctx, f.schema)
	if err != nil {
		return nil, brokenf("%w", err)
	}
	set, problems := schema.Build(files.All, files.Paths)
	if len(problems) > 0 {
		return nil, brokenf("%s", schema.Report(problems))
	}
	return set, nil
}

func (f *faultsFlags) logsIn() (string, error) {
	if f.logs != "" {
		return f.logs, os.MkdirAll(f.logs, 0o700)
	}
	return os.MkdirTemp("", "idem-faults-")
}

func faultsWriter(kind string) (reportWriter[*checklist.Report], error) {
	switch kind {
	case "text":
		return (*checklist.Report).WriteText, nil
	case "json":
		return plain((*checklist.Report).WriteJSON), nil
	case "junit":
		return plain((*checklist.Report).WriteJUnit), nil
	case "html":
		return plain((*checklist.Report).WriteHTML), nil
	}
	return nil, fmt.Errorf("--report %s: it is text, junit, html or json", kind)
}

func listFaults(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range checklist.Lines() {
		fmt.Fprintf(table, "%s\t%s\n", l.Name, strings.TrimSpace(l.Text))
	}
	return table.Flush()
}
