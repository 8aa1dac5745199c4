package checklist

import (
	"fmt"
	"io"
	"strings"

	"github.com/idem-spec/idem/internal/junit"
)

// WriteJUnit writes the report as JUnit's XML: a suite for each service, a case for each fault.
func (r *Report) WriteJUnit(w io.Writer) error {
	out := junit.Suites{Name: "idem faults", Failures: r.Count(Failed), Skipped: r.Count(Skipped), Time: junit.Seconds(r.Took)}
	for _, s := range r.Services {
		took := junit.Seconds(s.Took)
		suite := junit.Suite{Name: junit.Text(s.title()), Tests: len(s.Results), Failures: s.count(Failed), Skipped: s.count(Skipped), Time: &took}
		for _, result := range s.Results {
			suite.Cases = append(suite.Cases, junitOf(s, result))
		}
		out.Tests += suite.Tests
		out.Suites = append(out.Suites, suite)
	}
	return junit.Write(w, out)
}

func junitOf(s *Service, r *Result) junit.Case {
	took := junit.Seconds(r.Took)
	c := junit.Case{Class: junit.Text("idem.faults." + s.Name), Name: junit.Text(r.Fault), Time: &took}
	var text strings.Builder
	for _, p := range r.parts() {
		for _, line := range p.lines {
			fmt.Fprintf(&text, "%s: %s\n", p.name, line)
		}
	}
	switch r.Status {
	case Skipped:
		c.Skipped = &junit.Message{Message: junit.Text(r.Reason)}
	case Failed:
		c.Failure = &junit.Message{Message: junit.Text(r.Violations[0]), Text: junit.Text(text.String() + r.Log)}
	default:
		c.Out = junit.Text(text.String())
	}
	return c
}
