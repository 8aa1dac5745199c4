package checklist

import "syscall"

// attributes make a process the leader of a group of its own, and have the kernel kill it where this program dies,
// however that comes.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
