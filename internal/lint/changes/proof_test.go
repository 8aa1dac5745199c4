package changes_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/source"
)

func all(*lint.Rule) bool { return true }

func side(f *source.Files) changes.Side { return changes.Side{Files: f.All, Paths: f.Paths} }

// found are the findings of a change.
func found(before, after *source.Files) []lint.Finding {
	return changes.Run(changes.Input{Before: side(before), After: side(after)}, all)
}

// ids are the rules of findings, each once, in order.
func ids(findings []lint.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Rule.ID)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Where the linter is silent, outputs are equal before and after; where it speaks, they differ, and its
// example shows how.
func TestEachEditOfTheShopIsFoundExactlyWhereItAltersAnOutput(t *testing.T) {
	t.Parallel()
	files := shop(t)
	before, err := compile(t, files)
	require.NoError(t, err)
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			edited, ok := e.applied(files)
			require.True(t, ok, "the shop's schema has changed, and this edit has to follow")
			after, err := compile(t, edited)
			require.NoError(t, err)
			findings := found(before, after)
			assert.Equal(t, append([]string(nil), e.rules...), ids(findings))
			prove(t, before, after, findings, 100, 1)
		})
	}
}

// prove holds findings against outputs.
func prove(t *testing.T, before, after *source.Files, findings []lint.Finding, samples int, seed uint64) {
	t.Helper()
	differ := compare(worldOf(before), worldOf(after), samples, seed)
	for o, how := range differ {
		spoken := slices.ContainsFunc(findings, func(f lint.Finding) bool { return speaksOf(f.Rule.ID, o) })
		assert.True(t, spoken, "nobody speaks of the %s: %s", o, how)
	}
	for _, f := range findings {
		assert.NotEqual(t, f.Before, f.After, "%s shows an example that differs: %s", f.Rule.ID, f.What)
		differs := false
		for o := range differ {
			differs = differs || speaksOf(f.Rule.ID, o)
		}
		assert.True(t, differs, "%s speaks, and no output of random messages differs: %s", f.Rule.ID, f.What)
	}
}

// Several edits at once are found as each of them is.
func TestSeveralEditsOfTheShopAreFoundWhereTheyAlterAnOutput(t *testing.T) {
	t.Parallel()
	files := shop(t)
	before, err := compile(t, files)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range 40 {
		edited, names := files, []string(nil)
		for _, i := range random.Perm(len(edits))[:2+random.IntN(3)] {
			if next, ok := edits[i].applied(edited); ok {
				edited, names = next, append(names, edits[i].name)
			}
		}
		after, err := compile(t, edited)
		if err != nil {
			continue // two edits that do not fit together
		}
		compared++
		seed := random.Uint64()
		t.Run(strings.Join(names, ", "), func(t *testing.T) {
			t.Parallel()
			prove(t, before, after, found(before, after), 30, seed)
		})
	}
	assert.Greater(t, compared, 25)
}

func TestSchemaBesideItselfHasNoFinding(t *testing.T) {
	t.Parallel()
	files, err := compile(t, shop(t))
	require.NoError(t, err)
	assert.Empty(t, found(files, files))
	assert.Empty(t, found(conformanceSchema(t), conformanceSchema(t)))
}

// conformanceSchema is the schema of the vectors: every kind of component, in every syntax.
func conformanceSchema(t *testing.T) *source.Files {
	t.Helper()
	files, err := source.Read(t.Context(), filepath.Join("..", "..", "..", "conformance-vectors", "descriptors.binpb"))
	require.NoError(t, err)
	return files
}

// An example of a message that is gone is a key, of whatever components it is made.
func TestMessageOfEachKindHasAnExample(t *testing.T) {
	t.Parallel()
	files := conformanceSchema(t)
	none := schemaOf(t, "syntax = \"proto3\";\n")
	messages := 0
	for _, f := range found(files, none) {
		if f.Rule.ID == "IDEM_MESSAGE_REMOVED" {
			messages++
			assert.Contains(t, f.Before, ":", f.What)
		}
	}
	assert.Greater(t, messages, 50)
}
