package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsproto "github.com/idem-spec/idem/proto/idem/v1"
	"github.com/idem-spec/idem/third_party/googleapis"
)

// readDir compiles a directory: by itself, within the workspace that it is in where it imports other
// modules, and by buf where it imports from a registry.
func readDir(ctx context.Context, dir string, mode protocompile.SourceInfoMode) (*Files, error) {
	own, err := readWorkspace(dir)
	if err != nil {
		return nil, err
	}
	files, err := own.compile(ctx, dir, mode)
	if !unresolved(err) {
		return files, err
	}
	w := own
	if own.dir == "" {
		w = workspaceAbove(dir)
	}
	if w == nil {
		return nil, err
	}
	if w != own {
		var within error
		if files, within = w.compile(ctx, dir, mode); !unresolved(within) {
			return files, within
		}
	}
	if files, ok, byBuf := w.buf(ctx, dir); ok {
		return files, byBuf
	}
	return nil, err
}

var errNoProto = errors.New("there is no .proto file")

// compile compiles the files of the workspace that are below a directory.
func (w *workspace) compile(ctx context.Context, dir string, mode protocompile.SourceInfoMode) (*Files, error) {
	names, err := w.files(dir)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w in %s", errNoProto, dir)
	}
	roots := w.roots()
	wrong := &compileError{roots: roots}
	texts := new(texts)
	compiler := protocompile.Compiler{
		Resolver:       resolver(roots, texts.open),
		Reporter:       reporter.NewReporter(wrong.add, nil),
		SourceInfoMode: mode,
	}
	linked, err := compiler.Compile(ctx, names...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		wrong.errs = newerEditions(roots, append(wrong.errs, unresolvedImports(roots, names)...))
		if len(wrong.errs) > 0 {
			return nil, wrong
		}
		return nil, fmt.Errorf("the schema does not compile: %w", err)
	}
	files := &Files{Paths: names, roots: roots, texts: texts}
	seen := make(map[string]bool)
	for _, f := range linked {
		files.All = behindImports(files.All, f, seen)
	}
	if mode == protocompile.SourceInfoNone {
		files.bare = make(map[string]linker.Result)
		for _, f := range files.All {
			if result, ok := f.(linker.Result); ok {
				files.bare[f.Path()] = result
			}
		}
	}
	return files, nil
}

// resolver finds what is imported.
func resolver(roots []string, open func(file string) (io.ReadCloser, error)) protocompile.Resolver {
	return protocompile.WithStandardImports(protocompile.CompositeResolver{
		&protocompile.SourceResolver{ImportPaths: roots, Accessor: open},
		&protocompile.SourceResolver{Accessor: vendored},
	})
}

// unresolvedImports are the imports of the files that are nowhere. The compiler itself ends at the first.
func unresolvedImports(roots, names []string) []reporter.ErrorWithPos {
	var missing []reporter.ErrorWithPos
	find := resolver(roots, nil)
	for _, name := range names {
		path, _ := onDisk(roots, name)
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		file, _ := parser.Parse(name, bytes.NewReader(text), reporter.NewHandler(reporter.NewReporter(func(reporter.ErrorWithPos) error { return nil }, nil)))
		if file == nil {
			continue
		}
		for _, decl := range file.Decls {
			imported, ok := decl.(*ast.ImportNode)
			if !ok {
				continue
			}
			found, err := find.FindFileByPath(imported.Name.AsString())
			if err != nil {
				missing = append(missing, reporter.Errorf(file.NodeInfo(imported.Name), "import %q: %w", imported.Name.AsString(), fs.ErrNotExist))
			} else if closer, ok := found.Source.(io.Closer); ok {
				_ = closer.Close()
			}
		}
	}
	return missing
}

// vendored opens what idem brings along.
func vendored(name string) (io.ReadCloser, error) {
	if name == optionsproto.Path {
		return io.NopCloser(strings.NewReader(string(optionsproto.Options))), nil
	}
	if path.Dir(name) == "google/type" {
		return googleapis.Files.Open(name)
	}
	return nil, fs.ErrNotExist
}

