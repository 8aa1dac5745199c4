package deadletter

import (
	"testing"
	"time"
)

// A rate that is lower than a duration can hold was none at all.
func TestAPacerWaitsLongestForTheLowestRate(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	for rate, want := range map[float64]time.Duration{10: 500 * time.Millisecond, 0.5: 10 * time.Second, 1e-300: 1e9 * time.Second} {
		p := pacer{rate: rate}
		if got := p.after(5, now); got != want {
			t.Errorf("5 at %v a second: %v, want %v", rate, got, want)
		}
	}
}
