package lag

import (
	"fmt"
	"time"
)

// Rates are messages a second that came and were done, over Window; 0 where Window is.
type Rates struct {
	In, Out float64
	// Window is over which time, about the one asked for, and at most as long as something is known.
	Window time.Duration
}

// ratesOver are those of a window that ends with the last point.
func ratesOver(points []Point, window time.Duration) Rates {
	now := points[len(points)-1]
	start := points[startOf(points, now.At.Add(-window))]
	lasting := now.At.Sub(start.At)
	if lasting <= 0 {
		return Rates{}
	}
	in, out := flow(start, now)
	return Rates{float64(in) / lasting.Seconds(), float64(out) / lasting.Seconds(), lasting}
}

// flow is how many messages came and were done between two points. A group that goes back has done none.
func flow(from, to Point) (in, out int64) { return to.in - from.in, max(to.out-from.out, 0) }

// startOf is which point is the last one at or before a time, or the first one there is.
func startOf(points []Point, at time.Time) int {
	start := 0
	for start+1 < len(points) && !points[start+1].At.After(at) {
		start++
	}
	return start
}

// plus are those of two partitions together.
func (r Rates) plus(o Rates) Rates { return Rates{r.In + o.In, r.Out + o.Out, max(r.Window, o.Window)} }

func (r Rates) text() string {
	return fmt.Sprintf("%s/s come and %s/s are done, over the last %s", Rate(r.In), Rate(r.Out), short(r.Window))
}
