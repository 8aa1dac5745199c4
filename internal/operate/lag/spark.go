package lag

import (
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/show"
)

// Spark draws the lags of the time before now, width characters wide. What is not known is blank, so no lag at all is a
// line.
func Spark(points []Point, now time.Time, since time.Duration, width int) string {
	columns := make([]float64, width)
	for i := range columns {
		columns[i] = -1
	}
	for _, p := range points {
		if i := width - 1 - int(now.Sub(p.At)*time.Duration(width)/max(since, 1)); i >= 0 && i < width {
			columns[i] = max(columns[i], float64(p.Lag))
		}
	}
	known := columns
	for len(known) > 0 && known[0] < 0 {
		known = known[1:]
	}
	for i := range known {
		if known[i] < 0 {
			known[i] = known[i-1] // between two looks it was as before
		}
	}
	blank := strings.Repeat(" ", width-len(known))
	if len(known) > 0 && slices.Max(known) == 0 {
		return blank + strings.Repeat("▁", len(known))
	}
	return blank + show.Sparkline(known)
}
