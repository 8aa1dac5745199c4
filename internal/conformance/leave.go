package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// leave waits for a process that was told to go, and stops it in any case. It has a finding where
// the process writes more, stays, or exits with another code.
func (p *port) leave(ctx context.Context, after string, code int, within time.Duration) (*Finding, error) {
	limit := time.Now().Add(within)
	found := func(code FindingCode, format string, args ...any) (*Finding, error) {
		f := Finding{Code: code, Text: fmt.Sprintf(format, args...) + " after " + after}
		p.stop()
		f.Stderr = p.stderrTail()
		return &f, nil
	}
	line, err := p.line(ctx, limit)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil, errors.Is(err, errTooLong), errors.Is(err, io.ErrUnexpectedEOF):
		return found(ExtraOutput, "the port wrote %s", quoteLine(line))
	case errors.Is(err, errTimeout):
		return found(NoExit, "the port did not exit within %v", within)
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Until(limit)):
		return found(NoExit, "the port closed its standard output and did not exit within %v", within)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		return found(ExitCode, "the port %s instead of %d", p.ending(), code)
	}
	p.stop()
	return nil, nil
}
