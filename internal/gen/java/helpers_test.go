package java

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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

var update = flag.Bool("update", false, "write what is emitted to the goldens")

const (
	root = "../../.."
	// protobufJava is the version of protobuf-java that is of one release with tools/requirements.txt.
	protobufJava = "4.36.2"
)

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

// protosIn are the paths of a case's files, as an import would name them.
func protosIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	require.NoError(t, err)
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// source compiles files that are given as text, and what they import, in this process.
func source(t *testing.T, files map[string]string) []protoreflect.FileDescriptor {
	t.Helper()
	return link(t, compile(t, &protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(files)},
		slices.Sorted(maps.Keys(files))))
}

// directory compiles the files of a case, and what they import.
func directory(t *testing.T, dir string) []protoreflect.FileDescriptor {
	t.Helper()
	names := protosIn(t, dir)
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if strings.Contains(string(content), `edition = "2024"`) {
			// The compiler in this process does not know it yet.
			return link(t, compileByProtoc(t, dir, names))
		}
	}
	return link(t, compile(t, &protocompile.SourceResolver{ImportPaths: []string{dir}}, names))
}

func compile(t *testing.T, resolver protocompile.Resolver, names []string) []*descriptorpb.FileDescriptorProto {
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
	return all
}

func compileByProtoc(t *testing.T, dir string, names []string) []*descriptorpb.FileDescriptorProto {
	t.Helper()
	out := filepath.Join(t.TempDir(), "set.binpb")
	protoc(t, dir, append([]string{"--include_imports", "--include_source_info", "--descriptor_set_out=" + out}, names...)...)
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	set := new(descriptorpb.FileDescriptorSet)
	require.NoError(t, proto.Unmarshal(b, set))
	return set.GetFile()
}

func link(t *testing.T, files []*descriptorpb.FileDescriptorProto) []protoreflect.FileDescriptor {
	t.Helper()
	linked, err := schema.Link(files)
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
	if path, err := filepath.Abs(filepath.Join(root, ".tools", "bin", name)); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s: run scripts/tools", name)
	}
	return path
}

// protoc runs the compiler with a directory of sources.
func protoc(t *testing.T, dir string, args ...string) {
	t.Helper()
	all := []string{"--proto_path=" + dir}
	for _, path := range imports {
		all = append(all, "--proto_path="+path)
	}
	out, err := exec.CommandContext(t.Context(), tool(t, "protoc"), append(all, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// javac compiles the sources of some directories against a class path and protobuf-java, and returns the
// output.
func javac(t *testing.T, to string, classPath []string, flags []string, dirs ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("there is no javac: install a JDK of 17 or newer")
	}
	require.NoError(t, os.MkdirAll(to, 0o755))
	args := []string{
		// A compiler that lives for two seconds is done before its own code is worth optimizing.
		"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC",
		"-proc:none", "--release", "8", "-encoding", "US-ASCII", "-d", to,
		"-classpath", strings.Join(append(classPath, protobufJar(t)), string(os.PathListSeparator)),
	}
	args = append(args, flags...)
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".java") {
				args = append(args, path)
			}
			return err
		}))
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	return string(out), err
}

// strict is the flags that generated code has to pass under. From JDK 21 on, javac calls release 8
// obsolete in the category options.
var strict = []string{"-Xlint:all", "-Xlint:-options", "-Werror"}

// protobufJar finds protobuf-java where Maven keeps it.
func protobufJar(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	jar := filepath.Join(home, ".m2", "repository", "com", "google", "protobuf", "protobuf-java", protobufJava,
		"protobuf-java-"+protobufJava+".jar")
	if _, err := os.Stat(jar); err != nil {
		t.Skipf("Maven has no protobuf-java %s here yet: run scripts/test java", protobufJava)
	}
	return jar
}

func writeFiles(t *testing.T, dir string, files []emit.File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(f.Content), 0o600))
	}
}
