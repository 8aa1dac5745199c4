package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/source"
)

// breakingFlags are the flags of `idem breaking`.
type breakingFlags struct {
	lintFlags
	against string
}

func newBreaking(std streams) *cobra.Command {
	var flags breakingFlags
	command := &cobra.Command{
		Use:   "breaking [INPUT] --against REF",
		Short: "Find what a change of a schema alters: keys, order, delays, verdicts, classes, headers, generated names",
		Long: `Compares a schema with the one before it. INPUT is read as idem lint reads it; without one it is the schema of
idem.yaml, or else the current directory. REF is

  a git ref              main, v1.4.0, HEAD~1: INPUT's directory as it was then
  a repository and ref   .git#ref=main,subdir=proto
  a directory, an image  ../released/proto, image.binpb
  a module               buf.build/acme/shop:v1, where there is buf

Compare with what is deployed: the last release. A finding shows an example before and after, of messages that are made up.
A changed template of a key needs idempotency_key_previous, the template before, for one dedup retention.

A finding is placed in INPUT. Exit codes: 0 there is none, 1 there are findings, 2 an input cannot be read.`,
		Example: `  idem breaking --against main
  idem breaking proto --against v1.4.0
  idem breaking proto --against .git#ref=main,subdir=proto --format github`,
		Args: upTo("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	command.Flags().StringVar(&flags.against, "against", "", "the schema before: a git ref, a directory, an image or a module")
	flags.add(command)
	return command
}

func (f *breakingFlags) run(ctx context.Context, std streams, inputs []string) error {
	if f.against == "" {
		return errors.New("no --against: the schema before, as in --against main")
	}
	run, err := f.begin(lint.Change)
	if err != nil {
		return err
	}
	whole := len(inputs) == 0
	if whole {
		inputs = []string{run.repository.schema()}
	}
	defer fewCollections()()
	read, err := readSchemas(ctx, std, inputs)
	if err != nil {
		return err
	}
	after := read[0]
	before, committed, err := source.Against(ctx, f.against, inputs[0])
	if err != nil {
		return brokenf("--against %w", err)
	}
	out, err := run.open(std, whole, after)
	if err != nil {
		return err
	}
	findings := changes.Run(changes.Input{
		Before: changes.Side{Files: before.All, Paths: before.Paths},
		After:  changes.Side{Files: after.All, Paths: after.Paths},
		Facts:  run.facts(), Age: age(committed),
	}, run.wanted)
	return out.finish(findings, fmt.Sprintf("%s, against %s", counted(len(after.Paths), "file"), f.against))
}

// age is how long ago a commit was made; 0 where there is none.
func age(committed time.Time) time.Duration {
	if committed.IsZero() {
		return 0
	}
	return time.Since(committed)
}
