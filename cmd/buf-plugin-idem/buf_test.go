package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is the root of this one.
const repository = "../.."

// programs is a directory with the plugin, and buf.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "buf-plugin-idem"); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", dir, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the plugin: %s", out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := programs(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// bufProgram is the real buf: the one on the PATH, or what scripts/tools installed.
func bufProgram(t *testing.T) string {
	t.Helper()
	if found, err := exec.LookPath("buf"); err == nil {
		return found
	}
	installed, err := filepath.Abs(filepath.Join(repository, ".tools/bin/buf"))
	require.NoError(t, err)
	if _, err := os.Stat(installed); err == nil {
		return installed
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("there is no buf: scripts/tools installs it")
	}
	t.Skip("there is no buf: scripts/tools installs it")
	return ""
}

// runBuf runs buf in a workspace, with the plugin on its PATH, and returns its standard output; both where
// it fails for another reason than findings.
func runBuf(t *testing.T, dir string, args ...string) (out string, err error) {
	t.Helper()
	program := bufProgram(t)
	plugin, err := programs()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+plugin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	const findings = 100
	if err := command.Run(); err != nil && command.ProcessState.ExitCode() != findings {
		return "", fmt.Errorf("buf %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// found is a finding as both programs have it.
type found struct {
	Rule, File   string
	Line, Column int
	Message      string
}

// bufFinds are buf's findings in a workspace, sorted.
func bufFinds(t *testing.T, workspace string, args ...string) []found {
	t.Helper()
	out, err := runBuf(t, workspace, append(args, "--error-format", "json")...)
	require.NoError(t, err)
	var all []found
	for line := range strings.Lines(out) {
		var f struct {
			Path        string
			StartLine   int    `json:"start_line"`
			StartColumn int    `json:"start_column"`
			Type        string `json:"type"`
			Message     string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &f), line)
		all = append(all, found{f.Type, f.Path, max(f.StartLine, 1), max(f.StartColumn, 1), f.Message})
	}
	return sorted(all)
}

func sorted(all []found) []found {
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

func TestCommentsOfBufIgnore(t *testing.T) {
	t.Parallel()
	bufProgram(t)
	dir := t.TempDir()
	writeWorkspace(t, dir, nil, "shop")
	write(t, dir, schemasIn+"/shop/paid.proto", []byte(strings.Replace(paid, "message", "// buf:lint:ignore IDEM_KEY_VERSION_MISSING\nmessage", 1)))
	require.Empty(t, bufFinds(t, dir, "lint"))
	write(t, dir, schemasIn+"/shop/paid.proto", []byte(strings.Replace(paid, "message", "// buf:lint:ignore IDEM_KEY_AMOUNT\nmessage", 1)))
	require.Len(t, bufFinds(t, dir, "lint"), 1)
}

func TestOptionThatIsNoFactFailsTheRunOfBuf(t *testing.T) {
	t.Parallel()
	bufProgram(t)
	dir := t.TempDir()
	writeWorkspace(t, dir, map[string]any{"consumer": 3}, "shop")
	write(t, dir, schemasIn+"/shop/paid.proto", []byte(paid))
	_, err := runBuf(t, dir, "lint")
	require.ErrorContains(t, err, `there is no key "consumer" here; did you mean consumers?`)
}
