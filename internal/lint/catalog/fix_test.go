package catalog_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/fix"
)

// What --fix makes of a bad example is good.
func TestFixLeavesNothingOfABadExample(t *testing.T) {
	t.Parallel()
	var mended []string
	for _, e := range catalog.All() {
		if e.Kind != lint.Schema {
			continue
		}
		dir := written(t, e.Bad)
		files, err := fix.Plan(runSchemas(t, dir), func(file string) (string, bool) { return filepath.Join(dir, file), true })
		require.NoError(t, err)
		if len(files) == 0 {
			continue
		}
		mended = append(mended, e.ID)
		for _, file := range files {
			require.NoError(t, file.Write())
		}
		assert.Empty(t, runSchemas(t, dir), e.ID)
	}
	assert.Subset(t, mended, []string{"IDEM_KEY_VERSION_MISSING", "IDEM_FRACTION_DIGITS_UNSTATED", "IDEM_RETRY_SCHEDULE_DESCENDS"})
}
