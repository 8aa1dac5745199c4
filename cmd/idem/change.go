package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/store"
)

// changeFlags are those of commands that change something.
type changeFlags struct {
	reason string
	yes    bool
	dryRun bool
	max    int
}

func (f *changeFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.reason, "reason", "", "why, for the log of operations; required")
	flags.BoolVar(&f.yes, "yes", false, "do not ask, for scripts")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be changed, and change nothing")
	flags.IntVar(&f.max, "max", 1000, "change nothing where more than so many are selected")
}

func (f *changeFlags) check() error {
	switch {
	case f.reason == "" && !f.dryRun:
		return errors.New("no --reason: say why, for those who look at the log of operations later")
	case f.max < 1 || f.max > mostRows:
		return fmt.Errorf("--max %d: it is 1 to %d", f.max, mostRows)
	}
	return nil
}

// change is what a command is about to do to count rows.
type change struct {
	command string // "dlq redrive"
	what    string // "redrive 3 dead letters of payments"
	target  string // the filter or the ids
	count   int
	again   string // what goes on after an interruption, where it is not the same command
}

// preview shows a selection before it is changed, and says that it is not to be: with --dry-run.
func (f *changeFlags) preview(std streams, sample func() error, format string, count int) (stop bool, err error) {
	if f.dryRun || !f.yes {
		if err := sample(); err != nil {
			return true, err
		}
	}
	if f.dryRun {
		fmt.Fprintf(std.err, format+"\n", count)
	}
	return f.dryRun, nil
}

// carryOut asks, logs and does. do says how many rows it changed.
func (f *changeFlags) carryOut(ctx context.Context, std streams, s *connect.Store, c change, do func() (int64, error)) error {
	if err := f.confirm(ctx, std, c); err != nil {
		return err
	}
	id, err := s.BeginOperation(ctx, store.Operation{Operator: operator(), Command: c.command, Reason: f.reason, Target: c.target})
	if err != nil {
		return unreached(ctx, fmt.Errorf("nothing was changed, since it cannot be logged: %w", err), s.DSN)
	}
	n, err := do()
	// What was changed is logged also where the command was interrupted.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if logged := s.EndOperation(ending, id, n); logged != nil {
		err = errors.Join(err, fmt.Errorf("%d were changed, which the log of operations has not: %w", n, logged))
	}
	if err == nil {
		return nil
	}
	if n > 0 {
		fmt.Fprintf(std.err, "%d of %d were changed, and stay so; %s goes on with the rest\n", n, c.count, cmp.Or(c.again, "the same command"))
	}
	var own *exit
	if ctx.Err() == nil && errors.As(err, &own) {
		return err
	}
	return unreached(ctx, err, s.DSN)
}

// confirm has a person type the count: whoever meant three and reads 100,000 stops.
func (f *changeFlags) confirm(ctx context.Context, std streams, c change) error {
	if f.yes {
		return nil
	}
	return ask(ctx, std, isTerminalInput(std.in), c)
}

func ask(ctx context.Context, std streams, terminal bool, c change) error {
	if !terminal {
		return errors.New("nobody is there to confirm: standard input is no terminal; --yes goes on without")
	}
	fmt.Fprintf(std.err, "This will %s.\nType %d to go on: ", c.what, c.count)
	type typing struct {
		typed string
		err   error
	}
	answers := make(chan typing, 1)
	go func() { // reading cannot be interrupted, and the command has to be
		typed, err := bufio.NewReader(std.in).ReadString('\n')
		answers <- typing{strings.TrimSpace(typed), err}
	}()
	var a typing
	select {
	case <-ctx.Done():
		fmt.Fprintln(std.err, "\nnothing was changed")
		return ctx.Err()
	case a = <-answers:
	}
	if a.err != nil { // the input has ended, and the cursor is behind the question
		fmt.Fprintln(std.err)
	}
	switch a.typed {
	case fmt.Sprint(c.count):
		return nil
	case "":
		return failf("not confirmed: nothing was typed, and nothing was changed")
	}
	return failf("not confirmed (%q): nothing was changed", a.typed)
}

// isTerminalInput reports whether somebody can type an answer.
func isTerminalInput(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && isTerminal(file)
}

// mostRows is the most that a list or a selection may have: one more is asked for, of each store.
const mostRows = 1_000_000_000

// pageSize is how many rows are read or changed at once.
const pageSize = 100

// inPages does something to ids, some at a time, and says to how many it was done.
func inPages(ids []int64, do func(ids []int64) (int, error)) (done int64, err error) {
	for page := range slices.Chunk(ids, pageSize) {
		n, err := do(page)
		done += int64(n)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// countTime is how long a selection that is too large is counted on.
const countTime = 2 * time.Second

// tooMany refuses a selection of more than --max, of which n are read. It says how many there are, or, where that takes
// too long, how many at least: more reads how many come next, 0 at the end.
func (f *changeFlags) tooMany(n int, rows string, until time.Time, more func() (int, error)) error {
	least := "at least "
	for time.Now().Before(until) {
		next, err := more()
		if err != nil {
			break
		}
		if next == 0 {
			least = ""
			break
		}
		n += next
	}
	return failf("%s%d %s are selected, and --max is %d: nothing was changed; narrow the filter, or raise --max", least, n, rows, f.max)
}

// skip says which of the ids that were named are not changed, and why.
func skip[T any](std streams, why string, ids ...T) {
	if len(ids) > 0 {
		fmt.Fprintf(std.err, "%s: %s\n", why, idText(ids))
	}
}

func idText[T any](ids []T) string { return strings.Trim(fmt.Sprint(ids), "[]") }

// checkSelection wants ids, or a filter, or --all.
func checkSelection(ids []string, noFilter, all bool) error {
	switch {
	case len(ids) > 0 && (!noFilter || all):
		return errors.New("ids and a filter: say one of them")
	case len(ids) == 0 && noFilter && !all:
		return errors.New("nothing is selected: give ids, a filter, or --all")
	case !noFilter && all:
		return errors.New("--all and a filter: say one of them")
	}
	return nil
}

// noneOf says that there is nothing to change, by the text of a filter.
func noneOf(what, filter, why string) error {
	if filter == everything {
		return failf("there is no %s: nothing was changed", what)
	}
	return failf("no %s is selected by %s%s", what, filter, why)
}

// everything is the text of a filter that selects all.
const everything = "all"

// filterText is a filter in words, for people and the log of operations: pairs of names and values.
func filterText(pairs ...[2]string) string {
	var parts []string
	for _, p := range pairs {
		if p[1] != "" {
			parts = append(parts, p[0]+"="+p[1])
		}
	}
	return cmp.Or(strings.Join(parts, " "), everything)
}
