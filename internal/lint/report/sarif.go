package report

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
)

// The parts of SARIF 2.1.0 that are written here.
type (
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		Help                 *sarifText         `json:"help,omitempty"`
		HelpURI              string             `json:"helpUri"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
		Properties           sarifTags          `json:"properties"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           *int              `json:"ruleIndex,omitempty"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		Fixes               []sarifFix        `json:"fixes,omitempty"`
		Properties          map[string]string `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine,omitempty"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifFix struct {
		Description     sarifText             `json:"description"`
		ArtifactChanges []sarifArtifactChange `json:"artifactChanges"`
	}
	sarifArtifactChange struct {
		ArtifactLocation sarifArtifact      `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifBytes `json:"deletedRegion"`
		InsertedContent sarifText  `json:"insertedContent"`
	}
	sarifBytes struct {
		ByteOffset int `json:"byteOffset"`
		ByteLength int `json:"byteLength"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level          string        `json:"level"`
		Message        sarifText     `json:"message"`
		AssociatedRule sarifRuleName `json:"associatedRule"`
	}
	sarifRuleName struct {
		ID string `json:"id"`
	}
)

const (
	home      = "https://github.com/idem-spec/idem"
	rulesPage = home + "/blob/main/spec/rules.md#"
	// fingerprint names how partialFingerprints are made; another way has another name.
	fingerprint = "idemFinding/v1"
)

// sarif is one log with one run, its results one a line.
type sarif struct {
	list
	o     Options
	index map[string]int
}

func newSARIF(w io.Writer, o Options) Writer {
	s := &sarif{o: o, index: make(map[string]int)}
	driver := sarifDriver{Name: "idem", Version: o.Version, InformationURI: home, Rules: []sarifRule{}}
	for i, r := range o.Rules {
		s.index[r.ID] = i
		driver.Rules = append(driver.Rules, s.rule(r))
	}
	s.list = list{w: w, before: `{"$schema":"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",` +
		`"version":"2.1.0","runs":[{"tool":` + encoded(sarifTool{driver}) + `,"columnKind":"unicodeCodePoints","results":[`}
	return s
}

func (s *sarif) rule(r *lint.Rule) sarifRule {
	out := sarifRule{
		ID: r.ID, ShortDescription: sarifText{Text: r.Purpose}, HelpURI: rulesPage + strings.ToLower(r.ID),
		DefaultConfiguration: sarifConfiguration{r.Severity.String()},
		Properties:           sarifTags{append([]string{r.Category}, r.Spec...)},
	}
	if s.o.Help != nil {
		if why := s.o.Help(r.ID); why != "" {
			out.Help = &sarifText{Text: why, Markdown: why}
		}
	}
	return out
}

func (s *sarif) Write(f lint.Finding) error {
	out := sarifResult{
		RuleID: f.Rule.ID, Level: f.Severity.String(), Message: sarifText{Text: Sentence(f)},
		Locations:           []sarifLocation{s.location(f)},
		PartialFingerprints: map[string]string{fingerprint: sum(f)},
		Fixes:               s.fixes(f),
	}
	if i, ok := s.index[f.Rule.ID]; ok {
		out.RuleIndex = &i
	}
	if f.Before != "" || f.After != "" {
		out.Properties = map[string]string{"before": f.Before, "after": f.After}
	}
	return s.add(out)
}

func (s *sarif) location(f lint.Finding) sarifLocation {
	at := s.o.characters(f.Position)
	if at.Line < 1 {
		return sarifLocation{Logical: []sarifLogical{{FullyQualifiedName: s.o.path(at.File), Kind: "message"}}}
	}
	region := &sarifRegion{StartLine: at.Line, StartColumn: at.Column}
	if at.Column > 0 {
		region.EndLine, region.EndColumn = at.EndLine, at.EndColumn
	}
	return sarifLocation{Physical: &sarifPhysical{sarifArtifact{uri(s.o.path(at.File))}, region}}
}

// fixes is one fix of all edits, by file.
func (s *sarif) fixes(f lint.Finding) []sarifFix {
	if len(f.Edits) == 0 {
		return nil
	}
	fix := sarifFix{Description: sarifText{Text: printable(f.Mend)}}
	at := make(map[string]int)
	for _, e := range f.Edits {
		i, ok := at[e.File]
		if !ok {
			i = len(fix.ArtifactChanges)
			at[e.File] = i
			fix.ArtifactChanges = append(fix.ArtifactChanges, sarifArtifactChange{ArtifactLocation: sarifArtifact{uri(s.o.path(e.File))}})
		}
		change := &fix.ArtifactChanges[i]
		change.Replacements = append(change.Replacements, sarifReplacement{sarifBytes{e.Start, e.End - e.Start}, sarifText{Text: e.Text}})
	}
	return []sarifFix{fix}
}

func (s *sarif) Close(summary Summary) error {
	invocation := sarifInvocation{ExecutionSuccessful: true}
	for _, r := range summary.Off {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{
			Level:          "note",
			Message:        sarifText{Text: r.ID + " is off, since idem.yaml does not declare " + strings.Join(r.Needs, ", ")},
			AssociatedRule: sarifRuleName{r.ID},
		})
	}
	return s.end(`],"invocations":[` + encoded(invocation) + "]}]}\n")
}

// sum is the same as long as the finding is, wherever in its file it moves.
func sum(f lint.Finding) string {
	sum := sha256.Sum256([]byte(f.Rule.ID + "\x00" + f.Position.File + "\x00" + f.What))
	return hex.EncodeToString(sum[:16])
}

// uri is a path as a URI: a relative one stays so.
func uri(file string) string {
	u := url.URL{Path: file}
	if path.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}
