//go:build unix

package main

import (
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A closed terminal ends the command as Ctrl-C does: the port, which is in a process group of its own, would not hear of it.
func TestSignalsEndTheCommand(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			if s == syscall.SIGHUP && signal.Ignored(s) {
				t.Skip("these tests run under nohup, whose choice the command keeps")
			}
			ctx, stop := interruptible()
			defer stop()
			require.NoError(t, syscall.Kill(syscall.Getpid(), s))
			<-ctx.Done()
		})
	}
}
