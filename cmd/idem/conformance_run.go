package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/conformance"
)

// runFlags are the flags of `idem conformance run`.
type runFlags struct {
	selection     conformance.Selection
	vectors       string
	knownFailures string
	report        string
	output        string
	timeout       time.Duration
	startTimeout  time.Duration
	repeat        int
	parallel      int
	strict        bool
}

func newConformanceRun(std streams) *cobra.Command {
	var flags runFlags
	command := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGS]",
		Short: "Ask a port the vectors and give a verdict",
		Long: `Runs COMMAND as a port, asks it every selected case and says whether it is conformant.

A crash, a hang or a wrong line fails the case it belongs to; the port is started again and the
rest goes on. Standard error is a log: its end is shown with a failure and never read as an answer.

Known failures are listed in a TOML file, each with a reason:

    [[known_failure]]
    case = "timestamp-offset-*"
    reason = "offsets of more than 18 hours, issue 12"

They are asked like all others. One that passes, or that matches no case, is not conformant.

Exit code: 0 conformant, 1 not conformant, 2 usage, 3 the port could not be run.`,
		Example: `  idem conformance run -- conformance/go/port
  idem conformance run --group decimal --case 'decimal-exponent-*' -- python3 -m port
  idem conformance run --known-failures known-failures.toml --report junit --output report.xml -- ./port`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return errors.New("the port's command goes after --, as in: idem conformance run -- ./port")
			}
			return flags.run(cmd, conformance.Command{Path: args[0], Args: args[1:]}, std)
		},
	}
	addSelection(command, &flags.selection, &flags.vectors)
	f := command.Flags()
	f.StringVar(&flags.knownFailures, "known-failures", "", "TOML list of the cases that are known to fail")
	f.StringVar(&flags.report, "report", "text", "kind of report: text, json or junit")
	f.StringVar(&flags.output, "output", "", "write the report to this file, and the text report to standard output")
	f.DurationVar(&flags.timeout, "timeout", 2*time.Second, "time limit for one answer")
	f.DurationVar(&flags.startTimeout, "start-timeout", 5*time.Minute, "time limit for the hello, within which a port may build what it needs")
	f.Lookup("start-timeout").DefValue = "5m" // not 5m0s
	f.IntVar(&flags.repeat, "repeat", 1, "ask every case this many times")
	f.IntVar(&flags.parallel, "parallel", 1, "share the cases among this many processes")
	f.BoolVar(&flags.strict, "strict", false, "also check what no case can: an unknown op, the end of input without end, lines that are no JSON object")
	offer(command, "report", "text", "json", "junit")
	return command
}

func (f *runFlags) run(cmd *cobra.Command, port conformance.Command, std streams) error {
	write, err := conformanceWriter(f.report)
	if err != nil {
		return err
	}
	if f.timeout <= 0 || f.startTimeout <= 0 || f.repeat < 1 || f.parallel < 1 {
		return errors.New("--timeout, --start-timeout, --repeat and --parallel are more than 0")
	}
	opts := conformance.Options{
		Selection: f.selection, Repeat: f.repeat, Parallel: f.parallel, Strict: f.strict,
		Limits: conformance.Limits{Case: f.timeout, Start: f.startTimeout},
	}
	suite, err := loadSuite(f.vectors)
	if err != nil {
		return err
	}
	if _, err := suite.Select(f.selection); err != nil {
		return err
	}
	if f.vectors != "" {
		if opts.Required, err = requiredGroups(); err != nil {
			return err
		}
	}
	if opts.KnownFailures, err = readKnownFailures(f.knownFailures); err != nil {
		return err
	}
	output, err := createReport(f.output)
	if err != nil {
		return err
	}
	progress := newProgress(std.err)
	opts.Progress = progress.show
	report, err := conformance.Run(cmd.Context(), suite, port, opts)
	progress.clear()
	if err != nil {
		return notRun(err)
	}
	if err := writeReport(report, write, output, std.out); err != nil {
		return brokenf("write the report: %w", err)
	}
	if !report.Conformant() {
		return &exit{code: exitNo}
	}
	return nil
}

// notRun adds to an error what the port said on its standard error.
func notRun(err error) error {
	var e *conformance.NotRunError
	if !errors.As(err, &e) {
		return err
	}
	if e.Stderr != "" {
		err = fmt.Errorf("%w; the end of its standard error:\n%s", err, e.Stderr)
	}
	return &exit{exitNotRun, fmt.Errorf("the port could not be run: %w", err)}
}

func conformanceWriter(kind string) (reportWriter[*conformance.Report], error) {
	switch kind {
	case "text":
		return (*conformance.Report).WriteText, nil
	case "json":
		return plain((*conformance.Report).WriteJSON), nil
	case "junit":
		return plain((*conformance.Report).WriteJUnit), nil
	}
	return nil, fmt.Errorf("--report %s: it is text, json or junit", kind)
}

func readKnownFailures(file string) ([]conformance.KnownFailure, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, brokenf("--known-failures: %w", err)
	}
	known, err := conformance.ParseKnownFailures(data)
	if err != nil {
		return nil, brokenf("--known-failures %s: %w", file, err)
	}
	return known, nil
}
