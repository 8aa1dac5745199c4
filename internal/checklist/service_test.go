//go:build unix

package checklist

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// started starts a command as an adapter has it, and ends it with the test.
func started(t *testing.T, text, ready string) *instance {
	t.Helper()
	var command Command
	require.NoError(t, yaml.Unmarshal([]byte(text), &command))
	i, err := launch(&Adapter{dir: t.TempDir()}, Process{Command: command, Ready: ready}, "small", t.TempDir(), values{})
	require.NoError(t, err)
	t.Cleanup(i.kill)
	return i
}

func wait(t *testing.T, until <-chan struct{}) {
	t.Helper()
	select {
	case <-until:
	case <-time.After(20 * time.Second):
		t.Fatal("it did not come")
	}
}

// TestCommandsOfSeveralParts are run as a whole, and their end is waited for.
func TestCommandsOfSeveralParts(t *testing.T) {
	const service = `sh -c 'trap "echo $NAME ends" EXIT; trap exit TERM; echo $NAME is ready; while :; do sleep 0.1; done'`
	for name, text := range map[string]string{
		"one":            "env NAME=small " + service,
		"a variable":     "NAME=small " + service,
		"a list":         "cd / && export NAME=small; " + service,
		"several lines":  "|\n  export NAME=small\n  " + service,
		"after a pause":  "sleep 0.1; export NAME=small; " + service,
		"within a group": "(NAME=small " + service + ")",
	} {
		t.Run(name, func(t *testing.T) {
			i := started(t, text, "is ready")
			wait(t, i.ready)
			require.True(t, i.end(10*time.Second))
			require.Contains(t, i.tail(3), "small ends") // a shell may say that its sleep was terminated
		})
	}
}

// TestLogsAreBounded: a service that says one line without an end fills neither memory nor a report.
func TestLogsAreBounded(t *testing.T) {
	i := started(t, `head -c 3000000 /dev/zero | tr '\0' x; echo; echo is ready; sleep 60`, "is ready")
	wait(t, i.ready)
	require.LessOrEqual(t, len(i.tail(20)), tailBytes)
	require.Contains(t, i.tail(1), "is ready")
	info, err := os.Stat(i.log)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(3000000))
}
