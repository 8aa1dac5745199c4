package lag

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// Kind is what is the matter.
type Kind string

// The kinds, the ones that need somebody first.
const (
	NoMember    Kind = "no_member"   // nobody is known to read for the group
	Unowned     Kind = "unowned"     // partitions that no member has
	Stuck       Kind = "stuck"       // a partition that does not move
	Hot         Kind = "hot"         // a partition that has most of the lag
	Rise        Kind = "rising"      // partitions that fall behind
	Idle        Kind = "idle"        // members without a partition
	Rebalancing Kind = "rebalancing" // the members have no shares yet
	Drain       Kind = "draining"    // partitions that catch up
)

// Finding is what somebody should know, and what to do.
type Finding struct {
	Kind       Kind
	Topic      string  // empty where it is about the group
	Partitions []int32 // of Topic
	Members    []string
	Since      time.Time // zero where it is not known
	SinceBy    time.Time // of what rises: the latest time at which it may have begun; Since is the earliest
	Text       string
	Advice     string
}

// find says what is the matter with a group. A partition is stuck that has had something to do and has not moved for
// as long as stuck.
func (g *Group) find(now time.Time, stuck time.Duration) {
	g.Findings = nil
	switch {
	case len(g.Members) == 0 && !g.Hidden:
		g.findNoMember(now)
		return
	case !g.Hidden && !g.settled():
		g.Findings = append(g.Findings, Finding{Kind: Rebalancing, Text: fmt.Sprintf("the group is rebalancing (%s)", g.State),
			Advice: "look again; where it goes on, members come and go: look for restarts, and for handlers longer than the session's time-out"})
	default:
		g.findUnowned()
	}
	g.findStuck(now, stuck)
	g.findHot()
	g.findRising(now, stuck)
	g.findIdle()
	g.findDraining(now, stuck)
}

// findUnowned is for groups with members, all of which are known.
func (g *Group) findUnowned() {
	if g.Hidden {
		return
	}
	for _, topic := range g.topics() {
		var free []int32
		lag := int64(0)
		for _, p := range g.of(topic) {
			if p.Owner == nil {
				free, lag = append(free, p.Partition), lag+p.Lag
			}
		}
		switch {
		case len(free) == 0:
		case g.reads(topic):
			g.Findings = append(g.Findings, Finding{Kind: Unowned, Topic: topic, Partitions: free,
				Text:   fmt.Sprintf("no member has %s, and %s", places(topic, free), wait(lag)),
				Advice: "partitions that were added lately are dealt out at the next rebalance: restart a member where it lasts, and see whether all members ask for the same topics"})
		case lag > 0:
			g.Findings = append(g.Findings, Finding{Kind: Unowned, Topic: topic, Partitions: free,
				Text:   fmt.Sprintf("no member reads %s any more, and %s", topic, wait(lag)),
				Advice: "where the group has given it up, kafka-consumer-groups --delete-offsets forgets it; else have the consumer read it"})
		}
	}
}

// The rule: a partition is hot that has more than half of a topic's lag, three times what the others have on average,
// and 100 messages at least.
const (
	hotLag   = 100
	hotTimes = 3
)

func (g *Group) findHot() {
	for _, topic := range g.topics() {
		all := g.of(topic)
		if len(all) < 2 {
			continue
		}
		hot := slices.MaxFunc(all, func(a, b *Partition) int { return int(min(max(a.Lag-b.Lag, -1), 1)) })
		lag, in := int64(0), 0.0
		for _, p := range all {
			lag, in = lag+p.Lag, in+p.In
		}
		others := int64(len(all) - 1)
		if hot.Lag < hotLag || hot.Lag*2 <= lag || hot.Lag*others < hotTimes*(lag-hot.Lag) || g.has(Stuck, hot) || g.has(Unowned, hot) {
			continue
		}
		f := Finding{Kind: Hot, Topic: topic, Partitions: []int32{hot.Partition},
			Text:   fmt.Sprintf("%s/%d has %d%% of the lag of its topic", topic, hot.Partition, hot.Lag*100/lag),
			Advice: "its messages are as many as elsewhere, so its consumer is slower: look for slow messages there"}
		if hot.In*float64(others) > hotTimes*(in-hot.In) {
			f.Text += fmt.Sprintf(", and gets %d%% of the messages", int(math.Round(hot.In*100/in)))
			f.Advice = "one key has most of the messages, or a producer sends all to one partition: more consumers do not help, a finer biz_key does"
		}
		if hot.Owner != nil {
			f.Members = []string{hot.Owner.ID}
		}
		g.Findings = append(g.Findings, f)
	}
}

