package kafka

import (
	"sync"

	"github.com/segmentio/kafka-go"
)

// dealt remembers how many partitions of each topic this process has dealt out, when the group made it the
// leader. So it sees each partition that was added since, also one that was added while the group was
// joining.
type dealt struct {
	mu     sync.Mutex
	counts map[string]int32 // nil: somebody else leads
}

// balancers are those of Kafka's clients that all of them have.
func (d *dealt) balancers() []kafka.GroupBalancer {
	return []kafka.GroupBalancer{
		watched{kafka.RangeGroupBalancer{}, d},
		watched{kafka.RoundRobinGroupBalancer{}, d},
	}
}

func (d *dealt) get() map[string]int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// watched is a balancer that tells what it deals out.
type watched struct {
	kafka.GroupBalancer
	dealt *dealt
}

// UserData is asked for before each join.
func (w watched) UserData() ([]byte, error) {
	w.dealt.mu.Lock()
	w.dealt.counts = nil
	w.dealt.mu.Unlock()
	return w.GroupBalancer.UserData()
}

// AssignGroups is asked of the leader.
func (w watched) AssignGroups(members []kafka.GroupMember, partitions []kafka.Partition) kafka.GroupMemberAssignments {
	counts := map[string]int32{}
	for _, m := range members {
		for _, topic := range m.Topics {
			counts[topic] = 0
		}
	}
	for _, p := range partitions {
		counts[p.Topic]++
	}
	w.dealt.mu.Lock()
	w.dealt.counts = counts
	w.dealt.mu.Unlock()
	return w.GroupBalancer.AssignGroups(members, partitions)
}
