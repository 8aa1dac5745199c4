package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/report"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/lint/suppress"
	"github.com/idem-spec/idem/internal/source"
)

// example is the bad or the good example of a rule.
type example struct {
	// name is "IDEM_KEY_AMOUNT/bad".
	name  string
	bad   bool
	files []txtar.File
	facts config.Facts
}

// TestBufFindsInEveryExampleWhatIdemFinds has buf lint, and compare, each bad example of the catalog; with
// IDEM_TEST_REAL=1, as in CI, each good one too.
func TestBufFindsInEveryExampleWhatIdemFinds(t *testing.T) {
	t.Parallel()
	for kind, compare := range map[lint.Kind]func(*testing.T, []example, map[string]any){lint.Schema: compareLint, lint.Change: compareBreaking} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			bufProgram(t)
			for options, group := range examplesOf(t, kind) {
				t.Run("facts: "+options, func(t *testing.T) {
					t.Parallel()
					compare(t, group, optionsOf(t, options))
				})
			}
		})
	}
}

// compareLint compares `buf lint` with what idem finds in what buf compiles.
func compareLint(t *testing.T, examples []example, options map[string]any) {
	t.Helper()
	workspace := t.TempDir()
	for _, e := range examples {
		e.write(t, workspace, "")
	}
	writeWorkspace(t, workspace, options, names(examples)...)
	var want []found
	for _, e := range examples {
		if e.bad {
			want = append(want, e.linted(t, workspace)...)
		}
	}
	require.Equal(t, sorted(want), bufFinds(t, workspace, "lint"))
}

// compareBreaking compares `buf breaking` with what idem finds in what buf compiles.
func compareBreaking(t *testing.T, examples []example, options map[string]any) {
	t.Helper()
	before, after := t.TempDir(), t.TempDir()
	for _, e := range examples {
		e.write(t, before, "before")
		e.write(t, after, "after")
	}
	writeWorkspace(t, before, options, names(examples)...)
	writeWorkspace(t, after, options, names(examples)...)
	var want []found
	for _, e := range examples {
		if e.bad {
			want = append(want, e.compared(t, before, after)...)
		}
	}
	require.Equal(t, sorted(want), bufFinds(t, after, "breaking", "--against", before))
}

// linted are the findings of `idem lint` in an example.
func (e example) linted(t *testing.T, workspace string) []found {
	t.Helper()
	files := e.build(t, workspace)
	filter := suppress.NewFilter(suppress.Select(lint.Schema, &config.Config{Facts: e.facts}, catalog.Rules()), files.Asked())
	findings := slices.DeleteFunc(
		schemas.Run(schemas.Input{Files: files.All, Paths: files.Paths, Facts: e.facts}, filter.Wanted),
		func(f lint.Finding) bool { return !filter.Keep(&f) },
	)
	return e.found(t, append(findings, filter.Rest()...))
}

// compared are the findings of `idem breaking` in an example.
func (e example) compared(t *testing.T, before, after string) []found {
	t.Helper()
	was, is := e.build(t, before), e.build(t, after)
	return e.found(t, changes.Run(changes.Input{
		Before: changes.Side{Files: was.All, Paths: was.Paths},
		After:  changes.Side{Files: is.All, Paths: is.Paths},
		Facts:  e.facts,
	}, func(*lint.Rule) bool { return true }))
}

// build is what buf compiles an example to.
func (e example) build(t *testing.T, workspace string) *source.Files {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image.binpb")
	out, err := runBuf(t, workspace, "build", "--path", schemasIn+"/"+e.name, "--output", image)
	require.NoError(t, err)
	require.Empty(t, out)
	files, err := source.Read(t.Context(), image)
	require.NoError(t, err)
	return files
}

// found are the findings in an example, of which there are some.
func (e example) found(t *testing.T, findings []lint.Finding) []found {
	t.Helper()
	require.NotEmpty(t, findings, e.name)
	var all []found
	for _, f := range findings {
		all = append(all, found{f.Rule.ID, schemasIn + "/" + f.Position.File, f.Position.Line, f.Position.Column, report.Sentence(f)})
	}
	return all
}

func names(examples []example) []string {
	var all []string
	for _, e := range examples {
		all = append(all, e.name)
	}
	return all
}

// examplesOf are the examples of a kind, by the facts that they declare, as they are written.
func examplesOf(t *testing.T, kind lint.Kind) map[string][]example {
	t.Helper()
	groups := make(map[string][]example)
	for _, entry := range catalog.All() {
		if entry.Kind != kind || entry.ID == ofBaselines {
			continue
		}
		sides := map[string][]txtar.File{"bad": entry.Bad}
		if os.Getenv("IDEM_TEST_REAL") == "1" {
			sides["good"] = entry.Good // buf starts the plugin for each example
		}
		for side, files := range sides {
			e := example{name: entry.ID + "/" + side, bad: side == "bad", files: files}
			facts := e.readFacts(t)
			groups[facts] = append(groups[facts], e)
		}
	}
	return groups
}

// readFacts reads the idem.yaml of an example, and returns its facts as they are written.
func (e *example) readFacts(t *testing.T) string {
	t.Helper()
	for _, f := range e.files {
		if f.Name != config.File {
			continue
		}
		c, err := config.Parse(config.File, f.Data, catalog.Rules())
		require.NoError(t, err)
		e.facts = c.Facts
		var written struct{ Facts yaml.Node }
		require.NoError(t, yaml.Unmarshal(f.Data, &written))
		text, err := yaml.Marshal(&written.Facts)
		require.NoError(t, err)
		return string(text)
	}
	return "{}"
}

// optionsOf are the options of the plugin that say what facts of idem.yaml say.
func optionsOf(t *testing.T, facts string) map[string]any {
	t.Helper()
	var written struct {
		Languages []string
		Default   map[string]any
		Events    map[string]yaml.Node
	}
	require.NoError(t, yaml.Unmarshal([]byte(facts), &written))
	options := make(map[string]any)
	for key, value := range written.Default {
		options[key] = value
	}
	if len(written.Languages) > 0 {
		options["languages"] = written.Languages
	}
	var events []string
	for event, facts := range written.Events {
		text, err := yaml.Marshal(map[string]any{event: &facts})
		require.NoError(t, err)
		events = append(events, string(text))
	}
	if len(events) > 0 {
		options["events"] = events
	}
	return options
}

// write writes the files of an example, or those of its directory side. What it imports from google is in a
// module that all share.
func (e example) write(t *testing.T, dir, side string) {
	t.Helper()
	for _, f := range e.files {
		name, ours := f.Name, true
		if side != "" {
			name, ours = strings.CutPrefix(name, side+"/")
		}
		switch {
		case !ours || path.Ext(name) != ".proto":
		case strings.HasPrefix(name, "google/"):
			write(t, dir, "googleapis/"+name, f.Data)
		default:
			write(t, dir, schemasIn+"/"+e.name+"/"+name, f.Data)
		}
	}
}
