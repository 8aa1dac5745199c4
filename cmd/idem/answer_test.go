package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fullDisk takes a few bytes and no more.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func TestAnswerThatIsNotWrittenIsNone(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"version", "version --json", "backoff order-8317", "backoff order-8317 --json", "conformance list", "conformance list --json",
		"conformance list --groups", "conformance bulk --print --count 10", "completion bash", "--help", "help key",
	} {
		var said bytes.Buffer
		code := run(t.Context(), strings.Fields(line), streams{in: strings.NewReader(""), out: &fullDisk{room: 3}, err: &said})
		require.Equal(t, exitUsage, code, line)
		require.Contains(t, said.String(), "no space left on device", line)
		require.Equal(t, 1, strings.Count(said.String(), "\n"), "%s: %s", line, said.String())
	}
}
