//go:build unix && !linux

package main

import "syscall"

// childAttributes leave it to the child to see that its driver has died.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
