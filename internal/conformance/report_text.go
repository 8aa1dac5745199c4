package conformance

import (
	"fmt"
	"io"
	"strings"
)

// explanation is one labelled line about a failure.
type explanation struct{ label, text string }

// summary is the failure in one line.
func (r *Result) summary() string {
	switch r.Kind {
	case wrongOutput, wrongError:
		return "expected " + r.Vector.expected() + ", got " + r.got()
	case unsupported:
		return "unsupported"
	case unexpectedPass:
		return "passes and is a known failure"
	default:
		return strings.ReplaceAll(r.Kind, "_", " ") + ": " + r.Detail
	}
}

// expected is the expected answer as text.
func (v *Vector) expected() string {
	if v.Output == nil {
		return v.Error
	}
	return string(v.Output)
}

func (r *Result) got() string {
	if r.GotOutput == nil {
		return r.GotError
	}
	return string(r.GotOutput)
}

// explain says all there is to say about a failure.
func (r *Result) explain() []explanation {
	v := r.Vector
	lines := []explanation{{"spec", strings.Join(v.Spec, " ")}}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, explanation{label, text})
		}
	}
	add("note", v.Note)
	add("input", string(v.Input))
	add("expected", v.expected())
	switch r.Kind {
	case wrongOutput, wrongError:
		add("got", r.got())
		add("detail", r.Detail)
	default:
		add("got", r.summary())
	}
	add("steps", string(v.Steps))
	add("reason", r.Reason)
	add("stderr", r.Stderr)
	return lines
}

// WriteText writes the report for people: the groups, the failures, the findings, and last the
// verdict and the numbers. With color it uses the terminal's.
func (r *Report) WriteText(w io.Writer, color bool) error {
	p := &painter{w: w, color: color}
	p.groups(r)
	p.failures(r)
	p.findings(r)
	p.last(r)
	return p.err
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
	dim    = "2"
)

// painter writes text, in colors or not, until the first error.
type painter struct {
	w     io.Writer
	color bool
	err   error
}

func (p *painter) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *painter) paint(color, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (p *painter) groups(r *Report) {
	if r.Port.Name == "" {
		return
	}
	p.printf("%s %s, spec %s\n\n", p.paint(bold, sanitize(r.Port.Name)), sanitize(r.Port.Version), r.Spec)
	width := 0
	for _, g := range r.Groups {
		width = max(width, len(g.Group))
	}
	for _, g := range r.Groups {
		mark := p.paint(green, "ok  ")
		switch {
		case g.Failed > 0:
			mark = p.paint(red, "FAIL")
		case g.Passed == 0:
			mark = p.paint(yellow, "none")
		}
		p.printf("%s  %-*s  %4d of %d%s\n", mark, width, g.Group, g.Passed, g.Cases, g.remarks())
	}
	p.printf("\n")
}

// remarks says what a group has beside passes.
func (g GroupCount) remarks() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(g.Failed, "failed")
	add(g.Known, plural(g.Known, "known failure"))
	add(g.Unsupported, "unsupported")
	if !g.Required {
		parts = append(parts, "not required")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

// failures shows each failure; those that say no more than their number are counted instead.
func (p *painter) failures(r *Report) {
	counted := map[string]int{}
	for i := range r.Results {
		res := &r.Results[i]
		if res.Status != Failed || res.Kind == unexpectedPass { // a finding says which
			continue
		}
		if res.Kind == unsupported || res.Kind == string(NotAsked) {
			counted[res.Kind]++
			continue
		}
		p.printf("%s %s\n", p.paint(red, "FAIL"), p.paint(bold, res.Vector.ID))
		for _, e := range res.explain() {
			text := e.text
			if e.label != "stderr" {
				text = cut(text)
			}
			text = strings.ReplaceAll(sanitize(text), "\n", "\n            ")
			p.printf("  %s  %s\n", p.paint(dim, fmt.Sprintf("%-8s", e.label)), text)
		}
		p.printf("\n")
	}
	if n := counted[unsupported]; n > 0 {
		p.printf("%s %d %s answered with unsupported\n\n", p.paint(red, "FAIL"), n, plural(n, "case"))
	}
	if n := counted[string(NotAsked)]; n > 0 {
		p.printf("%s %d %s not asked\n\n", p.paint(red, "FAIL"), n, plural(n, "case"))
	}
}

// cut shortens what nobody reads to its end; the other reports have the whole.
func cut(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes, the whole is in --report json)", strings.ToValidUTF8(s[:most], ""), len(s))
}

func (p *painter) findings(r *Report) {
	for _, f := range r.Findings {
		p.printf("%s %s\n", p.paint(yellow, strings.ReplaceAll(string(f.Code), "_", " ")+":"), sanitize(f.Text))
		if f.Stderr != "" {
			p.printf("  stderr    %s\n", strings.ReplaceAll(sanitize(f.Stderr), "\n", "\n            "))
		}
	}
	if len(r.Findings) > 0 {
		p.printf("\n")
	}
}

func (p *painter) last(r *Report) {
	verdict := p.paint(green, "conformant")
	if !r.Conformant() {
		verdict = p.paint(red, "not conformant")
	}
	scope := ""
	if r.Partial() {
		scope = fmt.Sprintf(" in the selection %s; the verdict on the port is that of all cases", r.Selection)
	}
	p.printf("%s%s\n%d passed, %d failed", verdict, scope, r.Count.Passed, r.Count.Failed)
	if n := r.Count.Known; n > 0 {
		p.printf(", %d %s", n, plural(n, "known failure"))
	}
	p.printf("\n")
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// sanitize keeps a port from writing to the terminal: control characters are shown, not sent.
func sanitize(s string) string {
	clean := func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }
	if !strings.ContainsFunc(s, clean) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if clean(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
