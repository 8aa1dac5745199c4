package lag

import (
	"strings"
	"time"
)

// blocks are the heights of a sparkline, from none on.
var blocks = []rune("▁▂▃▄▅▆▇█")

// Spark draws the lags of the time before now, width characters wide, by the highest of them. A time of which nothing
// is known is blank. Only no lag at all has the least height, and only 10 messages or more have the full one.
func Spark(points []Point, now time.Time, since time.Duration, width int) string {
	columns := make([]int64, width)
	for i := range columns {
		columns[i] = -1
	}
	highest := int64(10)
	for _, p := range points {
		i := width - 1 - int(now.Sub(p.At)*time.Duration(width)/max(since, 1))
		if i < 0 || i >= width {
			continue
		}
		columns[i] = max(columns[i], p.Lag)
		highest = max(highest, p.Lag)
	}
	var line strings.Builder
	last := int64(-1)
	for _, lag := range columns {
		if lag < 0 {
			lag = last // between two looks it was as before
		}
		last = lag
		switch {
		case lag < 0:
			line.WriteRune(' ')
		case lag == 0:
			line.WriteRune(blocks[0])
		default:
			line.WriteRune(blocks[1+int((lag*int64(len(blocks)-1)-1)/highest)])
		}
	}
	return line.String()
}
