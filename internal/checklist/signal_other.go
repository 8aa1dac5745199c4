//go:build !unix

package checklist

import (
	"errors"
	"os"
	"os/exec"
)

// signals says that processes can be stopped and go on.
const signals = false

func killGroup(p *os.Process) { _ = p.Kill() }

func endGroup(p *os.Process) { _ = p.Kill() }

func stopGroup(*os.Process) error { return errors.New("this system cannot stop a process") }

func continueGroup(*os.Process) {}

func ownGroup(*exec.Cmd) {}
