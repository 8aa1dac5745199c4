package schemas_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/schema"
)

// The cases are those of the plugin, with the errors that it prints. (LINT-006)
func TestWhatGenerationRefusesIsAnErrorOfTheSameWords(t *testing.T) {
	t.Parallel()
	var dirs []string
	for _, pattern := range []string{"refused/*", "go/collision-*"} {
		some, err := filepath.Glob("../../gen/testdata/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, some)
		dirs = append(dirs, some...)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			refused, err := os.ReadFile(filepath.Join(dir, "error"))
			require.NoError(t, err)
			var errors []string
			for _, f := range everything(t, gentest.Dir(t, dir), config.Facts{}) {
				if f.Severity == lint.Error {
					errors = append(errors, schema.Problem{Position: f.Position, What: f.What, Mend: f.Mend}.String())
				}
			}
			require.Subset(t, errors, strings.Split(strings.TrimSpace(string(refused)), "\n"))
		})
	}
}

// everything is what all rules find.
func everything(t *testing.T, sources gentest.Sources, facts config.Facts) []lint.Finding {
	t.Helper()
	req := gentest.Request(t, "", sources)
	files, err := schema.Link(req.GetProtoFile())
	require.NoError(t, err)
	return schemas.Run(schemas.Input{Files: files, Paths: req.GetFileToGenerate(), Facts: facts}, func(*lint.Rule) bool { return true })
}
