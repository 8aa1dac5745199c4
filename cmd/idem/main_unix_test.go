//go:build unix

package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A closed terminal ends the command as Ctrl-C does: the port, which is in a process group of its own, would not hear of it.
func TestSignalsEndTheCommand(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		ctx, stop := interruptible()
		require.NoError(t, syscall.Kill(syscall.Getpid(), s))
		<-ctx.Done()
		stop()
	}
}
