package lag

import (
	"fmt"
	"time"
)

func (g *Group) findRising(now time.Time, stuck time.Duration) {
	for _, topic := range g.topics() {
		var rising []int32
		var since, by, moved time.Time
		var all, lately Rates
		for _, p := range g.of(topic) {
			if p.Slope != Rising || g.has(Stuck, p) || g.has(Unowned, p) {
				continue
			}
			rising, all, lately = append(rising, p.Partition), all.plus(p.Rates), lately.plus(p.Lately)
			since, by = earlier(since, p.Since), earlier(by, p.SinceBy)
			if at := now.Add(-p.quiet(now)); at.After(moved) {
				moved = at
			}
		}
		if len(rising) == 0 {
			continue
		}
		f := Finding{Kind: Rise, Topic: topic, Partitions: rising, Since: since, SinceBy: by, Advice: g.risingAdvice(topic),
			Text: fmt.Sprintf("%s rises since %s (for %s): ", places(topic, rising), clocks(since, by), spans(since, by, now))}
		if quiet := now.Sub(moved); quiet >= rests(stuck) { // what was done before says nothing of now
			f.Text += fmt.Sprintf("%s/s come, over the last %s, and nothing was committed for %s", Rate(all.In), short(all.Window), span(quiet))
			f.Advice = "look whether its members work at all, and what they log; one long batch or message looks the same"
		} else {
			f.Text += all.text()
			if lately.Window < all.Window {
				f.Text += "; " + lately.text()
			}
		}
		g.Findings = append(g.Findings, f)
	}
}

// risingAdvice is what to do where members work.
func (g *Group) risingAdvice(topic string) string {
	if n := len(g.Members); !g.Hidden && n < len(g.of(topic)) {
		return fmt.Sprintf("start more members: there are %d for %d partitions; or have it do a message in less time", n, len(g.of(topic)))
	}
	return "have it do a message in less time: each partition has a member of its own, so more members do not help; more partitions do (idem topic grow)"
}

// earlier is the earlier of two times, of which the first may not be known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
