package lag

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// Report is what one look has found.
type Report struct {
	At     time.Time
	Groups []Group
	// Notes say what could not be seen, and how to mend that.
	Notes []string
}

// Group is a consumer group.
type Group struct {
	Name string
	// State is Kafka's word, such as Stable.
	State   string
	Members []kafka.GroupMember
	// Hidden says that there may be members and nobody can see them.
	Hidden     bool
	Partitions []Partition
	Findings   []Finding
}

// Lag is how many offsets the group is behind.
func (g *Group) Lag() (sum int64) {
	for i := range g.Partitions {
		sum += g.Partitions[i].Lag
	}
	return sum
}

// idle are the members without a partition.
func (g *Group) idle() (idle []kafka.GroupMember) {
	for _, m := range g.Members {
		if len(m.Partitions) == 0 {
			idle = append(idle, m)
		}
	}
	return idle
}

// settled says that the members have their shares.
func (g *Group) settled() bool { return g.State == "Stable" }

// reads says that a member has asked for a topic.
func (g *Group) reads(topic string) bool {
	for _, m := range g.Members {
		for _, t := range m.Topics {
			if t == topic {
				return true
			}
		}
	}
	return false
}

// Partition is how far a group is behind in one.
type Partition struct {
	broker.TopicPartition
	// Committed is where the group goes on; -1 where it has committed nothing, and begins at First.
	Committed int64
	// The partition has the messages [First, End).
	First, End int64
	Lag        int64
	// Owner is the member that has it; nil for none.
	Owner *kafka.GroupMember
	// Oldest is the time of the first message that is not done; zero where there is none, or it is not known.
	Oldest time.Time
	Trend
}

// next is the offset that the group has to do next.
func (p *Partition) next() int64 { return max(p.Committed, p.First) }

// age is that of the oldest message.
func (p *Partition) age(now time.Time) time.Duration {
	if p.Oldest.IsZero() {
		return 0
	}
	return max(now.Sub(p.Oldest), 0)
}
