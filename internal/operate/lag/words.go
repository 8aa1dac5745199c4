package lag

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idem-spec/idem/internal/operate/show"
)

// places names partitions of a topic: orders/0-3,7.
func places(topic string, partitions []int32) string {
	sorted := slices.Sorted(slices.Values(partitions))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(sorted[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[j]))
		}
		i = j + 1
	}
	return topic + "/" + strings.Join(parts, ",")
}

func wait(messages int64) string {
	if messages == 1 {
		return "1 message waits"
	}
	return fmt.Sprintf("%d messages wait", messages)
}

// Rate is so many a second, as short as it says something.
func Rate(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0"
	case perSecond < 0.01:
		return "<0.01"
	case perSecond < 1:
		return decimal(perSecond, 100)
	case perSecond < 10:
		return decimal(perSecond, 10)
	}
	return decimal(perSecond, 1)
}

// decimal is a number rounded to a part of one.
func decimal(n, part float64) string {
	return strconv.FormatFloat(math.Round(n*part)/part, 'f', -1, 64)
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }

// clocks is a time that lies between two, as exactly as they tell; a time at or before them where they are one.
func clocks(from, by time.Time) string {
	switch gap := by.Sub(from); {
	case gap == 0:
		return "before " + clock(by)
	case gap >= time.Minute:
		return from.UTC().Format("15:04") + "-" + roundUp(by.UTC()).Format("15:04Z")
	case gap >= time.Second:
		return from.UTC().Format("15:04:05") + "-" + clock(by)
	}
	return clock(from)
}

// roundUp is the next full minute.
func roundUp(t time.Time) time.Time { return t.Add(time.Minute - 1).Truncate(time.Minute) }

// spans is how long ago such a time is.
func spans(from, by, now time.Time) string {
	least, most := now.Sub(by), now.Sub(from)
	switch gap := by.Sub(from); {
	case gap == 0:
		return "more than " + short(least)
	case gap >= time.Minute:
		least, most = least.Truncate(time.Minute), (most + time.Minute - 1).Truncate(time.Minute)
	case gap < time.Second:
		return short(most)
	}
	return short(least) + "-" + short(most)
}

// Ago is how long ago a rise began, as exactly as it is known.
func (t *Trend) Ago(now time.Time) string { return spans(t.Since, t.SinceBy, now) + " ago" }

// Windows is over which time the rates of a group's partitions were measured, but for those where nothing happens; empty
// where that is all.
func (g *Group) Windows() string {
	var least, most time.Duration
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if w := p.Window; w > 0 && (p.Lag > 0 || p.In+p.Out > 0) {
			least, most = cmp.Or(min(least, w), w), max(most, w)
		}
	}
	switch {
	case most == 0:
		return ""
	case short(least) == short(most):
		return short(most)
	}
	return short(least) + " to " + short(most)
}

// short is a span whose seconds are left out where there are none.
func short(d time.Duration) string {
	text := span(d)
	if minutes, ok := strings.CutSuffix(text, "m0s"); ok {
		return minutes + "m"
	}
	return text
}

func span(d time.Duration) string { return show.Age(d) }

func seconds(s float64) string { return span(time.Duration(min(s, 1e9) * float64(time.Second))) }
