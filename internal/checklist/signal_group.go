//go:build unix

package checklist

import (
	"os"
	"os/exec"
	"syscall"
)

const signals = true

// The signals go to all of a process's group: what a shell or a launcher has started too.

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

func endGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

func stopGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGSTOP) }

func continueGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGCONT) }

func ownGroup(c *exec.Cmd) { c.SysProcAttr = attributes() }
