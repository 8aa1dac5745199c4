package lag

import (
	"fmt"
	"time"
)

func (g *Group) findRising(now time.Time, stuck time.Duration) {
	for _, topic := range g.topics() {
		var rising []int32
		var since, by, moved time.Time
		var window time.Duration
		in, out := 0.0, 0.0
		for _, p := range g.of(topic) {
			if p.Slope != Rising || g.has(Stuck, p) || g.has(Unowned, p) {
				continue
			}
			rising, in, out, window = append(rising, p.Partition), in+p.In, out+p.Out, max(window, p.Window)
			since, by = earlier(since, p.Since), earlier(by, p.SinceBy)
			still, ok := p.stuckSince()
			if !ok {
				still = now
			}
			if still.After(moved) {
				moved = still
			}
		}
		if len(rising) == 0 {
			continue
		}
		g.Findings = append(g.Findings, Finding{Kind: Rise, Topic: topic, Partitions: rising, Since: since, SinceBy: by,
			Text: fmt.Sprintf("%s rises since %s (for %s): %s/s come and %s/s are done, over the last %s", places(topic, rising), clocks(since, by),
				spans(since, by, now), Rate(in), Rate(out), short(window)),
			Advice: g.risingAdvice(topic, now.Sub(moved), stuck)})
	}
}

// risingAdvice is what to do about partitions of which none has moved for as long as still.
func (g *Group) risingAdvice(topic string, still, stuck time.Duration) string {
	advice := "have it do a message in less time: each partition has a member of its own, so more members do not help; more partitions do (idem topic grow)"
	if n := len(g.Members); !g.Hidden && n < len(g.of(topic)) {
		advice = fmt.Sprintf("start more members: there are %d for %d partitions; or have it do a message in less time", n, len(g.of(topic)))
	}
	if still >= stuck/4 { // not yet stuck, but more members may be what does not help
		advice = fmt.Sprintf("nothing was committed for %s: look whether its members work at all, and what they log; where it is one long batch, %s", span(still), advice)
	}
	return advice
}

// earlier is the earlier of two times, of which the first may not be known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
