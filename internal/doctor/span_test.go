package doctor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for want, d := range map[string]time.Duration{
		"0s": 0, "40ms": 40 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "1m": time.Minute, "1m30s": 90 * time.Second, "10m": 10 * time.Minute,
		"1h": time.Hour, "1h10m": 70 * time.Minute, "1h0m10s": time.Hour + 10*time.Second, "20h": 20 * time.Hour, "1d": day, "36h": 36 * time.Hour,
		"3d2h": 74 * time.Hour, "14d": 14 * day, "for ever": maxDuration,
	} {
		assert.Equal(t, want, span(d))
	}
}
