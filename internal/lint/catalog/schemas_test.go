package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/source"
)

func runSchemas(t *testing.T, dir string) []lint.Finding {
	t.Helper()
	files, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	return schemas.Run(schemas.Input{Files: files.All, Paths: files.Paths}, func(*lint.Rule) bool { return true })
}
