package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func faultsRun(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), append([]string{"faults"}, args...), streams{in: strings.NewReader(""), out: &o, err: &e})
	return code, o.String(), e.String()
}

// TestFaultsThatCannotRunSayWhy: usage and adapters end with 2, before anything is started.
func TestFaultsThatCannotRunSayWhy(t *testing.T) {
	adapter := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(adapter, []byte("name: a\n"), 0o600))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no adapter":        {nil, "no adapter"},
		"an unknown fault":  {[]string{"--fault", "fire", adapter}, "--fault fire: there is none; idem faults --list"},
		"nearly a fault":    {[]string{"--fault", "duplicate-delivri", adapter}, "shows them; did you mean duplicate-delivery?"},
		"an unknown report": {[]string{"--report", "pdf", adapter}, "it is text, junit, html or json"},
		"no outage at all":  {[]string{"--outage", "0s", adapter}, "--outage"},
		"no such file":      {[]string{"no-such.yaml"}, "no-such.yaml: no such file"},
		"half an adapter":   {[]string{adapter}, "a.yaml: no service.command"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := faultsRun(t, c.args...)
			require.Equal(t, exitUsage, code)
			require.Contains(t, errs, c.says)
		})
	}
}

// TestFaultsAreListed: all fifteen lines.
func TestFaultsAreListed(t *testing.T) {
	code, out, _ := faultsRun(t, "--list")
	require.Equal(t, exitOK, code)
	require.Equal(t, 15, strings.Count(out, "\n"))
	require.Contains(t, out, "zombie-worker")
}

// TestFaultsEndAsTheServiceDoes: 0 and 1 with a report, and 3 where the service does not start.
func TestFaultsEndAsTheServiceDoes(t *testing.T) {
	for _, name := range []string{"KAFKA_BROKERS", "DATABASE_URL"} {
		if os.Getenv(name) == "" {
			if os.Getenv("IDEM_TEST_REAL") == "1" {
				t.Fatal(name + " is not set, and IDEM_TEST_REAL=1")
			}
			t.Skip(name + " is not set: scripts/services start postgres kafka")
		}
	}
	t.Setenv("FAULTS_BIN", t.TempDir())
	t.Setenv("PLAIN_PATIENCE", "20s")
	report := filepath.Join(t.TempDir(), "report.xml")
	args := []string{
		"--schema", "../../examples/consume/proto", "--fault", "duplicate-delivery", "--report", "junit", "--output", report,
		"--logs", t.TempDir(), "../../internal/checklist/testdata/plain.yaml",
	}
	code, out, errs := faultsRun(t, args...)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "all green: 1 passed, 0 failed, 0 skipped; ")
	require.NotContains(t, out, "outage")
	require.Equal(t, "plain: starts\nplain: duplicate-delivery\n", errs, "progress without a terminal")
	xml, err := os.ReadFile(report)
	require.NoError(t, err)
	require.Contains(t, string(xml), `name="duplicate-delivery"`)

	t.Setenv("PLAIN_BUG", "no-dedup")
	code, out, errs = faultsRun(t, args...)
	require.Equal(t, exitNo, code, errs)
	require.Contains(t, out, "TWICE")
	require.Contains(t, errs, "the logs of the services are in")

	adapter, err := os.ReadFile("../../internal/checklist/testdata/plain.yaml")
	require.NoError(t, err)
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	text := strings.Replace(string(adapter), "build: go build -o ${FAULTS_BIN:-/tmp}/plain ./plain", "build: 'true'", 1)
	text = strings.Replace(text, `command: ["${FAULTS_BIN:-/tmp}/plain"]`, "command: echo no license; exit 7", 1)
	require.NoError(t, os.WriteFile(broken, []byte(strings.Replace(text, "exec ", "", 1)), 0o600))
	args[len(args)-1] = broken
	code, _, errs = faultsRun(t, args...)
	require.Equal(t, exitNotRun, code, errs)
	require.Contains(t, errs, "could not be started")
}
