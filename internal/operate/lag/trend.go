package lag

import (
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
	Rates
	// Lately is the same over the last tenth of the window.
	Lately Rates
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

// The rule: a lag rises or drains where in the window it was last farther from where it is than by 10 messages, a tenth of
// those that came or were done, and what the group usually commits at once, whichever are more; unless it has stood still
// since: for a tenth of the window, in which it did not change by a quarter of what would come to as much in all of it.
const (
	leastChange = 10
	leastPart   = 10
	latelyPart  = 10
	stillPart   = 4 * latelyPart
)

// trendOf looks at the lags over a window that ends with the last.
func trendOf(t *track, window time.Duration) Trend {
	trend := Trend{Points: t.points()}
	trend.Unmoved, trend.Came = t.unmoved()
	n := len(trend.Points)
	if n < 2 {
		return trend
	}
	trend.Rates, trend.Lately = ratesOver(trend.Points, window), ratesOver(trend.Points, window/latelyPart)
	if trend.Window == 0 {
		return trend
	}
	now := trend.Points[n-1]
	start := startOf(trend.Points, now.At.Add(-window))
	in, out := flow(trend.Points[start], now)
	step := t.step()
	tolerance := max(leastChange, in/leastPart, out/leastPart, step)
	left := leftAt(trend.Points, start, tolerance)
	switch {
	case left < 0, still(trend.Points, now.At.Add(-window/latelyPart), tolerance/stillPart):
		trend.Slope = Flat
	case trend.Points[left].Lag > now.Lag:
		trend.Slope = Draining
	default:
		trend.Slope = Rising
		// Half of what is committed at once: half of the looks at a group that keeps up find it lower.
		trend.Since, trend.SinceBy = began(trend.Points, left, tolerance, max(leastChange, step/2))
	}
	return trend
}

// leftAt is the last point from start on at which the lag was farther from where it is than the tolerance; -1 for none.
func leftAt(points []Point, start int, tolerance int64) int {
	now := points[len(points)-1].Lag
	for i := len(points) - 1; i >= start; i-- {
		if points[i].Lag < now-tolerance || points[i].Lag > now+tolerance {
			return i
		}
	}
	return -1
}

// still says that since a time the lag has changed by no more than so much.
func still(points []Point, since time.Time, most int64) bool {
	least, highest := points[len(points)-1].Lag, points[len(points)-1].Lag
	for _, p := range points[startOf(points, since):] {
		least, highest = min(least, p.Lag), max(highest, p.Lag)
	}
	return highest-least <= most
}

// began is between which points the lag began to rise to where it is, the last one at which it was low and the next. It
// was lower at left; going back from there, the rise ends where the lag was higher than the lowest one met by more than
// the tolerance. What it is low by does not depend on the window, so that the beginning stays where it is as time goes on.
func began(points []Point, left int, tolerance, low int64) (from, by time.Time) {
	i, lowest := left, points[left].Lag
	for ; i > 0 && points[i-1].Lag <= lowest+tolerance; i-- {
		lowest = min(lowest, points[i-1].Lag)
	}
	last := i
	for ; i < len(points)-1; i++ {
		if points[i].Lag <= lowest+low {
			last = i
		}
	}
	if last == 0 && points[0].Lag > low {
		return points[0].At, points[0].At
	}
	return points[last].At, points[last+1].At
}
