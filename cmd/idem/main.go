// Command idem is the command line of idem: it gives a verdict on a port, shows the delays that a
// policy makes, renders a key, and sets up a repository that uses the options.
//
// Exit codes: 0 the answer is yes, 1 it is no, 2 the command cannot be carried out as it is written,
// 3 (conformance) the port cannot be run.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// streams are what a command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, std streams) int {
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	command, err := root.ExecuteContextC(ctx)
	return exitCode(ctx, std.err, command, err)
}
