package main

import "syscall"

// childAttributes have the kernel kill a child whose driver has died, however that came.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
