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
	// Since is when it began to rise; zero where it does not.
	Since time.Time
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
		trend.Slope, trend.Since = Rising, began(trend.Points, tolerance)
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

// began is when the lag was low for the last time before it rose to where it is: going back from now, the rise ends
// where the lag was higher than the lowest one met by more than the tolerance.
func began(points []Point, tolerance int64) time.Time {
	i := len(points) - 1
	lowest := points[i].Lag
	for ; i > 0 && points[i-1].Lag <= lowest+tolerance; i-- {
		lowest = min(lowest, points[i-1].Lag)
	}
	at := points[i].At
	for ; i < len(points); i++ {
		if points[i].Lag <= lowest+tolerance {
			at = points[i].At
		}
	}
	return at
}
