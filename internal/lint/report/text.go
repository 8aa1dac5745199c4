package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// text is a line for each finding, as compilers write them, and below it what a change alters:
//
//	shop/v1/payment.proto:7:3: error: IDEM_…: what is wrong: how to mend it
//	  before: payments.succeeded:p-1
//	  after:  payments.succeeded:v1:p-1
type text struct {
	w io.Writer
	o Options
}

func newText(w io.Writer, o Options) Writer { return &text{w, o} }

// The colors of severities, and of what is dim.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	faint  = "\x1b[2m"
	reset  = "\x1b[0m"
)

func (t *text) Write(f lint.Finding) error {
	var b strings.Builder
	b.WriteString(place(t.o.path(f.Position.File), f.Position))
	b.WriteString(": ")
	b.WriteString(t.color(severityColor(f.Severity), f.Severity.String()))
	b.WriteString(": " + f.Rule.ID + ": " + printable(f.What))
	if f.Mend != "" {
		b.WriteString(": " + printable(f.Mend))
	}
	b.WriteByte('\n')
	if f.Before != "" || f.After != "" {
		b.WriteString(t.color(faint, "  before: ") + printable(f.Before) + "\n")
		b.WriteString(t.color(faint, "  after:  ") + printable(f.After) + "\n")
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

func (t *text) Close(Summary) error { return nil }

func severityColor(s lint.Severity) string {
	if s == lint.Error {
		return red
	}
	return yellow
}

func (t *text) color(color, s string) string {
	if !t.o.Color {
		return s
	}
	return color + s + reset
}

// place is "file:line:column", without what is not known: a message in a topic has no line.
func place(file string, at schema.Position) string {
	file = printable(file)
	if at.Line < 1 {
		return file
	}
	file += ":" + strconv.Itoa(at.Line)
	if at.Column < 1 {
		return file
	}
	return file + ":" + strconv.Itoa(at.Column)
}

// printable is a text on one line: what a terminal would obey is replaced.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
