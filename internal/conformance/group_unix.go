//go:build unix

package conformance

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group of its own, so that whatever it starts
// can be ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the command and all that is left of its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
