package guard

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// panicked is a panic of a handler. It does not wrap what was panicked with: a panic is RETRYABLE, whatever it was of.
type panicked struct {
	text, at string
	stack    bool // the log has it
}

func (p *panicked) Error() string { return p.text }

// PanickedAt is the place in the program's text, for logs: "handlers.go:34", or "" where it is not known.
func (p *panicked) PanickedAt() string { return p.at }

// panicError is for the function that has called recover: the frames of the panic are still below it.
func panicError(v any) *panicked {
	return &panicked{text: CodePanic + ": " + panicText(v), at: panicPlace()}
}

// panicText is what was panicked with. Its own String or Error may panic too.
func panicText(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("a %T", v)
		}
	}()
	return fmt.Sprint(v)
}

// panicPlace is the line that panicked: the first below the runtime's own that panicking consists of.
func panicPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for begun := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			begun = true
		case begun && !strings.HasPrefix(f.Function, "runtime."):
			return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return ""
		}
	}
}

// panicAttrs are what a line says of where a handler panicked.
func (d *Delivery) panicAttrs() []slog.Attr {
	if !strings.HasPrefix(d.Result.Reason, CodePanic+":") {
		return nil
	}
	var p *panicked // it escapes, so not before there is a panic
	if !errors.As(d.Err, &p) || p.at == "" {
		return nil
	}
	attrs := []slog.Attr{slog.String("at", p.at)}
	if p.stack {
		attrs = append(attrs, slog.String("stack", "in the log at level DEBUG"))
	}
	return attrs
}
