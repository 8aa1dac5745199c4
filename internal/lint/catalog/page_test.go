package catalog_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint/catalog"
)

var update = flag.Bool("update", false, "write spec/rules.md anew")

func TestPageOfTheSpecIsThatOfTheRules(t *testing.T) {
	t.Parallel()
	const page = "../../../spec/rules.md"
	want := catalog.Markdown()
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	require.True(t, want == string(got), "spec/rules.md is stale: go test ./internal/lint/catalog -update")
}

func TestExplanationHasBothExamples(t *testing.T) {
	t.Parallel()
	e, ok := catalog.Find("IDEM_BASELINE_STALE")
	require.True(t, ok)
	text := e.Explain()
	assert.Contains(t, text, "IDEM_BASELINE_STALE: warning of idem lint, category SUPPRESSION\n")
	assert.Contains(t, text, "\nBad: idem.yaml\n")
	assert.Contains(t, text, "\nGood: baseline.json\n\n    {\n")
	assert.NotContains(t, text, "Good: idem.yaml", "what is the same in both is shown once")
	_, ok = catalog.Find("IDEM_NOTHING")
	assert.False(t, ok)
}