func (g *Group) findIdle() {
	idle := g.idle()
	if len(idle) == 0 || !g.settled() {
		return
	}
	f := Finding{Kind: Idle, Advice: "stop them, or give the topic more partitions (idem topic grow)"}
	partitions := map[string]bool{}
	var names []string
	for i := range idle {
		f.Members = append(f.Members, idle[i].ID)
		names = append(names, Name(&idle[i]))
		for _, t := range idle[i].Topics {
			partitions[t] = true
		}
	}
	count := 0
	for i := range g.Partitions {
		if partitions[g.Partitions[i].Topic] {
			count++
		}
	}
	f.Text = fmt.Sprintf("%d of %d members have no partition: %s", len(idle), len(g.Members), strings.Join(names, ", "))
	if count > 0 {
		f.Text = fmt.Sprintf("%d of %d members have no partition, since there are %d partitions: %s", len(idle), len(g.Members), count, strings.Join(names, ", "))
	}
	g.Findings = append(g.Findings, f)
}

func (g *Group) findDraining(now time.Time, stuck time.Duration) {
	for _, topic := range g.topics() {
		var draining []int32
		longest := 0.0
		for _, p := range g.of(topic) {
			pace := p.Lately.Out - p.Lately.In
			if pace <= 0 {
				pace = p.Out - p.In
			}
			if p.Slope == Draining && p.Lag > 0 && pace > 0 && p.quiet(now) < rests(stuck) {
				draining = append(draining, p.Partition)
				longest = max(longest, float64(p.Lag)/pace)
			}
		}
		if len(draining) == 0 {
			continue
		}
		g.Findings = append(g.Findings, Finding{Kind: Drain, Topic: topic, Partitions: draining,
			Text:   fmt.Sprintf("%s drains, and has caught up in %s where it goes on like this", places(topic, draining), seconds(longest)),
			Advice: "nothing to do"})
	}
}

// has says that there is such a finding about a partition.
func (g *Group) has(kind Kind, p *Partition) bool {
	return slices.ContainsFunc(g.Findings, func(f Finding) bool { return f.Kind == kind && f.about(p) })
}

// Matters says that there is a finding about a partition.
func (g *Group) Matters(p *Partition) bool {
	return slices.ContainsFunc(g.Findings, func(f Finding) bool { return f.about(p) })
}

func (f *Finding) about(p *Partition) bool {
	return f.Topic == p.Topic && slices.Contains(f.Partitions, p.Partition)
}

func (g *Group) topics() (topics []string) {
	for i := range g.Partitions {
		if t := g.Partitions[i].Topic; len(topics) == 0 || topics[len(topics)-1] != t {
			topics = append(topics, t)
		}
	}
	return topics
}

func (g *Group) of(topic string) (all []*Partition) {
	for i := range g.Partitions {
		if g.Partitions[i].Topic == topic {
			all = append(all, &g.Partitions[i])
		}
	}
	return all
}

// Name is a member's id without most of the UUID in it, and its host. An id that does not begin with the client's, as in
// the consumer protocol, follows on that.
func Name(m *kafka.GroupMember) string {
	name := m.ID
	const uuid, some = 36, 8
	switch n := len(name) - uuid; {
	case n > 0 && strings.Count(name[n:], "-") == 4:
		name = name[:n+some]
	case m.ClientID != "" && !strings.HasPrefix(name, m.ClientID):
		name = m.ClientID + "-" + name[:min(len(name), some)]
	}
	if host := strings.TrimPrefix(m.Host, "/"); host != "" {
		name += "@" + host
	}
	return name
}
