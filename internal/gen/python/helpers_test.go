package python

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

var update = flag.Bool("update", false, "write what is emitted to the goldens")

const root = "../../.."

// imports are where files import from.
var imports = []string{filepath.Join(root, "proto"), filepath.Join(root, "third_party", "googleapis")}

// cases are the directories of testdata.
func cases(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("testdata", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	return dirs
}

// filesIn are the paths of the files below a directory that end so, as an import would name them.
func filesIn(t *testing.T, dir, ending string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ending) {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	slices.Sort(names)
	return names
}

// source compiles files that are given as text, and what they import, in this process.
func source(t *testing.T, files map[string]string) []protoreflect.FileDescriptor {
	t.Helper()
	return compile(t, &protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(files)},
		slices.Sorted(maps.Keys(files)))
}

// directory compiles the files of a case, and what they import.
func directory(t *testing.T, dir string) []protoreflect.FileDescriptor {
	t.Helper()
	return compile(t, &protocompile.SourceResolver{ImportPaths: []string{dir}}, filesIn(t, dir, ".proto"))
}

func compile(t *testing.T, resolver protocompile.Resolver, names []string) []protoreflect.FileDescriptor {
	t.Helper()
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			resolver, &protocompile.SourceResolver{ImportPaths: imports},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(t.Context(), names...)
	require.NoError(t, err)
	var all []*descriptorpb.FileDescriptorProto
	seen := make(map[string]bool)
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := 0; i < f.Imports().Len(); i++ {
			add(f.Imports().Get(i).FileDescriptor)
		}
		all = append(all, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range compiled {
		add(f)
	}
	linked, err := schema.Link(all)
	require.NoError(t, err)
	return linked
}

// emitted runs the emitter over the files of these names.
func emitted(t *testing.T, files []protoreflect.FileDescriptor, names []string, opts emit.Options) ([]emit.File, []schema.Problem) {
	t.Helper()
	set, problems := schema.Build(files, names)
	require.Empty(t, schema.Report(problems))
	out, problems := Emit(set, set.Files, opts)
	return out, schema.Sorted(problems)
}

// tool finds a pinned tool, which scripts/tools installs.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, ".tools", "bin", name))
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("there is no %s: run scripts/tools", path)
	}
	return path
}

// run runs a tool and returns what it prints.
func runTool(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), tool(t, name), args...)
	command.Dir = dir
	command.Env = append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1"), env...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// protoc writes protoc's Python of a case's files, and of what they import but protobuf has not.
func protoc(t *testing.T, dir, out string) {
	t.Helper()
	args := []string{"--proto_path=" + dir, "--python_out=" + out, "--pyi_out=" + out}
	for _, path := range imports {
		args = append(args, "--proto_path="+path)
	}
	args = append(args, "idem/v1/options.proto")
	log, err := runTool(t, ".", nil, "protoc", append(args, filesIn(t, dir, ".proto")...)...)
	require.NoError(t, err, "%s", log)
}

func writeFiles(t *testing.T, dir string, files []emit.File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(f.Content), 0o600))
	}
}
