// Command idem is the command line of idem: it lints schemas, their changes and messages, gives a verdict on
// a port, shows the delays that a policy makes, renders a key, sets up a repository that uses the options, and operates
// the tables and topics of services.
//
// Exit codes: 0 the answer is yes, 1 it is no, 2 the command cannot be carried out as it is written,
// 3 (conformance, faults) the port or the service cannot be run.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := interruptible()
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// interruptible returns a context that ends when a person or the system ends the command, so that no port outlives
// it. What nohup has the process ignore stays ignored.
func interruptible() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}

// streams are what a command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, std streams) int {
	out := &answer{w: std.out}
	std.out = out
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	command, err := root.ExecuteContextC(ctx)
	var own *exit
	if out.err != nil && !errors.As(err, &own) {
		err = brokenf("write the answer: %w", out.err)
	}
	return exitCode(ctx, std.err, command, err)
}

// answer is standard output, which remembers that something could not be written: half an answer is none.
type answer struct {
	w   io.Writer
	err error
}

func (a *answer) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	if err != nil && a.err == nil {
		a.err = err
	}
	return n, err
}
