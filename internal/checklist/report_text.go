package checklist

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/show"
)

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer, color bool) error {
	out := bufio.NewWriter(w)
	paint := func(code, text string) string {
		if !color {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	for _, s := range r.Services {
		fmt.Fprintf(out, "%s: %d passed, %d failed, %d skipped, in %v\n\n", show.Text(s.title()), s.count(Passed), s.count(Failed), s.count(Skipped), s.Took.Round(time.Second))
		for _, result := range s.Results {
			switch result.Status {
			case Passed:
				fmt.Fprintf(out, "%s  %s: %s  (%v)\n", paint("32", "pass"), result.Fault, result.Line, result.Took.Round(100*time.Millisecond))
			case Failed:
				fmt.Fprintf(out, "%s  %s: %s  (%v)\n", paint("1;31", "FAIL"), result.Fault, result.Line, result.Took.Round(100*time.Millisecond))
			case Skipped:
				fmt.Fprintf(out, "%s  %s: %s\n      %s\n", paint("33", "skip"), result.Fault, result.Line, show.Text(result.Reason))
			}
			for _, p := range result.parts() {
				for i, line := range p.lines {
					name := p.name
					if i > 0 {
						name = ""
					}
					fmt.Fprintf(out, "      %-9s %s\n", name, show.Text(line))
				}
			}
			if result.Log != "" {
				fmt.Fprintf(out, "      the service said at last:\n")
				for line := range strings.Lines(result.Log) {
					fmt.Fprintf(out, "        %s\n", show.Text(strings.TrimRight(line, "\n")))
				}
			}
		}
		fmt.Fprintln(out)
	}
	parts := slices.DeleteFunc([]string{r.verdict(), r.outage(), length(r.Took.Round(time.Second)) + " in all"}, func(part string) bool { return part == "" })
	fmt.Fprintln(out, strings.Join(parts, "; "))
	return out.Flush()
}

// verdict is the report in a line.
func (r *Report) verdict() string {
	word := "all green"
	if !r.Green() {
		word = "NOT green"
	}
	return fmt.Sprintf("%s: %d passed, %d failed, %d skipped", word, r.Count(Passed), r.Count(Failed), r.Count(Skipped))
}
