package bulk

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCasesAreObjectsAndDependOnTheirNumberAlone(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for i := range uint64(20_000) {
		c := Make(1, i)
		counts[c.Op]++
		var members map[string]any
		require.NoError(t, json.Unmarshal(c.Input, &members), "%s", c.Input)
		if i%1000 == 0 {
			assert.Equal(t, c, Make(1, i))
			assert.NotEqual(t, c, Make(2, i))
		}
	}
	for _, op := range Ops() {
		assert.Greater(t, counts[op], 200, op)
	}
	assert.Len(t, counts, len(Ops()))
}

func BenchmarkMake(b *testing.B) {
	for i := range uint64(b.N) {
		Make(1, i)
	}
}
