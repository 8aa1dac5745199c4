package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/lint/suppress"
	"github.com/idem-spec/idem/internal/source"
)

// schemaFlags are the flags of `idem lint`.
type schemaFlags struct {
	lintFlags
	fix, diff bool
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
cannot be read. ` + "`idem explain RULE`" + ` shows why a rule is there.`,
		Example: `  idem lint
  idem lint proto
  idem lint --fix
  buf build -o - | idem lint -
  idem lint --format sarif > idem.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	flags.add(command)
	f := command.Flags()
	f.BoolVar(&flags.fix, "fix", false, "mend in the files what can be mended without a thought, and show what is left")
	f.BoolVar(&flags.diff, "diff", false, "write nothing: show what --fix would change, in place of the findings")
	return command
}

func (f *schemaFlags) run(ctx context.Context, std streams, inputs []string) error {
	fixes := f.fix || f.diff
	switch {
	case fixes && f.writeBaseline:
		return errors.New("--fix and --write-baseline exclude each other")
	case fixes && slices.Contains(inputs, "-"):
		return errors.New("--fix: an image on standard input has no files to mend; name the directory")
	}
	run, err := f.begin(lint.Schema)
	if err != nil {
		return err
	}
	run.mending = fixes
	defer fewCollections()()
	linted, err := run.lint(ctx, std, inputs)
	if err != nil {
		return err
	}
	if f.diff {
		return linted.showDiff()
	}
	if f.fix {
		fixed, err := linted.mend()
		if err != nil {
			return err
		}
		if fixed {
			if linted, err = run.lint(ctx, std, inputs); err != nil {
				return err
			}
		}
	}
	return linted.report.finishKept(linted.kept, counted(linted.files, "file"))
}

// lintedSchemas are schemas with the findings that stand.
type lintedSchemas struct {
	std     streams
	report  *lintReport
	schemas []*source.Files
	files   int
	kept    []lint.Finding
}

// lint lints the inputs, or without one what the repository has.
func (l *linting) lint(ctx context.Context, std streams, inputs []string) (*lintedSchemas, error) {
	whole := len(inputs) == 0
	if whole {
		inputs = []string{l.repository.schema()}
	}
	read, err := readSchemasBy(ctx, std, inputs, source.ReadBare)
	if err != nil {
		return nil, err
	}
	for _, s := range read {
		if err := s.Locate(ctx, s.Mentioning(suppress.Marker)...); err != nil {
			return nil, brokenf("%w", err)
		}
	}
	if err := l.checkEvents(read, whole); err != nil {
		return nil, err
	}
	out, err := l.open(std, whole, read...)
	if err != nil {
		return nil, err
	}
	linted := &lintedSchemas{std: std, report: out, schemas: read}
	var findings []lint.Finding
	for _, s := range read {
		linted.files += len(s.Paths)
		found, err := l.find(ctx, s)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	linted.kept = out.keep(findings)
	return linted, nil
}

// checkEvents refuses facts of event types that no message has, and drops those that another input may have.
func (l *linting) checkEvents(read []*source.Files, whole bool) error {
	if len(l.repository.Facts.Events) == 0 {
		return nil
	}
	var eventTypes []string
	for _, s := range read {
		found, complete := schemas.EventTypes(s.All)
		if !complete {
			return nil // a message that is refused may have any
		}
		eventTypes = append(eventTypes, found...)
	}
	place := func(eventType string) string { return l.repository.EventPlaces[eventType] }
	if err := l.repository.Facts.CheckEvents(eventTypes, whole, place); err != nil {
		return brokenf("%w", err)
	}
	l.repository.Facts = l.repository.Facts.OfEvents(eventTypes)
	l.selection = suppress.Select(l.kind, l.repository.Config, catalog.Rules())
	return nil
}

// find runs the rules over a schema: once to know which files have findings, which mostly are few, and once
// more where they are, when the positions in these are known.
func (l *linting) find(ctx context.Context, s *source.Files) ([]lint.Finding, error) {
	run := func() []lint.Finding {
		return schemas.Run(schemas.Input{Files: s.All, Paths: s.Paths, Source: s.Source, Facts: l.facts()}, l.wanted)
	}
	findings := run()
	var files []string
	for _, f := range findings {
		files = append(files, f.Position.File)
	}
	if len(files) == 0 {
		return nil, nil
	}
	if err := s.Locate(ctx, files...); err != nil {
		return nil, brokenf("%w", err)
	}
	return run(), nil
}

// schema is what a command reads that is told nothing.
func (r *repository) schema() string {
	if r.Schema == "" {
		return r.dir
	}
	return r.path(r.Schema)
}

// readSchemas reads all inputs. A file may be in one of them alone: a finding names it as imports do.
func readSchemas(ctx context.Context, std streams, inputs []string) ([]*source.Files, error) {
	return readSchemasBy(ctx, std, inputs, source.Read)
}

// schemaReader is source.Read or its like.
type schemaReader func(ctx context.Context, name string) (*source.Files, error)

func readSchemasBy(ctx context.Context, std streams, inputs []string, read schemaReader) ([]*source.Files, error) {
	var all []*source.Files
	in := make(map[string]string)
	for _, input := range inputs {
		files, err := readSchemaBy(ctx, std, input, read)
		if err != nil {
			return nil, brokenf("%w", err)
		}
		if files.Note != "" {
			fmt.Fprintf(std.err, "idem: %s: %s\n", input, files.Note)
		}
		for _, path := range files.Paths {
			if other, twice := in[path]; twice {
				return nil, brokenf("%s and %s both have %s: lint them one by one", other, input, path)
			}
			in[path] = input
		}
		all = append(all, files)
	}
	return all, nil
}

// readSchema reads a directory or an image, - from standard input.
func readSchema(ctx context.Context, std streams, input string) (*source.Files, error) {
	return readSchemaBy(ctx, std, input, source.Read)
}

func readSchemaBy(ctx context.Context, std streams, input string, read schemaReader) (*source.Files, error) {
	if input == "-" {
		return source.ReadImage(std.in, "standard input")
	}
	return read(ctx, input)
}
