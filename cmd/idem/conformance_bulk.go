package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/conformance"
)

// bulkFlags are the flags of `idem conformance bulk`.
type bulkFlags struct {
	opts    conformance.BulkOptions
	print   bool
	against string
	write   string
	versus  string
	stats   bool
	asJSON  bool
}

func newConformanceBulk(std streams) *cobra.Command {
	var flags bulkFlags
	command := &cobra.Command{
		Use:   "bulk [flags] -- COMMAND [ARGS]",
		Short: "Ask a port a million cases made from a seed, and compare the digest",
		Long: `Asks a port cases made from a seed: every operation but message, valid, invalid, and most of all
on the boundary between the two. The answers are compared by their digests, block by block, with
the published ones, of seed 1; with --vs they are compared with those of another port, and the
first case that differs is shown. A block is 10000 cases, and one that is not whole is not compared.`,
		Example: `  idem conformance bulk -- conformance/java/port
  idem conformance bulk --seed 7 --count 100000 --vs conformance/go/port -- ./port
  idem conformance bulk --print --count 10`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.print {
				return flags.printCases(cmd, args, std)
			}
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return errors.New("the port's command goes after --, as in: idem conformance bulk -- ./port")
			}
			return flags.run(cmd, conformance.Command{Path: args[0], Args: args[1:]}, std)
		},
	}
	f := command.Flags()
	f.Uint64Var(&flags.opts.Seed, "seed", 1, "seed of the stream")
	f.IntVar(&flags.opts.Count, "count", 1_000_000, "number of cases")
	f.BoolVar(&flags.print, "print", false, "write the cases, a line each, and ask nobody")
	f.StringVar(&flags.against, "against", "", "compare with the digests in this file (default: those within this program)")
	f.StringVar(&flags.write, "write", "", "write the digests to this file")
	f.StringVar(&flags.versus, "vs", "", "command of another port to compare with")
	f.BoolVar(&flags.stats, "stats", false, "show how often each operation is asked and how it ends")
	f.BoolVar(&flags.asJSON, "json", false, "write the outcome as one JSON object")
	f.DurationVar(&flags.opts.Limits.Case, "timeout", 2*time.Second, "time limit for one answer")
	f.DurationVar(&flags.opts.Limits.Start, "start-timeout", 5*time.Minute, "time limit for the hello")
	f.Lookup("start-timeout").DefValue = "5m" // not 5m0s
	return command
}

func (f *bulkFlags) printCases(cmd *cobra.Command, args []string, std streams) error {
	if len(args) > 0 {
		return errors.New("--print asks no port")
	}
	w := bufio.NewWriterSize(std.out, 1<<16)
	err := conformance.PrintBulk(f.opts.Seed, f.opts.Count, func(line []byte) error {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		_, err := w.Write(line)
		return err
	})
	if err = errors.Join(err, w.Flush()); err != nil {
		return brokenf("%w", err)
	}
	return nil
}

// bulkOutcome is the outcome of `idem conformance bulk` as JSON.
type bulkOutcome struct {
	Port       conformance.Hello              `json:"port"`
	Seed       uint64                         `json:"seed"`
	Count      int                            `json:"count"`
	Digest     string                         `json:"digest"`
	Compared   bool                           `json:"compared"`
	Cases      int                            `json:"compared_with_published"`
	Equal      bool                           `json:"equal"`
	Blocks     []int                          `json:"differing_blocks"`
	Difference *conformance.BulkDifference    `json:"difference,omitempty"`
	Ops        map[string]*conformance.BulkOp `json:"ops"`
	Millis     int64                          `json:"duration_ms"`
}

func (f *bulkFlags) run(cmd *cobra.Command, port conformance.Command, std streams) error {
	if f.opts.Count < 1 {
		return errors.New("--count is more than 0")
	}
	published, err := f.published(cmd)
	if err != nil {
		return err
	}
	progress := newProgress(std.err)
	f.opts.Progress = progress.show
	var results []*conformance.BulkResult
	var diff *conformance.BulkDifference
	if f.versus != "" {
		results, diff, err = conformance.CompareBulk(cmd.Context(), port, shell(f.versus), f.opts)
	} else {
		var one *conformance.BulkResult
		one, err = conformance.RunBulk(cmd.Context(), port, f.opts)
		results = append(results, one)
	}
	progress.clear()
	if err != nil {
		return notRun(err)
	}
	r := results[0]
	var against comparison
	if published != nil {
		if against.cases, against.differ, err = r.Compare(published); err != nil {
			return brokenf("%w", err)
		}
	}
	if f.write != "" {
		if err := f.writeDigests(r); err != nil {
			return err
		}
	}
	compared := against.cases > 0 || f.versus != ""
	equal := compared && diff == nil && len(against.differ) == 0
	sound := !slices.ContainsFunc(results, func(r *conformance.BulkResult) bool { return !r.Sound() })
	if f.asJSON {
		outcome := bulkOutcome{
			Port: r.Port, Seed: r.Seed, Count: r.Count, Digest: r.Digest, Compared: compared,
			Cases: against.cases, Equal: equal && sound, Blocks: []int{}, Difference: diff, Ops: r.Ops, Millis: r.Took.Milliseconds(),
		}
		for _, d := range against.differ {
			outcome.Blocks = append(outcome.Blocks, d.Block)
		}
		err = writeJSON(std.out, outcome)
	} else {
		f.tell(std, results, against, diff)
	}
	switch {
	case err != nil:
		return err
	case !compared && f.write == "":
		return f.nothingCompared(published)
	case compared && !equal || !sound:
		return &exit{code: exitNo}
	}
	return nil
}

// comparison is what came of the published digests: how many cases were compared, and which of their
// blocks differ.
type comparison struct {
	cases  int
	differ []conformance.BulkMismatch
}

