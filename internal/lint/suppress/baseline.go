package suppress

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// Entry is a finding of a baseline. It has no line, so that what is written above it does not matter.
type Entry struct {
	Rule string `json:"rule"`
	File string `json:"file"`
	// Declaration is the full name of what the finding is in, "" for the file itself.
	Declaration string `json:"declaration,omitempty"`
	// Message is a hash of what is wrong.
	Message string `json:"message"`
}

// Baseline is old findings, and how often each is there.
type Baseline struct {
	file  string
	count map[Entry]int
	line  map[Entry]int
}

const baselineVersion = 1

// counted is an entry as it is written.
type counted struct {
	Entry
	Count int `json:"count"`
}

// ReadBaseline reads what WriteBaseline wrote. file is its name.
func ReadBaseline(file string, data []byte) (*Baseline, error) {
	var content struct {
		Version  int               `json:"version"`
		Findings []json.RawMessage `json:"findings"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("%s is no baseline: %w: write it anew with --write-baseline", file, err)
	}
	if content.Version != baselineVersion {
		return nil, fmt.Errorf("%s is a baseline of version %d, and this program knows %d: write it anew with --write-baseline", file, content.Version, baselineVersion)
	}
	b := &Baseline{file: file, count: make(map[Entry]int), line: make(map[Entry]int)}
	offset := 0
	for i, raw := range content.Findings {
		var c counted
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&c); err != nil || c.Rule == "" || c.Count < 1 {
			return nil, fmt.Errorf("%s: entry %d is no finding: write it anew with --write-baseline", file, i+1)
		}
		// The library keeps an element as it is written, and the elements in their order.
		offset += bytes.Index(data[offset:], raw)
		b.count[c.Entry] += c.Count
		b.line[c.Entry] = 1 + bytes.Count(data[:offset], []byte("\n"))
		offset += len(raw)
	}
	return b, nil
}

// take takes one finding out of the baseline, and says whether it was there.
func (b *Baseline) take(e Entry) bool {
	if b == nil || b.count[e] == 0 {
		return false
	}
	b.count[e]--
	return true
}

// stale are the entries without a finding: those of rules that ran and of files that were read.
func (b *Baseline) stale(judged func(Entry) bool) []lint.Finding {
	var found []lint.Finding
	if b == nil {
		return nil
	}
	for e, n := range b.count {
		if n == 0 || !judged(e) {
			continue
		}
		line := b.line[e]
		found = append(found, lint.Finding{
			Rule: baselineStale, Severity: baselineStale.Severity,
			Position: schema.Position{File: b.file, Line: line, Column: 1, EndLine: line, EndColumn: 1},
			What:     fmt.Sprintf("the baseline has %s of %s, which is mended", e.Rule, cmp.Or(e.Declaration, e.File)),
			Mend:     "write the baseline anew with --write-baseline, or remove the line",
		})
	}
	return found
}

// entry is what a baseline keeps of a finding.
func entry(f *lint.Finding, declaration string) Entry {
	sum := sha256.Sum256([]byte(f.What))
	return Entry{Rule: f.Rule.ID, File: f.Position.File, Declaration: declaration, Message: hex.EncodeToString(sum[:8])}
}

// writeBaseline writes entries, one a line and sorted, so that two branches that mend two things merge.
func writeBaseline(w io.Writer, entries map[Entry]int) error {
	var all []counted
	for e, n := range entries {
		all = append(all, counted{e, n})
	}
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Declaration, b.Declaration), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	var text bytes.Buffer
	fmt.Fprintf(&text, "{\n  \"version\": %d,\n  \"findings\": [", baselineVersion)
	for i, c := range all {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "\n    %s", line)
	}
	text.WriteString("\n  ]\n}\n")
	_, err := w.Write(text.Bytes())
	return err
}
