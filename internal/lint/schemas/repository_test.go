package schemas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/source"
)

func TestSchemasThatPeopleCopyFromAreClean(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"examples/shop/proto", "examples/consume/proto", "runtime/go/internal/torture/proto"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			files, err := source.Read(t.Context(), "../../../"+dir)
			require.NoError(t, err)
			findings := schemas.Run(schemas.Input{Files: files.All, Paths: files.Paths}, func(*lint.Rule) bool { return true })
			for _, f := range findings {
				t.Error(f.Rule.ID, f.Position.File, f.Position.Line, f.What)
			}
		})
	}
}
