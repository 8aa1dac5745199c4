package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/source"
)

// schemaFlags are the flags of `idem lint`.
type schemaFlags struct {
	lintFlags
}

func newLint(std streams) *cobra.Command {
	var flags schemaFlags
	command := &cobra.Command{
		Use:   "lint [INPUT...]",
		Short: "Find what is wrong in a schema: keys that are not unique, not stable, not the same in two languages",
		Long: `Checks schemas against the spec. An INPUT is a directory of .proto files, a module or workspace of
buf (buf.yaml), or an image, which ` + "`buf build -o image.binpb`" + ` writes; - is an image on standard input.
Each is linted by itself. Without one it is the schema of idem.yaml, or else the current directory.

A finding is a line on standard output. Exit codes: 0 there is none, 1 there are findings, 2 an input
cannot be read.`,
		Example: `  idem lint
  idem lint proto
  buf build -o - | idem lint -
  idem lint --format sarif > idem.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	flags.add(command)
	return command
}

func (f *schemaFlags) run(ctx context.Context, std streams, inputs []string) error {
	run, err := f.begin(lint.Schema)
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
	out, err := run.open(std, whole, read...)
	if err != nil {
		return err
	}
	files := 0
	var findings []lint.Finding
	for _, s := range read {
		files += len(s.Paths)
		findings = append(findings, schemas.Run(schemas.Input{Files: s.All, Paths: s.Paths, Source: s.Source, Facts: run.facts()}, run.wanted)...)
	}
	return out.finish(findings, counted(files, "file"))
}

// schema is what a command reads that is told nothing.
func (r *repository) schema() string {
	if r.Schema == "" {
		return r.dir
	}
	return r.path(r.Schema)
}

// readSchemas reads all inputs.
func readSchemas(ctx context.Context, std streams, inputs []string) ([]*source.Files, error) {
	var all []*source.Files
	for _, input := range inputs {
		files, err := readSchema(ctx, std, input)
		if err != nil {
			return nil, brokenf("%w", err)
		}
		if files.Note != "" {
			fmt.Fprintf(std.err, "idem: %s: %s\n", input, files.Note)
		}
		all = append(all, files)
	}
	return all, nil
}

// readSchema reads a directory or an image, - from standard input.
func readSchema(ctx context.Context, std streams, input string) (*source.Files, error) {
	if input == "-" {
		return source.ReadImage(std.in, "standard input")
	}
	return source.Read(ctx, input)
}

// fewCollections has the garbage collector wait longer, and returns what undoes it: a compiler makes
// little garbage beside what it keeps, and is soon done.
func fewCollections() (undo func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	was := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(was) }
}
