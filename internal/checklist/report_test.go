package checklist

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func sample() *Report {
	return &Report{
		Took: 3 * time.Second, Outage: 2 * time.Minute,
		Services: []*Service{{Name: "payments", Language: "Go", Adapter: "payments.yaml", Results: []*Result{
			{Fault: "duplicate-delivery", Line: "duplicate delivery", Status: Passed, Injected: []string{"20 messages"}, Proof: []string{"20 effects"}},
			{Fault: "poison-bytes", Line: "poison bytes", Status: Failed, Violations: []string{"LOST k<1>\x1b[2J: gone", "LOST k2: gone"}, Log: "last words\x07"},
			{Fault: "redis-down", Line: "Redis down", Status: Skipped, Reason: "it has none"},
			{Fault: "outage", Line: "outage of everything downstream", Status: Passed},
		}}},
	}
}

// TestReportsSayTheSame: in each form the fault, what was broken, the reason of what was skipped, and the length of
// the outage; nothing of a message reaches a terminal or a page as it is.
func TestReportsSayTheSame(t *testing.T) {
	r := sample()
	require.False(t, r.Green())
	forms := map[string]string{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":  func(b *bytes.Buffer) error { return r.WriteText(b, false) },
		"json":  func(b *bytes.Buffer) error { return r.WriteJSON(b) },
		"junit": func(b *bytes.Buffer) error { return r.WriteJUnit(b) },
		"html":  func(b *bytes.Buffer) error { return r.WriteHTML(b) },
	} {
		var out bytes.Buffer
		require.NoError(t, write(&out), name)
		forms[name] = out.String()
		for _, text := range []string{"poison-bytes", "it has none", "20 effects", "last words", "payments"} {
			require.Contains(t, out.String(), text, name)
		}
		require.NotContains(t, out.String(), "\x1b", name)
	}
	require.Contains(t, forms["text"], "NOT green: 2 passed, 1 failed, 1 skipped; the outage was 2m long; 3s in all\n")
	require.Contains(t, forms["html"], "k&lt;1&gt;")
	require.Contains(t, forms["html"], "in all; the outage was 2m long.")
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	require.NoError(t, xml.Unmarshal([]byte(forms["junit"]), &suites))
	require.Equal(t, []int{4, 1, 1}, []int{suites.Tests, suites.Failures, suites.Skipped})
	var object jsonReport
	require.NoError(t, json.Unmarshal([]byte(forms["json"]), &object))
	require.Equal(t, []any{false, 120.0}, []any{object.Green, object.Outage})
	require.NotContains(t, strings.ToLower(forms["html"]), "src=", "the page loads nothing")
}

// TestOutageThatWasNotRunIsNotTold: neither one that was not asked for nor one that was skipped.
func TestOutageThatWasNotRunIsNotTold(t *testing.T) {
	for name, results := range map[string][]*Result{
		"not asked for": {{Fault: "redis-down", Status: Passed}},
		"skipped":       {{Fault: "redis-down", Status: Passed}, {Fault: "outage", Status: Skipped, Reason: "it has nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Report{Outage: 2 * time.Minute, Services: []*Service{{Name: "payments", Results: results}}}
			var text, page bytes.Buffer
			require.NoError(t, r.WriteText(&text, false))
			require.NoError(t, r.WriteHTML(&page))
			require.NotContains(t, text.String(), "outage was")
			require.NotContains(t, page.String(), "outage was")
		})
	}
}

// TestColorsAreForTerminals alone.
func TestColorsAreForTerminals(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, sample().WriteText(&out, true))
	require.Contains(t, out.String(), "\x1b[1;31mFAIL\x1b[0m")
}
