package bulk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// TestBeginningOfTheStreamIsFixed is a quick look at what bulk.json says of all of it.
func TestBeginningOfTheStreamIsFixed(t *testing.T) {
	t.Parallel()
	h := sha256.New()
	for i := range uint64(10_000) {
		c := Make(1, i)
		fmt.Fprintf(h, "%s %s\n", c.Op, c.Input)
	}
	assert.Equal(t, "53ee6d55a2f87ea2de743b8b10c4dedae4b5c061e5d9c256de7c718e4a35204b", hex.EncodeToString(h.Sum(nil)))
}

func BenchmarkMake(b *testing.B) {
	for i := range uint64(b.N) {
		Make(1, i)
	}
}
