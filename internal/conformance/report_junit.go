package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The shapes of JUnit's XML that its readers agree on.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Skipped *junitSkipped `xml:"skipped,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// WriteJUnit writes the report as JUnit's XML: a suite for each group, known failures as skipped,
// and a suite "verdict" that fails for each finding, so that a reader of the file alone comes to the
// same verdict.
func (r *Report) WriteJUnit(w io.Writer) error {
	out := junitSuites{
		Name: printable(r.Port.Name), Time: fmt.Sprintf("%.3f", r.Took.Seconds()),
		Tests: r.Count.Cases, Failures: r.Count.Failed, Skipped: r.Count.Known,
	}
	for _, g := range r.Groups {
		suite := junitSuite{Name: g.Group, Tests: g.Cases, Failures: g.Failed, Skipped: g.Known}
		for i := range r.Results {
			if res := &r.Results[i]; res.Vector.Group == g.Group {
				suite.Cases = append(suite.Cases, junitOf(res))
			}
		}
		out.Suites = append(out.Suites, suite)
	}
	verdict := junitSuite{Name: "verdict"}
	for _, f := range r.Findings {
		verdict.Cases = append(verdict.Cases, junitCase{
			Class: "idem.verdict", Name: string(f.Code),
			Failure: &junitFailure{Type: string(f.Code), Message: printable(f.Text), Text: printable(f.Stderr)},
		})
	}
	if len(verdict.Cases) == 0 {
		verdict.Cases = []junitCase{{Class: "idem.verdict", Name: "findings"}}
	}
	verdict.Tests, verdict.Failures = len(verdict.Cases), len(r.Findings)
	out.Suites = append(out.Suites, verdict)
	out.Tests += verdict.Tests
	out.Failures += verdict.Failures

	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(res *Result) junitCase {
	c := junitCase{Class: "idem." + res.Vector.Group, Name: res.Vector.ID}
	switch res.Status {
	case Known:
		c.Skipped = &junitSkipped{Message: printable("known failure: " + res.Reason)}
	case Failed:
		var b strings.Builder
		for _, line := range res.explain() {
			fmt.Fprintf(&b, "%s: %s\n", line.label, line.text)
		}
		c.Failure = &junitFailure{Type: res.Kind, Message: printable(res.summary()), Text: printable(b.String())}
	}
	return c
}

// printable replaces what XML 1.0 cannot hold.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return r
		case r < 0x20 || r == 0xFFFE || r == 0xFFFF:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
