package python

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/emit"
)

// TestGolden compares what is emitted for each case with what is committed. (PLUG-002, PLUG-007)
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, dir := range cases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			files, problems := emitted(t, directory(t, dir), filesIn(t, dir, ".proto"), emit.Options{Support: true})
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
			assert.ElementsMatch(t, filesIn(t, golden, ""), names)
		})
	}
}

// withSupport is what a run gives whose files include idem/v1/options.proto.
func withSupport(t *testing.T, dir string, opts emit.Options) []emit.File {
	t.Helper()
	files, problems := emitted(t, directory(t, dir), append(filesIn(t, dir, ".proto"), "idem/v1/options.proto"), opts)
	require.Empty(t, problems)
	return files
}

// allCases writes what is emitted for all cases into one directory, beside protoc's own modules.
func allCases(t *testing.T, opts emit.Options) (out string) {
	t.Helper()
	out = t.TempDir()
	for _, dir := range cases(t) {
		protoc(t, dir, out)
		writeFiles(t, out, withSupport(t, dir, opts))
	}
	return out
}

// TestRuns runs the checks of each case: as it comes, and with the support sources in another package.
// (PLUG-003, PLUG-005, PLUG-011)
func TestRuns(t *testing.T) {
	t.Parallel()
	for name, pkg := range map[string]string{"as it comes": "", "relocated": "com.acme.support"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := allCases(t, emit.Options{Support: true, SupportPackage: pkg})
			for _, dir := range cases(t) {
				check, err := os.ReadFile(filepath.Join(dir, "check.py"))
				require.NoError(t, err)
				if pkg != "" {
					check = regexp.MustCompile(`(?m)^import idemspec$`).ReplaceAll(check, []byte("from com.acme import support as idemspec"))
				}
				require.NoError(t, os.WriteFile(filepath.Join(out, "test_"+filepath.Base(dir)+".py"), check, 0o600))
			}
			if pkg != "" {
				assert.NoDirExists(t, filepath.Join(out, "idemspec"))
			}
			log, err := runTool(t, out, []string{"PYTHONPATH=" + out}, "python",
				"-W", "error", "-bb", "-m", "pytest", "-q", "-p", "no:cacheprovider")
			require.NoError(t, err, "%s", log)
		})
	}
}

// TestChecks runs mypy --strict and ruff over what is emitted, under the settings that a project has that
// states none. protoc's own stubs pass neither. (PLUG-011)
func TestChecks(t *testing.T) {
	t.Parallel()
	out := allCases(t, emit.Options{Support: true})
	var modules []string
	for _, name := range filesIn(t, out, "_idem.py") {
		modules = append(modules, filepath.FromSlash(name))
	}
	for name, args := range map[string][]string{
		"ruff check":  {"ruff", "check", "--isolated", "--no-cache", "--select", "B,E,F,I,PLC,RUF,SIM,UP,W", "--target-version", "py310"},
		"ruff format": {"ruff", "format", "--isolated", "--no-cache", "--diff"},
		"mypy":        {"mypy", "--python-version", "3.10", "--cache-dir", os.DevNull, "--config-file", "strict.ini"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, os.WriteFile(filepath.Join(out, "strict.ini"), []byte(strictMypy), 0o600))
			log, err := runTool(t, out, []string{"MYPYPATH=" + out}, args[0], append(args[1:], modules...)...)
			assert.NoError(t, err, "%s", log)
		})
	}
}

// strictMypy follows protoc's stubs without a word about them.
const strictMypy = `[mypy]
strict = true
namespace_packages = true
explicit_package_bases = true
follow_imports = silent
follow_imports_for_stubs = true
`

// TestHandshake imports generated code beside support sources that do not fit. (PLUG-006)
func TestHandshake(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "shop")
	for _, c := range []struct {
		name    string
		offset  int
		contain []string
	}{
		{"older support", -1, []string{"ImportError", "shop/v1/payment.proto", "generate idem/v1/options.proto again"}},
		{"newer support", +1, []string{"ImportError", "generate the code of shop/v1/payment.proto again"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			files := withSupport(t, dir, emit.Options{Support: true})
			for i := range files {
				if files[i].Name == "idemspec/generated.py" {
					found := contractLine.FindString(files[i].Content)
					require.NotEmpty(t, found)
					files[i].Content = contractLine.ReplaceAllString(files[i].Content, "CONTRACT = "+strconv.Itoa(contract+c.offset))
				}
			}
			writeFiles(t, out, files)
			log, err := runTool(t, out, []string{"PYTHONPATH=" + out}, "python", "-c", "import shop.v1.payment_idem")
			require.Error(t, err)
			for _, part := range c.contain {
				assert.Contains(t, log, part)
			}
		})
	}
	t.Run("no support", func(t *testing.T) {
		t.Parallel()
		out := t.TempDir()
		writeFiles(t, out, withSupport(t, dir, emit.Options{}))
		log, err := runTool(t, out, []string{"PYTHONPATH=" + out}, "python", "-c", "import shop.v1.payment_idem")
		require.Error(t, err)
		assert.Contains(t, log, "generate with include_imports")
	})
}

var contractLine = regexp.MustCompile(`(?m)^CONTRACT = (\d+)$`)

// TestContract compares the contract of generated code with that of the support sources.
func TestContract(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "runtime", "python", "src", "idemspec", "generated.py"))
	require.NoError(t, err)
	found := contractLine.FindSubmatch(content)
	require.NotNil(t, found)
	assert.Equal(t, strconv.Itoa(contract), string(found[1]))
}

// TestImportsAlone shows that what a file gives does not depend on the run that it is in. (PLUG-002)
func TestImportsAlone(t *testing.T) {
	t.Parallel()
	files := source(t, map[string]string{
		"a.proto": annotated("a", "A"),
		"b.proto": annotated("b", "B"),
	})
	all, problems := emitted(t, files, []string{"a.proto", "b.proto"}, emit.Options{})
	require.Empty(t, problems)
	for i, name := range []string{"a.proto", "b.proto"} {
		one, problems := emitted(t, files, []string{name}, emit.Options{})
		require.Empty(t, problems)
		assert.Equal(t, all[i:i+1], one)
	}
}

func annotated(pkg, message string) string {
	return `syntax = "proto3"; package ` + pkg + `; import "idem/v1/options.proto";
message ` + message + ` { option (idem.v1.message) = {idempotency_key: "` + pkg + message + `:{id}"}; string id = 1; }
`
}
