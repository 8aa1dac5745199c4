package lag

import (
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// findNoMember says what is known where a group has no member. Whether its process has ended is not: one that is paused or
// hangs is no member either, once its session has ended.
func (g *Group) findNoMember(now time.Time) {
	lag, oldest := g.Lag(), time.Time{}
	for i := range g.Partitions {
		if o := g.Partitions[i].Oldest; !o.IsZero() {
			oldest = earlier(oldest, o)
		}
	}
	if lag == 0 {
		return
	}
	text := "the group has no member"
	if committed := g.Committed(nil); now.Sub(committed) >= time.Second && !committed.IsZero() {
		text += fmt.Sprintf(", nothing was committed since %s (for %s)", clock(committed), span(now.Sub(committed)))
	}
	text += ", and " + wait(lag)
	if !oldest.IsZero() {
		text += fmt.Sprintf(", the oldest for %s", span(now.Sub(oldest)))
	}
	g.Findings = append(g.Findings, Finding{Kind: NoMember, Since: oldest, Text: text,
		Advice: "look whether its process runs: one that is paused, hangs or does not reach the brokers is no member either, once its session has timed out; else start it; where the group was given up, kafka-consumer-groups --delete removes it"})
}

func (g *Group) findStuck(now time.Time, stuck time.Duration) {
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if !p.stuck(now, stuck) || p.Owner == nil && !g.Hidden || g.has(Stuck, p) {
			continue
		}
		if p.Owner == nil || now.Sub(g.Committed(p.Owner)) < stuck {
			g.Findings = append(g.Findings, stuckFinding([]*Partition{p}, time.Time{}, now))
			continue
		}
		var all []*Partition // that a silent member has of the topic
		for _, other := range g.of(p.Topic) {
			if other.Owner == p.Owner && other.stuck(now, stuck) {
				all = append(all, other)
			}
		}
		g.Findings = append(g.Findings, stuckFinding(all, g.Committed(p.Owner), now))
	}
}

// stuckFinding is about a partition, or about those of a member that has committed nothing at all since a time.
func stuckFinding(all []*Partition, silent, now time.Time) Finding {
	p := all[0]
	f := Finding{Kind: Stuck, Topic: p.Topic}
	lag, came := int64(0), true
	for _, p := range all {
		f.Partitions, lag, came = append(f.Partitions, p.Partition), lag+p.Lag, came && p.Came
		if since, _ := p.stuckSince(); since.After(f.Since) {
			f.Since = since
		}
	}
	at, atLeast, who := fmt.Sprintf("at offset %d", p.next()), "", "its consumer"
	f.Text = fmt.Sprintf("%s is stuck %s", places(p.Topic, f.Partitions), at)
	if len(all) > 1 {
		f.Text, at = places(p.Topic, f.Partitions)+" are stuck", at+" of "+places(p.Topic, f.Partitions[:1])
	}
	if !came {
		atLeast = " at least"
	}
	if p.Owner != nil {
		f.Members, who = []string{p.Owner.ID}, Name(p.Owner)
	}
	f.Text += fmt.Sprintf(" since %s (for %s%s), and %s", clock(f.Since), span(now.Sub(f.Since)), atLeast, wait(lag))
	if silent.IsZero() {
		f.Advice = fmt.Sprintf("look at the message %s, and what %s logs of it", at, who)
		return f
	}
	f.Text += fmt.Sprintf("; %s has committed nothing since %s", who, clock(silent))
	f.Advice = fmt.Sprintf("look whether it works at all, or is paused, hangs or waits; else at the message %s, and what it logs of it", at)
	return f
}

// stuck says that the partition has had something to do for as long as stuck, and has not moved.
func (p *Partition) stuck(now time.Time, stuck time.Duration) bool {
	_, ok := p.stuckSince()
	return ok && p.quiet(now) >= stuck
}

// Committed is when a member's partitions moved for the last time, or since when they are known not to have; of nil,
// those without an owner. It is zero where there are none.
func (g *Group) Committed(m *kafka.GroupMember) (at time.Time) {
	for i := range g.Partitions {
		if p := &g.Partitions[i]; p.Owner == m && p.Unmoved.After(at) {
			at = p.Unmoved
		}
	}
	return at
}

// stuckSince is since when a partition has had something to do and has not moved: since it came where it is, or since
// the message there came, which may be later.
func (p *Partition) stuckSince() (time.Time, bool) {
	if p.Lag == 0 || p.Unmoved.IsZero() {
		return time.Time{}, false
	}
	if p.Oldest.After(p.Unmoved) {
		return p.Oldest, true
	}
	return p.Unmoved, true
}

// quiet is for how long a partition has had something to do and has not moved; of one that is worked on it is below that
// of rests.
func (p *Partition) quiet(now time.Time) time.Duration {
	since, ok := p.stuckSince()
	if !ok {
		return 0
	}
	return now.Sub(since)
}

// rests is after which time nobody seems to work on a partition, long before it is stuck.
func rests(stuck time.Duration) time.Duration { return max(stuck/8, time.Second) }
