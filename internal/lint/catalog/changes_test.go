package catalog_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/source"
)

func runChanges(t *testing.T, dir string) []lint.Finding {
	t.Helper()
	side := func(name string) changes.Side {
		files, err := source.Read(t.Context(), filepath.Join(dir, name))
		require.NoError(t, err)
		return changes.Side{Files: files.All, Paths: files.Paths}
	}
	findings := changes.Run(changes.Input{Before: side("before"), After: side("after")}, func(*lint.Rule) bool { return true })
	for _, f := range findings {
		require.NotEqual(t, f.Before, f.After, "%s: an example shows what differs", f.Rule.ID)
	}
	return findings
}
