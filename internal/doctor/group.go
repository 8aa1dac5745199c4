package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// group is a consumer group, and what it has to read.
type group struct {
	kafka.GroupDescription
	name    string
	cluster *cluster
	// topics are those it has to read, their retry topics too.
	topics []*topic
	// committed says that it has committed offsets.
	committed bool
	lags      []kafka.Lag
	lagErr    error
}

const (
	stable = "Stable"
	dead   = "Dead"
	empty  = "Empty"
)

// groupChecks look at a group.
var groupChecks = []*check[*group]{
	{Check{
		ID: "GROUP_MEMBERS", Severity: Error,
		Purpose: "Checks that somebody reads for a group.",
		Why:     "Messages wait, and are gone when the topic's retention ends. The group's own offsets are removed after offsets.retention.minutes without a member: then all is read again from the beginning.",
	}, groupMembers},
	{Check{
		ID: "GROUP_REBALANCING", Severity: Warning,
		Purpose: "Checks that a group is not dealing out its partitions.",
		Why:     "During a rebalance nobody reads. One that does not end, or comes again and again, is a member that dies or takes longer for its messages than its session.",
	}, groupRebalancing},
	{Check{
		ID: "GROUP_UNOWNED", Severity: Error,
		Purpose: "Checks that each partition of each topic, the retry topics too, is some member's.",
		Why:     "What nobody has is not read, while the rest of the group looks healthy. A retry topic that nobody reads is where all retries end.",
	}, groupUnowned},
	{Check{
		ID: "GROUP_IDLE", Severity: Warning,
		Purpose: "Checks that each member of a group has a partition.",
		Why:     "An instance without a partition costs what the others cost, and does nothing: a partition has one reader. More instances than partitions do not make a group faster.",
	}, groupIdle},
	{Check{
		ID: "GROUP_LAG", Severity: Error,
		Purpose: "Checks that what a group has not read is not about to be removed.",
		Why:     "Retention removes messages whether they were read or not. It is too late when the oldest is as old as the retention.",
	}, groupLag},
}

// unseenMembers says where the brokers do not tell who the members are.
func (g *group) unseenMembers() error {
	if g.State == dead && g.committed {
		return &unseen{"members unknown: the group has offsets, and uses the consumer protocol of KIP-848 (group.protocol=consumer), which these brokers do not describe",
			g.cluster.command("kafka-consumer-groups", "--describe --members --verbose --group %s", g.name)}
	}
	return nil
}

func groupMembers(_ context.Context, g *group, r *report) error {
	if err := g.unseenMembers(); err != nil {
		return err
	}
	if len(g.Members) > 0 {
		r.ok("%d, %s", len(g.Members), g.State)
		return nil
	}
	behind := int64(0)
	for _, l := range g.lags {
		behind += l.Behind
	}
	mend := "start the service, and look at its log where it runs: its group is " + g.name + " there"
	switch {
	case behind > 0:
		r.find(mend, "no member, and %d messages wait", behind)
	case g.State == dead:
		r.as(Warning, mend, "no such group: nobody has ever read for it, or its offsets were removed")
	default:
		r.as(Warning, mend, "no member")
	}
	return nil
}

func groupRebalancing(_ context.Context, g *group, r *report) error {
	if err := g.unseenMembers(); err != nil {
		return err
	}
	switch g.State {
	case stable:
	case dead, empty:
		return r.nothing()
	default:
		r.find("run this again; where it stays so, look in the logs of the members for what takes longer than max.poll.interval.ms or SessionTimeout", "the group is %s with %d members", g.State, len(g.Members))
	}
	return nil
}

func groupUnowned(_ context.Context, g *group, r *report) error {
	if err := g.unseenMembers(); err != nil {
		return err
	}
	if g.State != stable {
		return r.nothing()
	}
	owned := map[broker.TopicPartition]bool{}
	asked := map[string]bool{}
	for _, m := range g.Members {
		for _, p := range m.Partitions {
			owned[p] = true
		}
		for _, topic := range m.Topics {
			asked[topic] = true
		}
	}
	for _, t := range g.topics {
		var left []string
		for p := range t.Partitions {
			if !owned[broker.TopicPartition{Topic: t.Name, Partition: int32(p)}] {
				left = append(left, fmt.Sprint(p))
			}
		}
		switch {
		case len(left) == 0:
		case !asked[t.Name]:
			r.find("add the topic to the consumer of group "+g.name, "no member has asked for %s", t.Name)
		default:
			r.find("restart the members that asked for it; where it was given partitions lately, wait for the clients' metadata.max.age.ms", "of %s nobody has partition %s", t.Name, strings.Join(left, ", "))
		}
	}
	return nil
}

func groupIdle(_ context.Context, g *group, r *report) error {
	if err := g.unseenMembers(); err != nil {
		return err
	}
	if g.State != stable {
		return r.nothing()
	}
	var idle []string
	for _, m := range g.Members {
		if len(m.Partitions) == 0 {
			idle = append(idle, m.ClientID+" at "+strings.TrimPrefix(m.Host, "/"))
		}
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		r.find("run as many as there are partitions at most, or move the topic to one with more: idem topic grow", "%d of %d members have no partition: %s", len(idle), len(g.Members), strings.Join(idle, ", "))
	}
	return nil
}

func groupLag(_ context.Context, g *group, r *report) error {
	if g.lagErr != nil {
		return &unseen{g.lagErr.Error(), "grant READ on the topics and DESCRIBE on the group"}
	}
	kept := map[string]time.Duration{}
	for _, t := range g.topics {
		if d, err := t.retention(); err == nil {
			kept[t.Name] = d
		}
	}
	for _, l := range g.lags {
		limit := kept[l.Topic]
		if limit == 0 || l.Oldest < limit/2 {
			continue
		}
		status, mend := Warning, "have more or faster consumers; until then keep messages for longer: "
		if l.Oldest >= limit*4/5 {
			status = Error
		}
		r.as(status, mend+g.cluster.command("kafka-configs", "--alter --entity-type topics --entity-name %s --add-config retention.ms=%d", l.Topic, (2*limit).Milliseconds()),
			"the oldest of %d unread messages of %s/%d is %s old, and they are kept for %s", l.Behind, l.Topic, l.Partition, span(l.Oldest), span(limit))
	}
	return nil
}
