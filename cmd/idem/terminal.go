package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether somebody looks at what is written.
func isTerminal(w io.Writer) bool {
	if a, ok := w.(*answer); ok {
		w = a.w
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// colors reports whether to write in colors: on a terminal, unless NO_COLOR is set or the terminal
// has none.
func colors(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// progress is a line on a terminal that is written over and over.
type progress struct {
	w     io.Writer
	shown bool
}

// newProgress returns a progress that shows nothing where w is no terminal.
func newProgress(w io.Writer) *progress {
	if !isTerminal(w) {
		w = nil
	}
	return &progress{w: w}
}

func (p *progress) show(done, all int) { p.tell(fmt.Sprintf("%d of %d", done, all)) }

func (p *progress) tell(text string) {
	if p.w != nil {
		p.shown = true
		fmt.Fprint(p.w, "\r\x1b[K", text)
	}
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
