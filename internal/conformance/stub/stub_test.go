package stub_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	vectors "github.com/idem-spec/idem/conformance-vectors"
	"github.com/idem-spec/idem/internal/conformance"
	"github.com/idem-spec/idem/internal/conformance/stub"
)

// needs is what has to be installed for a stub to run.
var needs = map[string][]string{
	"csharp": {"dotnet"}, "go": {"go"}, "java": {"java", "javac"}, "javascript": {"node"}, "python": {"python3"},
	"ruby": {"ruby"}, "rust": {"cargo"}, "typescript": {"node"},
}

// groups returns the groups of the vectors, and the suite.
func groups(t *testing.T) ([]stub.Group, *conformance.Suite) {
	t.Helper()
	suite, err := conformance.Load(vectors.Files)
	require.NoError(t, err)
	var groups []stub.Group
	for _, g := range suite.Groups {
		groups = append(groups, stub.Group{Name: g.Name, Count: len(g.Vectors)})
	}
	return groups, suite
}

func write(t *testing.T, dir string, files []stub.File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(path, f.Data, mode))
	}
}

func TestEveryLanguageHasItsFiles(t *testing.T) {
	t.Parallel()
	list, suite := groups(t)
	assert.Subset(t, stub.Languages(), []string{"csharp", "go", "java", "javascript", "python", "ruby", "rust", "typescript"})
	for _, language := range stub.Languages() {
		files, err := stub.Make(language, "idem-"+language, list)
		require.NoError(t, err)
		byPath := map[string]stub.File{}
		for _, f := range files {
			byPath[f.Path] = f
			assert.NotContains(t, string(f.Data), "{{"+".", f.Path)
			assert.False(t, strings.HasSuffix(f.Path, ".tmpl"))
		}
		assert.True(t, byPath["port"].Executable, language)
		assert.True(t, byPath["conformance.sh"].Executable, language)

		known, err := conformance.ParseKnownFailures(byPath["known-failures.toml"].Data)
		require.NoError(t, err)
		matched := 0
		for _, k := range known {
			selected, err := suite.Select(conformance.Selection{Cases: []string{k.Case}})
			require.NoError(t, err)
			assert.NotEmpty(t, selected, k.Case)
			matched += len(selected)
		}
		assert.Equal(t, len(suite.All()), matched, "each case is listed once")
	}
}

func TestWhatIsNoStub(t *testing.T) {
	t.Parallel()
	_, err := stub.Make("cobol", "idem-cobol", nil)
	assert.ErrorContains(t, err, "there are csharp")
	_, err = stub.Make("common", "idem", nil)
	assert.Error(t, err)
	for _, name := range []string{"", "Idem", "a b", "a--b", "../a", "-a", "a\"b"} {
		_, err := stub.Make("go", name, nil)
		assert.ErrorContains(t, err, "lower-case words", name)
	}
}

// TestStubsSpeakTheProtocol runs each stub whose language is installed: it answers unsupported to
// everything, keeps to the edges of the protocol, and that is not conformant.
func TestStubsSpeakTheProtocol(t *testing.T) {
	t.Parallel()
	list, suite := groups(t)
	for _, language := range stub.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			for _, program := range needs[language] {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(program, "is not installed")
				}
			}
			if language == "typescript" && exec.Command("node", "--input-type=module-typescript", "--eval", "let a: number = 1").Run() != nil {
				dir := t.TempDir()
				files, err := stub.Make(language, "idem-"+language, list)
				require.NoError(t, err)
				write(t, dir, files)
				said, err := exec.Command(filepath.Join(dir, "port")).CombinedOutput()
				require.Error(t, err)
				assert.Contains(t, string(said), "needs Node 22.18 or newer")
				t.Skip("this node does not take types away")
			}
			if language == "rust" && os.Getenv("IDEM_TEST_RUST") == "" {
				t.Skip("cargo would ask the network: set IDEM_TEST_RUST")
			}
			dir := t.TempDir()
			files, err := stub.Make(language, "idem-"+language, list)
			require.NoError(t, err)
			write(t, dir, files)
			data, err := os.ReadFile(filepath.Join(dir, "known-failures.toml"))
			require.NoError(t, err)
			known, err := conformance.ParseKnownFailures(data)
			require.NoError(t, err)

			report, err := conformance.Run(t.Context(), suite, conformance.Command{Path: filepath.Join(dir, "port")}, conformance.Options{
				KnownFailures: known, Strict: true,
				Limits: conformance.Limits{Case: time.Minute, Start: 10 * time.Minute, End: time.Minute},
			})
			require.NoError(t, err)
			assert.Equal(t, conformance.Hello{Name: "idem-" + language, Version: "0.1.0"}, report.Port)
			assert.Equal(t, report.Count.Cases, report.Count.Unsupported)
			assert.Equal(t, report.Count.Cases, report.Count.Known)
			assert.False(t, report.Conformant())
			for _, f := range report.Findings {
				assert.Equal(t, conformance.GroupUnsupported, f.Code, f.Text)
			}
		})
	}
}
