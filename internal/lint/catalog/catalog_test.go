package catalog_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
)

// run runs all rules of a kind over the files of an example in a directory.
var run = map[lint.Kind]func(t *testing.T, dir string) []lint.Finding{lint.Schema: runSchemas, lint.Change: runChanges, lint.Message: runMessages}

func TestBadExampleRaisesItsRuleAloneAndGoodExampleNone(t *testing.T) {
	t.Parallel()
	for _, e := range catalog.All() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, e.Why, "examples/%s.txtar says no why", e.ID)
			require.Equal(t, []string{e.ID}, raised(t, e.Kind, e.Bad), "the bad example")
			require.Empty(t, raised(t, e.Kind, e.Good), "the good example")
		})
	}
}

// raised are the IDs of the findings of an example, each once.
func raised(t *testing.T, kind lint.Kind, files []txtar.File) []string {
	t.Helper()
	var ids []string
	for _, f := range run[kind](t, written(t, files)) {
		t.Log(f.Rule.ID, f.Position, f.What, "/", f.Mend)
		if len(ids) == 0 || ids[len(ids)-1] != f.Rule.ID {
			ids = append(ids, f.Rule.ID)
		}
	}
	return ids
}

// written is a directory with the files of an example.
func written(t *testing.T, files []txtar.File) string {
	t.Helper()
	require.NotEmpty(t, files)
	dir := t.TempDir()
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, f.Data, 0o644))
	}
	return dir
}

func TestRulesAreWhole(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^IDEM(_[A-Z0-9]+)+$`)
	seen := make(map[string]bool)
	for _, e := range catalog.All() {
		require.Regexp(t, shape, e.ID)
		require.False(t, seen[e.ID], "%s is there twice", e.ID)
		seen[e.ID] = true
		require.Contains(t, lint.Categories, e.Category, e.ID)
		require.NotZero(t, e.Kind, e.ID)
		require.NotZero(t, e.Severity, e.ID)
		require.True(t, strings.HasPrefix(e.Purpose, "Checks that ") && strings.HasSuffix(e.Purpose, "."), "%s: %s", e.ID, e.Purpose)
		require.NotEmpty(t, e.Spec, e.ID)
	}
	pages, err := filepath.Glob("examples/*.txtar")
	require.NoError(t, err)
	for _, page := range pages {
		require.True(t, seen[strings.TrimSuffix(filepath.Base(page), ".txtar")], "%s is of no rule", page)
	}
}
