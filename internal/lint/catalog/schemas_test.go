package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/lint/suppress"
	"github.com/idem-spec/idem/internal/source"
)

func runSchemas(t *testing.T, dir string) []lint.Finding {
	t.Helper()
	files, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	c := exampleConfig(t, dir)
	filter := suppress.NewFilter(suppress.Select(lint.Schema, c, catalog.Rules()), files.Asked())
	filter.Whole = true
	if c.Lint.Baseline != "" {
		data, err := os.ReadFile(filepath.Join(dir, c.Lint.Baseline))
		require.NoError(t, err)
		filter.Baseline, err = suppress.ReadBaseline(c.Lint.Baseline, data)
		require.NoError(t, err)
	}
	return settled(filter, schemas.Run(schemas.Input{Files: files.All, Paths: files.Paths, Source: files.Source, Facts: c.Facts}, filter.Wanted))
}

// exampleConfig is the idem.yaml of an example, or that of a repository without one.
func exampleConfig(t *testing.T, dir string) *config.Config {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, config.File))
	if os.IsNotExist(err) {
		return new(config.Config)
	}
	require.NoError(t, err)
	c, err := config.Parse(config.File, data, catalog.Rules())
	require.NoError(t, err)
	return c
}

// settled are the findings that stand, and those about what settles none.
func settled(filter *suppress.Filter, findings []lint.Finding) []lint.Finding {
	var stand []lint.Finding
	for _, f := range findings {
		if filter.Keep(&f) {
			stand = append(stand, f)
		}
	}
	return append(stand, filter.Rest()...)
}
