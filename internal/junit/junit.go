// Package junit writes JUnit's XML, in the shapes that its readers agree on.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

type (
	// Suites are a whole report.
	Suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     Text     `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Time     Seconds  `xml:"time,attr"`
		Suites   []Suite  `xml:"testsuite"`
	}
	// Suite is a group of cases.
	Suite struct {
		Name     Text     `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Time     *Seconds `xml:"time,attr,omitempty"`
		Cases    []Case   `xml:"testcase"`
	}
	// Case has passed where it has neither a failure nor was skipped.
	Case struct {
		Class   Text     `xml:"classname,attr"`
		Name    Text     `xml:"name,attr"`
		Time    *Seconds `xml:"time,attr,omitempty"`
		Failure *Message `xml:"failure,omitempty"`
		Skipped *Message `xml:"skipped,omitempty"`
		Out     Text     `xml:"system-out,omitempty"`
	}
	// Message is why.
	Message struct {
		Type    Text `xml:"type,attr,omitempty"`
		Message Text `xml:"message,attr"`
		Text    Text `xml:",chardata"`
	}
	// Text is written with U+FFFD in place of what XML 1.0 cannot hold.
	Text string
	// Seconds is a time as JUnit has it.
	Seconds time.Duration
)

// Write writes a report.
func Write(w io.Writer, s Suites) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// MarshalText has milliseconds.
func (s Seconds) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(s).Seconds()), nil
}

// MarshalText replaces what XML cannot hold.
func (t Text) MarshalText() ([]byte, error) {
	return []byte(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return r
		case r < 0x20 || r == 0xFFFE || r == 0xFFFF:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(string(t), "\uFFFD"))), nil
}
