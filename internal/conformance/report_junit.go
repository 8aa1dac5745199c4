package conformance

import (
	"fmt"
	"io"
	"strings"

	"github.com/idem-spec/idem/internal/junit"
)

// WriteJUnit writes the report as JUnit's XML: a suite for each group, known failures as skipped,
// and a suite "verdict" that fails for each finding, so that a reader of the file alone comes to the
// same verdict.
func (r *Report) WriteJUnit(w io.Writer) error {
	out := junit.Suites{
		Name: junit.Text(r.Port.Name), Time: junit.Seconds(r.Took),
		Tests: r.Count.Cases, Failures: r.Count.Failed, Skipped: r.Count.Known,
	}
	for _, g := range r.Groups {
		suite := junit.Suite{Name: junit.Text(g.Group), Tests: g.Cases, Failures: g.Failed, Skipped: g.Known}
		for i := range r.Results {
			if res := &r.Results[i]; res.Vector.Group == g.Group {
				suite.Cases = append(suite.Cases, junitOf(res))
			}
		}
		out.Suites = append(out.Suites, suite)
	}
	verdict := junit.Suite{Name: "verdict"}
	for _, f := range r.Findings {
		verdict.Cases = append(verdict.Cases, junit.Case{
			Class: "idem.verdict", Name: junit.Text(f.Code),
			Failure: &junit.Message{Type: junit.Text(f.Code), Message: junit.Text(f.Text), Text: junit.Text(f.Stderr)},
		})
	}
	if len(verdict.Cases) == 0 {
		verdict.Cases = []junit.Case{{Class: "idem.verdict", Name: "findings"}}
	}
	verdict.Tests, verdict.Failures = len(verdict.Cases), len(r.Findings)
	out.Suites = append(out.Suites, verdict)
	out.Tests += verdict.Tests
	out.Failures += verdict.Failures
	return junit.Write(w, out)
}

func junitOf(res *Result) junit.Case {
	c := junit.Case{Class: junit.Text("idem." + res.Vector.Group), Name: junit.Text(res.Vector.ID)}
	switch res.Status {
	case Known:
		c.Skipped = &junit.Message{Message: junit.Text("known failure: " + res.Reason)}
	case Failed:
		var b strings.Builder
		for _, line := range res.explain() {
			fmt.Fprintf(&b, "%s: %s\n", line.label, line.text)
		}
		c.Failure = &junit.Message{Type: junit.Text(res.Kind), Message: junit.Text(res.summary()), Text: junit.Text(b.String())}
	}
	return c
}
