package checklist

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
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit's XML: a suite for each service, a case for each fault.
func (r *Report) WriteJUnit(w io.Writer) error {
	out := junitSuites{Name: "idem faults", Failures: r.Count(Failed), Skipped: r.Count(Skipped), Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
	for _, s := range r.Services {
		suite := junitSuite{Name: printable(s.title()), Tests: len(s.Results), Failures: s.count(Failed), Skipped: s.count(Skipped), Time: fmt.Sprintf("%.3f", s.Took.Seconds())}
		for _, result := range s.Results {
			suite.Cases = append(suite.Cases, junitOf(s, result))
		}
		out.Tests += suite.Tests
		out.Suites = append(out.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(s *Service, r *Result) junitCase {
	c := junitCase{Class: printable("idem.faults." + s.Name), Name: r.Fault, Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
	var text strings.Builder
	for _, p := range r.parts() {
		for _, line := range p.lines {
			fmt.Fprintf(&text, "%s: %s\n", p.name, line)
		}
	}
	switch r.Status {
	case Skipped:
		c.Skipped = &junitMessage{Message: printable(r.Reason)}
	case Failed:
		c.Failure = &junitMessage{printable(r.Violations[0]), printable(text.String() + r.Log)}
	default:
		c.Out = printable(text.String())
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
