package consumer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Batches shrink while the store answers at once, grow back to what is configured where it does not, and stay as they
// are where the user says how they gather, or where a call had too few to say anything.
func TestBatchesFitTheStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config Config
		atOnce int
		n      int
		took   time.Duration
		want   int
	}{
		{"quick", Config{Batch: 500}, 500, 500, 200 * time.Microsecond, 250},
		{"quick, and small already", Config{Batch: 500}, 64, 64, 10 * time.Microsecond, 64},
		{"neither", Config{Batch: 500}, 250, 250, 400 * time.Microsecond, 250},
		{"slow", Config{Batch: 500}, 125, 125, time.Millisecond, 250},
		{"slow, and large already", Config{Batch: 500}, 400, 400, time.Second, 500},
		{"few", Config{Batch: 500}, 250, 63, time.Second, 250},
		{"a small limit", Config{Batch: 10}, 10, 10, time.Microsecond, 10},
		{"gathered", Config{Batch: 500, Gather: time.Millisecond}, 500, 500, time.Microsecond, 500},
	} {
		e := &engine{config: &c.config, atOnce: c.atOnce}
		e.resize(c.n, c.took)
		require.Equal(t, c.want, e.atOnce, c.name)
	}
}
