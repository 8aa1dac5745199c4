package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/conformance"
)

// suite is the vectors within the program.
func suite(t *testing.T) *conformance.Suite {
	t.Helper()
	s, err := conformance.Load(embeddedVectors)
	require.NoError(t, err)
	return s
}

func TestRunGivesAVerdict(t *testing.T) {
	t.Parallel()
	all := len(suite(t).All())
	stdout, stderr, code := invoke(t, append([]string{"conformance", "run"}, port(t, "right")...)...)
	assert.Equal(t, exitOK, code, stdout)
	assert.Empty(t, stderr)
	assert.True(t, strings.HasSuffix(stdout, fmt.Sprintf("\nconformant\n%d passed, 0 failed\n", all)), stdout)

	stdout, _, code = invoke(t, append([]string{"conformance", "run"}, port(t, "exit")...)...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "exited with code 3")

	stdout, _, code = invoke(t, append([]string{"conformance", "run", "--case", "decimal-*", "--group", "decimal"}, port(t, "wrong:decimal-a")...)...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "\nnot conformant in the selection --group decimal --case decimal-*")
	assert.NotContains(t, stdout, "\x1b")
}

func TestRunOfWhatIsNoPort(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"true"}, {"cat"}, {"false"}, {"/nonexistent/port"}, {"no-such-program-anywhere"}} {
		stdout, stderr, code := invoke(t, append([]string{"conformance", "run", "--"}, command...)...)
		assert.Equal(t, exitNotRun, code, command)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "the port could not be run")
	}
	_, stderr, code := invoke(t, append([]string{"conformance", "run"}, port(t, "broken")...)...)
	assert.Equal(t, exitNotRun, code)
	assert.Contains(t, stderr, "cannot start")
}

func TestRunWithKnownFailures(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "known.toml")
	require.NoError(t, os.WriteFile(list, []byte("[[known_failure]]\ncase = 'uuid-*'\nreason = 'later'\n"), 0o600))
	args := []string{"conformance", "run", "--known-failures", list, "--group", "uuid,date"}

	stdout, _, code := invoke(t, append(args, port(t, "wrong:uuid-")...)...)
	assert.Equal(t, exitOK, code, stdout)
	assert.Regexp(t, `\d+ passed, 0 failed, \d+ known failures\n$`, stdout)

	stdout, _, code = invoke(t, append(args, port(t, "right")...)...)
	assert.Equal(t, exitNo, code)
	assert.Regexp(t, "\nunexpected pass: all \\d+ selected cases of `uuid-\\*` pass: ", stdout)
	assert.Less(t, strings.Count(stdout, "uuid-"), 5, "not a block for each case")
}

func TestRunWritesTheReportToAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	stdout, _, code := invoke(t, append([]string{"conformance", "run", "--report", "json", "--output", file}, port(t, "right")...)...)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "passed, 0 failed\n")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var report struct {
		Verdict string
		Passed  int
	}
	require.NoError(t, json.Unmarshal(data, &report))
	assert.Equal(t, "conformant", report.Verdict)
	assert.Equal(t, len(suite(t).All()), report.Passed)
}

func TestRunNoticesAMissingGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := suite(t)
	_, _, code := invoke(t, "conformance", "export", dir)
	require.Equal(t, exitOK, code)
	data, err := os.ReadFile(filepath.Join(dir, conformance.ManifestFile))
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(data, &m))
	m["groups"] = m["groups"].([]any)[1:]
	data, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, conformance.ManifestFile), data, 0o600))

	stdout, _, code := invoke(t, append([]string{"conformance", "run", "--vectors", dir}, port(t, "right")...)...)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "group missing: the vectors have no group "+s.Groups[0].Name)
}

func TestList(t *testing.T) {
	t.Parallel()
	s := suite(t)
	stdout, _, code := invoke(t, "conformance", "list")
	assert.Equal(t, exitOK, code)
	assert.Len(t, strings.Fields(stdout), len(s.All()))

	stdout, _, _ = invoke(t, "conformance", "list", "--group", "uuid", "--json")
	var vectors []conformance.Vector
	require.NoError(t, json.Unmarshal([]byte(stdout), &vectors))
	assert.NotEmpty(t, vectors)
	assert.Equal(t, "uuid", vectors[0].Group)
	assert.NotEmpty(t, vectors[0].Input)

	stdout, _, _ = invoke(t, "conformance", "list", "--groups")
	assert.Len(t, strings.Split(strings.TrimSpace(stdout), "\n"), len(s.Groups))

	for _, flags := range [][]string{{"--groups"}, {"--json"}, nil} {
		stdout, stderr, code := invoke(t, append([]string{"conformance", "list", "--group", "uuid", "--case", "decimal-*"}, flags...)...)
		assert.Equal(t, exitNo, code)
		assert.Empty(t, stdout)
		assert.Equal(t, "idem: no case is selected by --group uuid --case decimal-*\n", stderr)
	}

	stdout, _, _ = invoke(t, "conformance", "list", "--groups", "--json", "--case", "uuid-*")
	var groups []listedGroup
	require.NoError(t, json.Unmarshal([]byte(stdout), &groups))
	assert.Len(t, groups, 1)
}

func TestExportDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "vectors")
	_, _, code := invoke(t, "conformance", "export", dir)
	require.Equal(t, exitOK, code)
	exported, err := conformance.Load(os.DirFS(dir))
	require.NoError(t, err)
	assert.Equal(t, suite(t).Names(), exported.Names())
	require.NoError(t, fs.WalkDir(embeddedVectors, ".", func(path string, _ fs.DirEntry, err error) error {
		_, missing := os.Stat(filepath.Join(dir, path))
		assert.NoError(t, missing)
		return err
	}))

	_, _, code = invoke(t, "conformance", "export", dir)
	assert.Equal(t, exitOK, code, "the same files are no obstacle")

	mine := filepath.Join(dir, "decimal.json")
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))
	_, stderr, code := invoke(t, "conformance", "export", dir)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "decimal.json")
	data, _ := os.ReadFile(mine)
	assert.Equal(t, "mine", string(data))

	_, _, code = invoke(t, "conformance", "export", "--force", dir)
	assert.Equal(t, exitOK, code)
	data, _ = os.ReadFile(mine)
	assert.NotEqual(t, "mine", string(data))
}

func TestInitWritesAPort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stdout, stderr, code := invoke(t, "conformance", "init", "--lang", "python", "--name", "idem-mine", dir)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "idem conformance run")
	info, err := os.Stat(filepath.Join(dir, "port"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&0o100)
	assert.Contains(t, read(t, dir, "port.py"), "idem-mine")

	stdout, _, _ = invoke(t, "conformance", "init", "--lang", "typescript", t.TempDir())
	assert.Contains(t, stdout, "needs Node 22.18")

	_, stderr, code = invoke(t, "conformance", "init", "--lang", "python", dir)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "port.py")

	_, stderr, code = invoke(t, "conformance", "init", dir)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "there are csharp, go, java")
	_, _, code = invoke(t, "conformance", "init", "--lang", "cobol", dir)
	assert.Equal(t, exitUsage, code)
}

func TestBulk(t *testing.T) {
	t.Parallel()
	stdout, _, code := invoke(t, "conformance", "bulk", "--print", "--count", "3")
	assert.Equal(t, exitOK, code)
	assert.Len(t, strings.Split(strings.TrimSpace(stdout), "\n"), 3)

	stdout, _, code = invoke(t, append([]string{"conformance", "bulk", "--seed", "5", "--count", "100"}, port(t, "right")...)...)
	assert.Equal(t, exitNo, code, "a port that supports nothing of it")
	assert.Contains(t, stdout, "is unsupported")

	stdout, _, code = invoke(t, append([]string{"conformance", "bulk", "--count", "10000", "--json"}, port(t, "right")...)...)
	assert.Equal(t, exitNo, code)
	var outcome bulkOutcome
	require.NoError(t, json.Unmarshal([]byte(stdout), &outcome))
	assert.True(t, outcome.Compared)
	assert.Equal(t, []int{1}, outcome.Blocks)

	_, stderr, code := invoke(t, "conformance", "bulk", "--", "true")
	assert.Equal(t, exitNotRun, code)
	assert.Contains(t, stderr, "could not be run")

	for _, args := range [][]string{
		{}, {"./port"}, {"--count", "0", "--", "true"}, {"--print", "--", "true"}, {"--against", "/nonexistent", "--", "true"},
	} {
		_, _, code := invoke(t, append([]string{"conformance", "bulk"}, args...)...)
		assert.Equal(t, exitUsage, code, args)
	}
}

// A stream without a whole block has no verdict: a port that is wrong must not get a yes.
func TestBulkComparesWholeBlocksOnly(t *testing.T) {
	t.Parallel()
	bulk := func(mode string, args ...string) (string, string, int) {
		return invoke(t, slices.Concat([]string{"conformance", "bulk"}, args, port(t, mode))...)
	}
	other := func(mode string) string { return strings.Join(port(t, mode)[1:], " ") }

	stdout, stderr, code := bulk("bulk:0", "--count", "100")
	assert.Equal(t, exitNo, code)
	assert.NotContains(t, stdout, "published")
	assert.Equal(t, "idem: nothing to compare: 100 is below the block of 10000; use --vs or --count 10000\n", stderr)

	stdout, _, code = bulk("bulk:0", "--count", "100", "--json")
	assert.Equal(t, exitNo, code)
	var outcome bulkOutcome
	require.NoError(t, json.Unmarshal([]byte(stdout), &outcome))
	assert.False(t, outcome.Compared)
	assert.False(t, outcome.Equal)

	_, stderr, code = bulk("bulk:0", "--count", "20000", "--seed", "5")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "no digests are published for seed 5")

	stdout, _, code = bulk("bulk:0", "--count", "100", "--vs", other("bulk:0"))
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "the two ports give the same answers")
	assert.NotContains(t, stdout, "published")

	digests := filepath.Join(t.TempDir(), "bulk.json")
	_, stderr, code = bulk("bulk:0", "--count", "20000", "--write", digests)
	require.Equal(t, exitOK, code, stderr)
	for _, c := range []struct{ count, want string }{
		{"20000", "all 20000 cases have the published digests"},
		{"12000", "the first 10000 cases have the published digests"},
	} {
		stdout, _, code = bulk("bulk:0", "--count", c.count, "--against", digests)
		assert.Equal(t, exitOK, code)
		assert.Contains(t, stdout, c.want)
	}

	stdout, _, code = bulk("bulk:0", "--count", "12000", "--against", digests, "--vs", other("bulk:11000"))
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "1 cases differ, the first is 11000")
	assert.NotContains(t, stdout, "published", "never beside a difference")

	stdout, _, code = bulk("bulk:3", "--count", "12000", "--against", digests)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "1 of 1 blocks differ from the published ones, of 10000 cases compared")
}
