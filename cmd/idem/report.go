package main

import (
	"errors"
	"io"
	"os"
)

// texter is what a run found out; there are other forms beside the text.
type texter interface {
	WriteText(w io.Writer, color bool) error
}

// reportWriter writes a report in one of its forms.
type reportWriter[R texter] func(r R, w io.Writer, color bool) error

// plain is a form without colours.
func plain[R texter](write func(R, io.Writer) error) reportWriter[R] {
	return func(r R, w io.Writer, _ bool) error { return write(r, w) }
}

// createReport creates the file of a report before the run, so that a path that cannot be is told at once; nil where
// there is none.
func createReport(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, brokenf("--output: %w", err)
	}
	return file, nil
}

// writeReport writes a report to its file, and the text to out; without a file to out alone.
func writeReport[R texter](r R, write reportWriter[R], file *os.File, out io.Writer) error {
	if file == nil {
		return write(r, out, colors(out))
	}
	if err := errors.Join(write(r, file, false), file.Close()); err != nil {
		return err
	}
	return r.WriteText(out, colors(out))
}