// behindImports appends a file behind what it imports.
func behindImports(files []protoreflect.FileDescriptor, f protoreflect.FileDescriptor, seen map[string]bool) []protoreflect.FileDescriptor {
	if seen[f.Path()] {
		return files
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		files = behindImports(files, f.Imports().Get(i).FileDescriptor, seen)
	}
	return append(files, f)
}

// compileError is all that the compiler found.
type compileError struct {
	roots []string
	errs  []reporter.ErrorWithPos
}

func (e *compileError) add(err reporter.ErrorWithPos) error {
	e.errs = append(e.errs, err)
	return nil // go on
}

// unresolved says whether an import was not found, or the file is of an edition that buf may know.
func unresolved(err error) bool {
	var wrong *compileError
	return errors.As(err, &wrong) && slices.ContainsFunc(wrong.errs, elsewhere)
}

func elsewhere(err reporter.ErrorWithPos) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNewerEdition)
}

var errNewerEdition = errors.New("the edition is newer than this compiler")

// edition finds what a file says it is of.
var edition = regexp.MustCompile(`(?m)^\s*(edition)\s*=\s*["']([0-9]+)["']\s*;`)

// newestEdition is the newest that the compiler knows.
const newestEdition = "2023"

// newerEditions are the errors, where a file of an edition that the compiler does not know has one in place of
// all that it takes for mistakes.
func newerEditions(roots []string, errs []reporter.ErrorWithPos) []reporter.ErrorWithPos {
	newer := make(map[string]bool)
	var kept []reporter.ErrorWithPos
	for _, err := range errs {
		file := err.GetPosition().Filename
		if _, seen := newer[file]; !seen {
			path, _ := onDisk(roots, file)
			text, _ := os.ReadFile(path)
			found := edition.FindSubmatchIndex(text)
			newer[file] = found != nil && string(text[found[4]:found[5]]) > newestEdition
			if newer[file] {
				at := ast.SourcePos{Filename: file, Line: 1 + bytes.Count(text[:found[2]], []byte("\n")), Col: 1, Offset: found[2]}
				kept = append(kept, reporter.Error(ast.NewSourceSpan(at, at), errNewerEdition))
			}
		}
		if !newer[file] {
			kept = append(kept, err)
		}
	}
	return kept
}

// maxErrors is the most lines of an error.
const maxErrors = 100

// Error is a line for each, "file:line:column: what", and what to do about them where that is known.
func (e *compileError) Error() string {
	slices.SortStableFunc(e.errs, func(a, b reporter.ErrorWithPos) int {
		p, q := a.GetPosition(), b.GetPosition()
		return cmp.Or(cmp.Compare(p.Filename, q.Filename), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
	})
	lines := []string{"the schema does not compile:"}
	for _, err := range e.errs {
		at := err.GetPosition()
		file := at.Filename
		if path, ok := onDisk(e.roots, file); ok {
			file = filepath.ToSlash(path)
		}
		if line := fmt.Sprintf("%s:%d:%d: %s", file, at.Line, at.Col, err.Unwrap()); line != lines[len(lines)-1] {
			lines = append(lines, line)
		}
	}
	if more := len(lines) - maxErrors; more > 0 {
		lines = append(lines[:maxErrors], fmt.Sprintf("and %d more", more))
	}
	all := strings.Join(lines, "\n")
	if strings.Contains(all, "unknown extension idem.v1.") {
		all += "\nThe file has to say: import \"" + optionsproto.Path + "\";"
	}
	if slices.ContainsFunc(e.errs, elsewhere) {
		all += "\nImports from a registry, and edition 2024, are in an image alone: `buf build -o image.binpb`, and name that"
	}
	return all
}

// Is finds what one of them is.
func (e *compileError) Is(target error) bool {
	return slices.ContainsFunc(e.errs, func(err reporter.ErrorWithPos) bool { return errors.Is(err, target) })
}
