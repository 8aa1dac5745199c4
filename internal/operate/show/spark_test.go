package show_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/internal/operate/show"
)

func TestSparklines(t *testing.T) {
	t.Parallel()
	for want, values := range map[string][]float64{
		"":         {},
		"  ":       {0, 0},
		"▁▂▅█":     {0, 0.001, 4, 8},
		"███":      {3, 3, 3},
		"▂▃▄▅▆▇██": {1, 2, 3, 4, 5, 6, 7, 8},
	} {
		assert.Equal(t, want, show.Sparkline(values))
	}
}
