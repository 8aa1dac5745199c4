//go:build !linux

package main

// hugePages does nothing here.
func hugePages() {}