// nothingCompared says why there is no verdict.
func (f *bulkFlags) nothingCompared(published *conformance.BulkDigests) error {
	switch {
	case published == nil:
		return failf("nothing to compare: no digests are published for seed %d; use --vs", f.opts.Seed)
	case f.opts.Count < conformance.BulkBlock:
		return failf("nothing to compare: %d is below the block of %d; use --vs or --count %[2]d", f.opts.Count, conformance.BulkBlock)
	default:
		return failf("nothing to compare: the digests are those of %d cases; use --vs or --count %[1]d", published.Count)
	}
}

// shell returns the command that a shell makes of a line.
func shell(line string) conformance.Command {
	return conformance.Command{Path: "/bin/sh", Args: []string{"-c", "exec " + line}}
}

// published returns the digests to compare with; nil where there are none for this stream.
func (f *bulkFlags) published(cmd *cobra.Command) (*conformance.BulkDigests, error) {
	var data []byte
	var err error
	if f.against != "" {
		data, err = os.ReadFile(f.against)
	} else if data, err = fs.ReadFile(embeddedVectors, conformance.BulkFile); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, brokenf("--against: %w", err)
	}
	d, err := conformance.ParseBulkDigests(data)
	if err != nil {
		return nil, brokenf("the digests in %s: %w", pickText(f.against, conformance.BulkFile), err)
	}
	if f.against != "" {
		if !cmd.Flags().Changed("seed") {
			f.opts.Seed = d.Seed
		}
		if !cmd.Flags().Changed("count") {
			f.opts.Count = d.Count
		}
		if f.opts.Seed != d.Seed {
			return nil, fmt.Errorf("--seed %d: the digests in %s are those of seed %d", f.opts.Seed, f.against, d.Seed)
		}
	} else if f.opts.Seed != d.Seed || f.write != "" {
		return nil, nil
	}
	return d, nil
}

func pickText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (f *bulkFlags) writeDigests(r *conformance.BulkResult) error {
	if !r.Sound() {
		return failf("%s is not written: the port did not answer every case", f.write)
	}
	data, err := json.MarshalIndent(r.BulkDigests, "", "  ")
	if err == nil {
		err = os.WriteFile(f.write, append(data, '\n'), 0o644)
	}
	if err != nil {
		return brokenf("--write: %w", err)
	}
	return nil
}

// tell writes the outcome for people.
func (f *bulkFlags) tell(std streams, results []*conformance.BulkResult, against comparison, diff *conformance.BulkDifference) {
	w := std.out
	for _, r := range results {
		fmt.Fprintf(w, "%s %s: %d cases of seed %d, %.0f a second\n", r.Port.Name, r.Port.Version, r.Count, r.Seed, float64(r.Count)/r.Took.Seconds())
		fmt.Fprintf(w, "digest %s\n", r.Digest)
		tellFaults(std, r)
	}
	if f.stats {
		tellStats(std, results[0])
	}
	if diff != nil {
		fmt.Fprintf(w, "\n%d cases differ, the first is %d:\n  op     %s\n  input  %s\n", diff.Total, diff.Seq, diff.Op, diff.Input)
		for i, r := range results {
			fmt.Fprintf(w, "  %s\n         %s\n", r.Port.Name, diff.Answers[i])
		}
	} else if f.versus != "" {
		fmt.Fprintln(w, "the two ports give the same answers")
	}
	switch n := len(against.differ); {
	case n > 0:
		against.tell(w)
		if f.versus == "" {
			fmt.Fprintln(w, "A port that is right shows the first case: --vs 'OTHER PORT'")
		}
	case against.cases > 0 && diff == nil:
		which := "all"
		if against.cases < results[0].Count {
			which = "the first"
		}
		fmt.Fprintf(w, "%s %d cases have the published digests\n", which, against.cases)
	}
}

// tell lists the blocks that differ.
func (c comparison) tell(w io.Writer) {
	blocks := (c.cases + conformance.BulkBlock - 1) / conformance.BulkBlock
	fmt.Fprintf(w, "\n%d of %d blocks differ from the published ones, of %d cases compared:\n", len(c.differ), blocks, c.cases)
	for i, d := range c.differ {
		if i == 10 {
			fmt.Fprintln(w, "  …")
			break
		}
		fmt.Fprintf(w, "  block %d, cases %d to %d\n", d.Block, d.First, d.Last)
	}
}

func tellFaults(std streams, r *conformance.BulkResult) {
	w := std.out
	if r.FaultCount > 0 {
		fmt.Fprintf(w, "%d cases have no answer\n", r.FaultCount)
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(w, "  case %d  %s %s\n    %s\n", fault.Seq, fault.Op, fault.Input, &fault.Fault)
		if fault.Stderr != "" {
			fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(fault.Stderr, "\n", "\n    "))
		}
	}
	for _, op := range conformance.BulkOps() {
		if n := r.Unsupported[op]; n > 0 {
			fmt.Fprintf(w, "%s is unsupported: %d cases\n", op, n)
		}
	}
	for _, finding := range r.Findings {
		fmt.Fprintln(w, finding.Text)
	}
}

func tellStats(std streams, r *conformance.BulkResult) {
	for _, name := range conformance.BulkOps() {
		op := r.Ops[name]
		fmt.Fprintf(std.out, "  %-16s %7d cases, %7d valid", name, op.Cases, op.Valid)
		codes := make([]string, 0, len(op.Errors))
		for code := range op.Errors {
			codes = append(codes, code)
		}
		slices.SortFunc(codes, func(a, b string) int { return op.Errors[b] - op.Errors[a] })
		for _, code := range codes {
			fmt.Fprintf(std.out, ", %d %s", op.Errors[code], code)
		}
		fmt.Fprintln(std.out)
	}
}
