package report_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/report"
	"github.com/idem-spec/idem/internal/schema"
)

var update = flag.Bool("update", false, "write testdata anew")

var (
	version = &lint.Rule{
		ID: "IDEM_KEY_VERSION_MISSING", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a key has a version segment.", Spec: []string{"KEY-030"},
	}
	delay = &lint.Rule{
		ID: "IDEM_DELAY_CHANGED", Kind: lint.Change, Category: lint.Retry, Severity: lint.Warning,
		Purpose: "Checks that delays stay.", Spec: []string{"RETRY-010", "RETRY-011"},
	}
	off = &lint.Rule{
		ID: "IDEM_OFF", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Error,
		Purpose: "Checks that nothing is.", Spec: []string{"RETRY-010"}, Needs: []string{"consumers", "dedup_retention"},
	}
)

// findings are one of each shape.
var findings = []lint.Finding{
	{
		Rule: version, Severity: lint.Error,
		Position: schema.Position{File: "shop/v1/paid.proto", Line: 8, Column: 3, EndLine: 8, EndColumn: 40},
		What:     "the key of shop.v1.Paid has no version segment", Mend: "write v1 behind the event type",
		Edits: []lint.Edit{{File: "shop/v1/paid.proto", Start: 120, End: 120, Text: ":v1"}, {File: "shop/v1/paid.proto", Start: 200, End: 204, Text: ""}},
	},
	{
		Rule: delay, Severity: lint.Warning,
		Position: schema.Position{File: "shop/v1/a b,c:100%.proto", Line: 2, Column: 1, EndLine: 5, EndColumn: 2},
		What:     "delay 2 of shop.v1.Paid changes", Before: "1s, 2s", After: "1s, 4s",
	},
	{
		Rule: version, Severity: lint.Warning,
		Position: schema.Position{File: "payments/3@17"},
		What:     "a value with \x1b[31mcolor, \xff, 100% and\na new line::", Mend: "send it as it is",
	},
	{
		Rule: delay, Severity: lint.Error,
		Position: schema.Position{File: "/data/messages.ndjson", Line: 12},
		What:     "line 12 has no key",
	},
}

// write is a report of findings.
func write(t *testing.T, format string, o report.Options, findings []lint.Finding) string {
	t.Helper()
	var out bytes.Buffer
	o.Kind, o.Rules, o.Version = lint.Schema, []*lint.Rule{version, delay}, "1.2.3"
	o.Help = func(id string) string { return "Why " + id + " is `there`." }
	o.Path = func(file string) string { return strings.Replace(file, "shop/", "proto/shop/", 1) }
	w, err := report.New(&out, format, o)
	require.NoError(t, err)
	s := report.Summary{Off: []*lint.Rule{off}}
	for _, f := range findings {
		s.Count(f)
		require.NoError(t, w.Write(f))
	}
	require.NoError(t, w.Close(s))
	return out.String()
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, format := range report.Formats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join("testdata", "findings."+format)
			got := write(t, format, report.Options{}, findings)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func TestFormatsMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	official, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	require.NoError(t, err)
	for format, text := range map[string][]byte{"json": report.Schema, "sarif": official} {
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		require.NoError(t, c.AddResource("schema.json", parsed))
		compiled, err := c.Compile("schema.json")
		require.NoError(t, err)
		for name, findings := range map[string][]lint.Finding{"some": findings, "none": nil} {
			log, err := jsonschema.UnmarshalJSON(strings.NewReader(write(t, format, report.Options{}, findings)))
			require.NoError(t, err)
			require.NoError(t, compiled.Validate(log), "%s of %s", format, name)
		}
		wrong, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(write(t, format, report.Options{}, findings), `"version":`, `"versoin":`, 1)))
		require.NoError(t, err)
		require.Error(t, compiled.Validate(wrong), "the schema of %s refuses something", format)
	}
}

func TestColorsAreOfTextAlone(t *testing.T) {
	t.Parallel()
	for _, format := range report.Formats() {
		plain, colored := write(t, format, report.Options{}, findings), write(t, format, report.Options{Color: true}, findings)
		assert.NotContains(t, plain, "\x1b", "%s passes on what a terminal would obey", format)
		if format == "text" {
			assert.Contains(t, colored, "\x1b[31merror\x1b[0m: IDEM_KEY_VERSION_MISSING")
			assert.Contains(t, colored, "\x1b[33mwarning\x1b[0m: ")
		} else {
			assert.Equal(t, plain, colored)
		}
	}
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestReportThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, format := range report.Formats() {
		w, err := report.New(full{}, format, report.Options{Kind: lint.Schema})
		require.NoError(t, err)
		assert.ErrorIs(t, w.Write(findings[0]), errFull, format)
	}
	_, err := report.New(full{}, "xml", report.Options{})
	assert.ErrorContains(t, err, "it is text, json, github, sarif")
}

func TestTabIsOneColumnWhereColumnsAreCharacters(t *testing.T) {
	t.Parallel()
	f := findings[0]
	f.Position = schema.Position{File: "a.proto", Line: 2, Column: 10, EndLine: 2, EndColumn: 12}
	o := report.Options{Source: func(string) []byte { return []byte("é\n\té👍xy\n") }}
	assert.Contains(t, write(t, "sarif", o, []lint.Finding{f}), `"region":{"startLine":2,"startColumn":3,"endLine":2,"endColumn":5}`)
	assert.Contains(t, write(t, "github", o, []lint.Finding{f}), ",line=2,col=3,endColumn=5::")
	assert.Contains(t, write(t, "text", o, []lint.Finding{f}), "a.proto:2:10: ", "as compilers write it")
}

func TestPathIsShownAsItIsNotObeyed(t *testing.T) {
	t.Parallel()
	f := findings[0]
	f.Position.File = "a\x1b[31m\n::error::b.proto"
	for _, format := range report.Formats() {
		text := write(t, format, report.Options{}, []lint.Finding{f})
		assert.NotContains(t, text, "\x1b", format)
		assert.NotContains(t, text, "\n::error::b", format)
	}
}
