package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

const (
	exitOK = iota
	exitNo
	exitUsage
	exitNotRun
	exitInterrupted = 130
)

// exit is an error with an exit code of its own. Without an error nothing more is said.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// failf is an answer of no: exit code 1.
func failf(format string, args ...any) error {
	return &exit{exitNo, fmt.Errorf(format, args...)}
}

// brokenf is a command that is written as it should be and cannot be carried out, since a file or a
// directory is not what it should be: exit code 2 without the hint at the help.
func brokenf(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// exitCode says what went wrong, and returns the exit code. An error of no other kind is one of
// usage.
func exitCode(ctx context.Context, w io.Writer, command *cobra.Command, err error) int {
	var own *exit
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "idem: interrupted")
		return exitInterrupted
	case errors.As(err, &own):
		if own.err != nil {
			fmt.Fprintln(w, "idem:", message(own.err))
		}
		return own.code
	default:
		fmt.Fprintf(w, "idem: %s\nSee '%s --help'.\n", message(err), command.CommandPath())
		return exitUsage
	}
}

// message is an error's text without the name of the core in front of it, and without what a terminal would
// obey: names of files and refs are as others have chosen them.
func message(err error) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, strings.TrimPrefix(err.Error(), "idem: "))
}
