package conformance

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// testReport has one failure of each kind.
func testReport() *Report {
	vector := func(id string, output, code string) *Vector {
		v := &Vector{
			ID: id, Op: "timestamp", Group: "timestamp", Spec: []string{"TXT-024", "TXT-025"},
			Input: json.RawMessage(`{"rfc3339":"2025-01-01T00:00:00Z","fraction_digits":"0"}`), Error: code,
		}
		if output != "" {
			v.Output = json.RawMessage(output)
		}
		return v
	}
	withSteps := vector("wrong-output", `{"text":"a"}`, "")
	withSteps.Note = "why <this> case is there"
	withSteps.Steps = json.RawMessage(`["2025","a"]`)
	r := &Report{
		Spec: "1.0.0", Port: Hello{Name: "idem-\x1b[31mport", Version: "1"}, Took: 1500 * time.Millisecond, Asked: 8,
		Results: []Result{
			{Vector: vector("right", `{"text":"a"}`, ""), Status: Passed},
			{Vector: withSteps, Status: Failed, Kind: wrongOutput, GotOutput: json.RawMessage(`{"text":"b"}`)},
			{Vector: vector("wrong-error", "", "TIMESTAMP_SYNTAX"), Status: Failed, Kind: wrongError, GotError: "TIMESTAMP_RANGE", Detail: "year\x00 10000"},
			{Vector: vector("crashed", "", "TIMESTAMP_SYNTAX"), Status: Failed, Kind: string(Crash), Detail: "exited with code 7 before it answered", Stderr: "panic: boom\n\tat line 1"},
			{Vector: vector("not-written", "", "TIMESTAMP_SYNTAX"), Status: Failed, Kind: unsupported},
			{Vector: vector("not-asked", "", "TIMESTAMP_SYNTAX"), Status: Failed, Kind: string(NotAsked), Detail: "gave up"},
			{Vector: vector("better", "", "TIMESTAMP_SYNTAX"), Status: Failed, Kind: unexpectedPass, Reason: "see issue 12"},
			{Vector: vector("known", "", "TIMESTAMP_SYNTAX"), Status: Known, Kind: unsupported, Reason: "see issue 13"},
		},
		Findings: []Finding{{Code: ExitCode, Text: "the port exited with code 3 after end", Stderr: "leaving"},
			{Code: UnexpectedPass, Text: "`better` passes and is a known failure: take it off the list"}},
	}
	r.tally(&Suite{Groups: []Group{{Name: "timestamp", Required: true}, {Name: "uuid", Required: true}}}, Options{})
	return r
}

func TestReportsAreGolden(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*Report, *bytes.Buffer) error{
		"report.txt":       func(r *Report, b *bytes.Buffer) error { return r.WriteText(b, false) },
		"report_color.txt": func(r *Report, b *bytes.Buffer) error { return r.WriteText(b, true) },
		"report.json":      func(r *Report, b *bytes.Buffer) error { return r.WriteJSON(b) },
		"report.xml":       func(r *Report, b *bytes.Buffer) error { return r.WriteJUnit(b) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(testReport(), &b))
		file := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), b.String(), name)
	}
}

// What nobody reads to its end is cut for people, and whole for programs.
func TestTextReportCutsLongInputs(t *testing.T) {
	t.Parallel()
	r := testReport()
	long := strings.Repeat("é", 1000)
	r.Results[1].Vector.Input = json.RawMessage(`{"text":"` + long + `"}`)
	var text, jsonText, junit bytes.Buffer
	require.NoError(t, r.WriteText(&text, false))
	assert.NotContains(t, text.String(), strings.Repeat("é", 251))
	assert.Contains(t, text.String(), "é… (2011 bytes, the whole is in --report json)\n")
	require.NoError(t, r.WriteJSON(&jsonText))
	assert.Contains(t, jsonText.String(), long)
	require.NoError(t, r.WriteJUnit(&junit))
	assert.Contains(t, junit.String(), long)
}

func TestAGroupOfWhichNothingPassedIsNotOk(t *testing.T) {
	t.Parallel()
	r := testReport()
	r.Results, r.Count, r.Groups = r.Results[len(r.Results)-1:], Count{}, nil
	r.tally(&Suite{Groups: []Group{{Name: "timestamp"}}}, Options{})
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text, false))
	assert.Contains(t, text.String(), "\nnone  timestamp     0 of 1  (1 known failure, 1 unsupported, not required)\n")
}

func TestReportsOfAConformantPort(t *testing.T) {
	t.Parallel()
	r := testReport()
	r.Results, r.Findings, r.Count, r.Groups = r.Results[:1], nil, Count{}, nil
	r.Selection = Selection{Groups: []string{"timestamp"}}
	r.tally(&Suite{Groups: []Group{{Name: "timestamp", Required: true}}}, Options{})

	var text, jsonText, junit bytes.Buffer
	require.NoError(t, r.WriteText(&text, false))
	assert.True(t, strings.HasSuffix(text.String(), "\n1 passed, 0 failed\n"), text.String())
	assert.Contains(t, text.String(), "conformant in the selection --group timestamp")

	require.NoError(t, r.WriteJSON(&jsonText))
	assert.Contains(t, jsonText.String(), `"verdict": "conformant"`)
	assert.NotContains(t, jsonText.String(), "null")

	require.NoError(t, r.WriteJUnit(&junit))
	var suites struct {
		Failures int        `xml:"failures,attr"`
		Suites   []struct{} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(junit.Bytes(), &suites))
	assert.Zero(t, suites.Failures)
	assert.Len(t, suites.Suites, 2)
}
