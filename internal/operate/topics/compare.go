package topics

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// Status is how a cluster stands to the plan.
type Status string

// The statuses. Without a cluster all is planned.
const (
	Planned   Status = "planned"
	OK        Status = "ok"
	Missing   Status = "missing"
	Different Status = "different"
	Unknown   Status = "unknown"
)

// Difference is a setting that a cluster has otherwise.
type Difference struct {
	Name       string // partitions, replicas or a setting's name
	Have, Want string
}

// TopicStatus is a topic of the plan.
type TopicStatus struct {
	Topic
	Status      Status
	Differences []Difference
	// Why says why settings are not known.
	Why error
}

// ACLStatus is an ACL of the plan. Different is one that another ACL denies.
type ACLStatus struct {
	ACL
	Status Status
}

// Compared is a plan beside a cluster.
type Compared struct {
	Topics []TopicStatus
	ACLs   []ACLStatus
	NoACLs error
}

// Compare holds the plan against what there is; live is nil for no cluster.
func (p *Plan) Compare(live *Live) *Compared {
	c := &Compared{}
	for _, t := range p.Topics {
		c.Topics = append(c.Topics, t.compare(live))
	}
	if live != nil {
		c.NoACLs = live.NoACLs
	}
	for _, a := range p.ACLs {
		c.ACLs = append(c.ACLs, ACLStatus{a, a.compare(live)})
	}
	return c
}

// Done says that nothing is missing or different, as far as it can be seen.
func (c *Compared) Done() bool {
	return !slices.ContainsFunc(c.Topics, func(t TopicStatus) bool { return t.Status != OK }) &&
		!slices.ContainsFunc(c.ACLs, func(a ACLStatus) bool { return a.Status == Missing || a.Status == Different })
}

func (a ACL) compare(live *Live) Status {
	switch {
	case live == nil:
		return Planned
	case live.NoACLs != nil:
		return Unknown
	}
	switch allowed, denied := live.allowed(a); {
	case denied:
		return Different
	case allowed:
		return OK
	}
	return Missing
}

func (t Topic) compare(live *Live) TopicStatus {
	s := TopicStatus{Topic: t, Status: OK}
	there := live.topic(t.Name)
	switch {
	case live == nil:
		s.Status = Planned
		return s
	case there == nil:
		s.Status = Missing
		return s
	case there.ConfigErr != nil:
		s.Status, s.Why = Unknown, there.ConfigErr
	}
	if have := len(there.Partitions); have < int(t.Partitions) {
		s.differ("partitions", fmt.Sprint(have), fmt.Sprint(t.Partitions))
	}
	if have := replicasOf(there); have < t.Replicas {
		s.differ("replicas", fmt.Sprint(have), fmt.Sprint(t.Replicas))
	}
	for _, c := range t.Config {
		if there.ConfigErr == nil && !c.met(there) {
			s.differ(c.Name, cmp.Or(there.Config[c.Name], "-"), c.Value)
		}
	}
	return s
}

func (s *TopicStatus) differ(name, have, want string) {
	s.Status = Different
	s.Differences = append(s.Differences, Difference{name, have, want})
}

// met says that a topic has a setting, or more of it.
func (c Setting) met(there *kafka.TopicDescription) bool {
	if c.Name == cleanup {
		return there.Config[c.Name] == c.Value
	}
	want := number(&kafka.TopicDescription{Config: map[string]string{c.Name: c.Value}}, c.Name, 0)
	have := number(there, c.Name, 0)
	return have >= want || c.Name == retention && have < 0 // for ever
}
