// Package report writes findings: as text for people, as JSON, as GitHub's annotations, and as SARIF.
// Each format is written as findings come, so that a stream of them takes no memory.
package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// Writer writes findings in the order in which they come.
type Writer interface {
	Write(lint.Finding) error
	// Close ends the report. It does not close what is written to.
	Close(Summary) error
}

// Summary is what is known at the end of a run.
type Summary struct {
	Errors, Warnings int
	// Off are the rules that did not run for want of a fact in idem.yaml.
	Off []*lint.Rule
}

// Count adds a finding.
func (s *Summary) Count(f lint.Finding) {
	if f.Severity == lint.Error {
		s.Errors++
	} else {
		s.Warnings++
	}
}

// Options are about all formats.
type Options struct {
	// Kind is whose findings they are.
	Kind lint.Kind
	// Rules are the rules of the run, and Help is the page of one, in markdown; Help may be nil.
	Rules []*lint.Rule
	Help  func(id string) string
	// Path is how a file of a finding is named in the report: as a person opens it. It may be nil.
	Path func(file string) string
	// Source is the text of a file, nil where it is not known. It may be nil.
	Source func(file string) []byte
	// Version is the program's.
	Version string
	// Color is for text on a terminal.
	Color bool
}

func (o *Options) path(file string) string {
	if o.Path == nil {
		return file
	}
	return o.Path(file)
}

// characters is a position whose columns count characters, of which a tab is one. Compilers count a tab as many.
func (o *Options) characters(at schema.Position) schema.Position {
	if o.Source == nil {
		return at
	}
	text := o.Source(at.File)
	at.Column, at.EndColumn = character(text, at.Line, at.Column), character(text, at.EndLine, at.EndColumn)
	return at
}

func character(text []byte, line, column int) int {
	offset, ok := lint.Offset(text, line, column)
	if !ok || column < 1 {
		return column
	}
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	return 1 + utf8.RuneCount(text[start:offset])
}

// formats are the formats by name.
var formats = map[string]func(io.Writer, Options) Writer{
	"text": newText, "json": newJSON, "github": newGitHub, "sarif": newSARIF,
}

// Formats are the names of the formats, the default first.
func Formats() []string { return []string{"text", "json", "github", "sarif"} }

// New starts a report.
func New(w io.Writer, format string, o Options) (Writer, error) {
	start := formats[format]
	if start == nil {
		return nil, fmt.Errorf("--format %s: it is %s", format, strings.Join(Formats(), ", "))
	}
	return start(w, o), nil
}
