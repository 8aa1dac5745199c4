package lag

import (
	"math"
	"time"
)

// Slope says where a lag goes.
type Slope string

// The slopes. A lag of which too little is known has none.
const (
	Rising   Slope = "rising"
	Flat     Slope = "flat"
	Draining Slope = "draining"
)

// Trend is what became of a lag.
type Trend struct {
	// In and Out are messages a second that came and were done, over Window; 0 where Window is.
	In, Out float64
	// Window is over which time, at most the one asked for: as long as something is known.
	Window time.Duration
	Slope  Slope
	// It began to rise between Since and SinceBy, which are looks that follow one another; zero where it does not.
	// Where it rose in all that is known, both are the first look, at or before which it began.
	Since, SinceBy time.Time
	// Points are the lags over time, the last one now.
	Points []Point
	// Unmoved is since when the group goes on at the same offset. Came says that it came there then; else it
	// was there before all that is known.
	Unmoved time.Time
	Came    bool
}

// The rule: a lag rises or drains where over the window it has changed by more than 10 messages, and by more than a
// tenth of those that came or were done, whichever are more. What is below is the step of commits.
const (
	leastChange = 10
	leastPart   = 0.1
)

// trendOf looks at the lags over a window that ends with the last.
func trendOf(t *track, window time.Duration) Trend {
	trend := Trend{Points: t.points()}
	trend.Unmoved, trend.Came = t.unmoved()
	n := len(trend.Points)
	if n < 2 {
		return trend
	}
	now := trend.Points[n-1]
	start := startOf(trend.Points, now.At.Add(-window))
	trend.Window = now.At.Sub(start.At)
	seconds := trend.Window.Seconds()
	if seconds <= 0 {
		trend.Window = 0
		return trend
	}
	in, out := float64(now.in-start.in), math.Max(float64(now.out-start.out), 0)
	trend.In, trend.Out = in/seconds, out/seconds
	tolerance := int64(math.Max(leastChange, math.Max(in, out)*leastPart))
	switch change := now.Lag - start.Lag; {
	case change > tolerance:
		trend.Slope = Rising
		trend.Since, trend.SinceBy = began(trend.Points, tolerance)
	case change < -tolerance:
		trend.Slope = Draining
	default:
		trend.Slope = Flat
	}
	return trend
}

// startOf is the last point at or before a time, or the first one there is.
func startOf(points []Point, at time.Time) Point {
	start := points[0]
	for _, p := range points {
		if p.At.After(at) {
			break
		}
		start = p
	}
	return start
}

// began is between which points the lag began to rise to where it is, the last one at which it was low and the next: going
// back from now, the rise ends where the lag was higher than the lowest one met by more than the tolerance.
func began(points []Point, tolerance int64) (from, by time.Time) {
	last := len(points) - 1
	i, lowest := last, points[last].Lag
	for ; i > 0 && points[i-1].Lag <= lowest+tolerance; i-- {
		lowest = min(lowest, points[i-1].Lag)
	}
	low := i
	for ; i < last; i++ {
		if points[i].Lag <= lowest+tolerance {
			low = i
		}
	}
	if low == 0 && points[0].Lag > tolerance {
		return points[0].At, points[0].At
	}
	return points[low].At, points[min(low+1, last)].At
}
