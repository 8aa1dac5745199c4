package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"

	"github.com/idem-spec/idem/internal/lint"
)

// Schema is the JSON Schema of the format json.
//
//go:embed findings.schema.json
var Schema []byte

// jsonVersion changes where a program that reads the format has to.
const jsonVersion = 1

// jsonFinding is a finding as findings.schema.json has it.
type jsonFinding struct {
	Rule      string     `json:"rule"`
	Category  string     `json:"category"`
	Severity  string     `json:"severity"`
	File      string     `json:"file"`
	Line      int        `json:"line,omitempty"`
	Column    int        `json:"column,omitempty"`
	EndLine   int        `json:"end_line,omitempty"`
	EndColumn int        `json:"end_column,omitempty"`
	What      string     `json:"what"`
	Mend      string     `json:"mend,omitempty"`
	Before    string     `json:"before,omitempty"`
	After     string     `json:"after,omitempty"`
	Edits     []jsonEdit `json:"edits,omitempty"`
}

type jsonEdit struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

type jsonSummary struct {
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Off      []jsonOff `json:"off"`
}

type jsonOff struct {
	Rule  string   `json:"rule"`
	Needs []string `json:"needs"`
}

// jsonReport is one JSON object with a finding a line.
type jsonReport struct {
	list
	o Options
}

func newJSON(w io.Writer, o Options) Writer {
	return &jsonReport{list{w: w, before: `{"version":` + encoded(jsonVersion) + `,"command":` + encoded(o.Kind.String()) + `,"findings":[`}, o}
}

func (j *jsonReport) Write(f lint.Finding) error {
	at := f.Position
	out := jsonFinding{
		Rule: f.Rule.ID, Category: f.Rule.Category, Severity: f.Severity.String(),
		File: j.o.path(at.File), Line: at.Line, Column: at.Column, EndLine: at.EndLine, EndColumn: at.EndColumn,
		What: f.What, Mend: f.Mend, Before: f.Before, After: f.After,
	}
	for _, e := range f.Edits {
		out.Edits = append(out.Edits, jsonEdit{j.o.path(e.File), e.Start, e.End, e.Text})
	}
	return j.add(out)
}

func (j *jsonReport) Close(s Summary) error {
	out := jsonSummary{Errors: s.Errors, Warnings: s.Warnings, Off: []jsonOff{}}
	for _, r := range s.Off {
		out.Off = append(out.Off, jsonOff{r.ID, r.Needs})
	}
	return j.end(`],"summary":` + encoded(out) + "}\n")
}

// list writes the elements of a JSON array as they come, one a line, with what stands before and behind.
type list struct {
	w      io.Writer
	before string
	some   bool
}

func (l *list) add(element any) error {
	text := "\n" + encoded(element)
	if l.some {
		text = "," + text
	}
	return l.write(text)
}

func (l *list) end(behind string) error {
	if l.some {
		behind = "\n" + behind
	}
	return l.write(behind)
}

func (l *list) write(text string) error {
	text, l.before, l.some = l.before+text, "", true
	_, err := io.WriteString(l.w, text)
	return err
}

// encoded is a value of this package as JSON, in which a text that is no UTF-8 is mended.
func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a type that JSON has no form of
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
