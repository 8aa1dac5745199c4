package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// ballast is memory that is never touched, and so costs none. The garbage collector counts it, and first runs
// when there is several times as much.
const ballast = 64 << 20

// fewCollections has the garbage collector wait, and returns what undoes it: a compiler makes little garbage
// beside what it keeps, and is soon done. With the pages that are fewer, that is a third of the time of a lint.
func fewCollections() (undo func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	untouched := make([]byte, ballast)
	hugePages() // behind the ballast, which would be made of such memory otherwise, and be written
	was := debug.SetGCPercent(300)
	return func() {
		debug.SetGCPercent(was)
		runtime.KeepAlive(untouched)
	}
}
