package java

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/emit"
	javacore "github.com/idem-spec/idem/runtime/java"
)

// TestGolden compares what is emitted for each case with what is committed. (PLUG-002, PLUG-007)
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, dir := range cases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			files, problems := emitted(t, directory(t, dir), protosIn(t, dir), emit.Options{Support: true})
			require.Empty(t, problems)
			golden := filepath.Join(dir, "golden")
			if *update {
				require.NoError(t, os.RemoveAll(golden))
				writeFiles(t, golden, files)
			}
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
				want, err := os.ReadFile(filepath.Join(golden, filepath.FromSlash(f.Name)))
				require.NoError(t, err, "run with -update")
				assert.Equal(t, string(want), f.Content, f.Name)
			}
			slices.Sort(names)
			assert.Equal(t, javaFiles(t, golden), names)
		})
	}
}

func javaFiles(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	slices.Sort(names)
	return names
}

// TestASCII shows that no source needs an encoding.
func TestASCII(t *testing.T) {
	t.Parallel()
	for _, dir := range cases(t) {
		files, _ := emitted(t, directory(t, dir), protosIn(t, dir), emit.Options{})
		for _, f := range files {
			assert.NotRegexp(t, regexp.MustCompile(`[^\x20-\x7e\n]`), f.Content, f.Name)
		}
	}
}

// TestCompiles compiles what is emitted beside protoc's own classes, with all warnings as errors, first as
// it comes and then with the support classes in another package. All cases are compiled at once, since
// most of the time is javac's start. (PLUG-003, PLUG-005, PLUG-006, PLUG-011)
func TestCompiles(t *testing.T) {
	t.Parallel()
	dirs := cases(t)
	classes := protocClasses(t, dirs)
	emitAll := func(t *testing.T, pkg string) []emit.File {
		t.Helper()
		var all []emit.File
		for i, dir := range dirs {
			names := protosIn(t, dir)
			if i == 0 {
				names = append(names, "idem/v1/options.proto")
			}
			files, problems := emitted(t, directory(t, dir), names, emit.Options{Support: true, SupportPackage: pkg})
			require.Empty(t, problems)
			all = append(all, files...)
		}
		return all
	}
	for name, pkg := range map[string]string{"as it comes": "", "relocated": "com.acme.support"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			writeFiles(t, out, emitAll(t, pkg))
			log, err := javac(t, filepath.Join(out, "classes"), []string{classes}, strict, out)
			require.NoError(t, err, "%s", log)
		})
	}
	// Where the support classes do not fit, javac names the constant, above which a comment says what to do.
	t.Run("support of another version", func(t *testing.T) {
		t.Parallel()
		out := t.TempDir()
		all := emitAll(t, "")
		for i := range all {
			if strings.HasSuffix(all[i].Name, "/GeneratedCode.java") {
				all[i].Content = strings.ReplaceAll(all[i].Content, handshake+" =", "VERSION_99 =")
			}
		}
		writeFiles(t, out, all)
		log, err := javac(t, filepath.Join(out, "classes"), []string{classes}, nil, out)
		require.Error(t, err)
		assert.Contains(t, log, "GeneratedCode."+handshake)
	})
}

// protocClasses compiles protoc's Java of all files that protobuf-java does not have.
func protocClasses(t *testing.T, dirs []string) string {
	t.Helper()
	out := t.TempDir()
	done := make(map[string]bool)
	for _, dir := range dirs {
		args := []string{"--java_out=" + out}
		for _, f := range directory(t, dir) {
			if !strings.HasPrefix(f.Path(), "google/protobuf/") && !done[f.Path()] {
				done[f.Path()] = true
				args = append(args, f.Path())
			}
		}
		protoc(t, dir, args...)
	}
	classes := filepath.Join(out, "classes")
	log, err := javac(t, classes, nil, []string{"-nowarn"}, out)
	require.NoError(t, err, "%s", log)
	return classes
}

// TestSupport shows that the support sources are the output of the options' own file. (PLUG-003)
func TestSupport(t *testing.T) {
	t.Parallel()
	const options = "idem/v1/options.proto"
	files := source(t, map[string]string{"a.proto": `syntax = "proto3"; import "idem/v1/options.proto";
		message A { option (idem.v1.message) = {idempotency_key: "a:{id}"}; string id = 1; }`})

	t.Run("emitted with the options", func(t *testing.T) {
		t.Parallel()
		out, problems := emitted(t, files, []string{options}, emit.Options{Support: true})
		require.Empty(t, problems)
		require.Len(t, out, len(supportClasses))
		for _, f := range out {
			assert.Equal(t, "io/github/idemspec/v1", filepath.ToSlash(filepath.Dir(f.Name)))
			source, err := javacore.Sources.ReadFile(javacore.Dir + "/" + filepath.Base(f.Name))
			require.NoError(t, err)
			assert.Equal(t, string(source), f.Content)
			assert.NotContains(t, f.Content, "OptionsProto")
		}
	})
	t.Run("not with other files", func(t *testing.T) {
		t.Parallel()
		out, _ := emitted(t, files, []string{"a.proto"}, emit.Options{Support: true})
		require.Len(t, out, 1)
		assert.Equal(t, "AIdem.java", out[0].Name)
	})
	t.Run("not with support=none", func(t *testing.T) {
		t.Parallel()
		out, _ := emitted(t, files, []string{"a.proto", options}, emit.Options{})
		assert.Len(t, out, 1)
	})
	t.Run("relocated", func(t *testing.T) {
		t.Parallel()
		out, _ := emitted(t, files, []string{"a.proto", options}, emit.Options{Support: true, SupportPackage: "com.acme.idem"})
		require.Len(t, out, len(supportClasses)+1)
		for _, f := range out {
			assert.NotContains(t, f.Content, javacore.Package)
			if f.Name != "AIdem.java" {
				assert.Equal(t, "com/acme/idem", filepath.ToSlash(filepath.Dir(f.Name)))
				assert.Contains(t, f.Content, "\npackage com.acme.idem;\n")
			}
		}
	})
	t.Run("keyword", func(t *testing.T) {
		t.Parallel()
		out, problems := emitted(t, files, []string{"a.proto"}, emit.Options{SupportPackage: "com.import.idem"})
		assert.Empty(t, out)
		require.Len(t, problems, 1)
		assert.Equal(t, "a.proto:1:1: support_package=com.import.idem has import, which is a keyword of Java: take another name", problems[0].String())
	})
}

// TestSourcesAreCommitted shows that the plugin has all support sources that a checkout has.
func TestSourcesAreCommitted(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "--", javacore.Dir)
	cmd.Dir = filepath.Join(root, "runtime", "java")
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		t.Skip("this is no git checkout")
	}
	var want []string
	for _, line := range strings.Fields(string(out)) {
		want = append(want, strings.TrimSuffix(filepath.Base(line), ".java"))
	}
	var got []string
	for class := range supportClasses {
		got = append(got, class)
	}
	assert.ElementsMatch(t, want, got)
}

// TestSplitRuns shows that a file's output is the same alone and with others. (PLUG-002)
func TestSplitRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "names")
	files := directory(t, dir)
	together, _ := emitted(t, files, protosIn(t, dir), emit.Options{})
	var apart []emit.File
	for _, name := range protosIn(t, dir) {
		out, _ := emitted(t, files, []string{name}, emit.Options{})
		apart = append(apart, out...)
	}
	assert.ElementsMatch(t, together, apart)
}
