package topics

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Service is what is known of a service.
type Service struct {
	// Topics are what it reads, for each of the groups.
	Topics []string
	Groups []Group
	// Produces are topics that it writes to.
	Produces []string
	// Principal has the rights, such as User:payments. Without one there are none in the plan.
	Principal string
	// Operator has those that the command line needs to look.
	Operator string
	// DeadLetters says that dead letters go to topics, and not to a table.
	DeadLetters bool
	// Partitions and Replicas of a topic that is not there; 0 replicas are the cluster's own number.
	Partitions int32
	Replicas   int
	// Longest is all delays of a message together.
	Longest time.Duration
	// DeadLetterRetention is how long a topic keeps dead letters.
	DeadLetterRetention time.Duration
}

// Group is a group and its scope, by which its retry topic is named.
type Group struct{ Name, Scope string }

// Kind is what a topic is for.
type Kind string

// The kinds of topics.
const (
	Origin     Kind = "origin"
	Retry      Kind = "retry"
	DeadLetter Kind = "dead-letter"
)

// Topic is one of the plan.
type Topic struct {
	Name       string
	Kind       Kind
	Partitions int32
	Replicas   int
	Config     []Setting
}

// Setting is a setting of a topic.
type Setting struct{ Name, Value string }

// ACL allows something to a principal, from any host.
type ACL struct {
	Principal string
	Resource  string // Topic or Group
	Name      string
	Operation string // Read, Write, Describe, DescribeConfigs
}

// Plan is what a service needs.
type Plan struct {
	Topics []Topic
	ACLs   []ACL
}

const (
	cleanup     = "cleanup.policy"
	retention   = "retention.ms"
	sizeLimit   = "max.message.bytes"
	leastInSync = "min.insync.replicas"
)

const (
	// kafkaRetention is Kafka's own default.
	kafkaRetention = 7 * 24 * time.Hour
	// kafkaLimit is Kafka's own max.message.bytes.
	kafkaLimit = 1_048_588
	// commitTopic is where Kafka keeps what groups commit.
	commitTopic = "__consumer_offsets"
)

// Retention is how long the topics keep messages: twice the longest time that one is tried, so that what waits behind
// it has as much again, and Kafka's own default at least.
func (s *Service) Retention() time.Duration { return max(2*s.Longest, kafkaRetention) }

// DedupRetention says which retention of dedup records the plan needs; false where the default does. (DEDUP-029)
func (s *Service) DedupRetention() (time.Duration, bool) {
	kept := s.Retention()
	return 2 * kept, kept >= store.DefaultRetention
}

// Plan is what the service needs on a cluster that has nothing of it, but for the topics of live.
func (s *Service) Plan(live *Live) (*Plan, error) {
	plan := &Plan{}
	for _, name := range s.origins() {
		origin := s.topic(name, Origin, s.Partitions, s.Replicas, 0)
		limit := int64(kafkaLimit)
		if there := live.topic(name); there != nil {
			origin.Partitions, origin.Replicas, limit = int32(len(there.Partitions)), replicasOf(there), number(there, sizeLimit, kafkaLimit)
		}
		plan.Topics = append(plan.Topics, origin)
		if !slices.Contains(s.Topics, name) {
			continue
		}
		for _, g := range s.Groups {
			plan.Topics = append(plan.Topics, s.topic(broker.RetryTopic(name, g.Scope), Retry, origin.Partitions, origin.Replicas, limit))
			if s.DeadLetters {
				plan.Topics = append(plan.Topics, s.topic(broker.DeadLetterTopic(name, g.Scope), DeadLetter, origin.Partitions, origin.Replicas, limit))
			}
		}
	}
	for _, t := range plan.Topics {
		if err := broker.CheckTopic(t.Name); err != nil {
			return nil, err
		}
	}
	plan.ACLs = s.acls(plan.Topics)
	return plan, nil
}

// origins are the topics that it reads and writes, each once.
func (s *Service) origins() (names []string) {
	for _, name := range slices.Concat(s.Topics, s.Produces) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// topic configures one. limit is the size of a message that its origin takes.
func (s *Service) topic(name string, kind Kind, partitions int32, replicas int, limit int64) Topic {
	t := Topic{Name: name, Kind: kind, Partitions: partitions, Replicas: replicas}
	kept := s.Retention()
	if kind == DeadLetter {
		kept = s.DeadLetterRetention
	}
	t.set(cleanup, "delete") // compaction would leave one message of each key
	t.set(retention, strconv.FormatInt(kept.Milliseconds(), 10))
	if kind != Origin {
		t.set(sizeLimit, strconv.FormatInt(limit+broker.HeaderRoom, 10))
	}
	if replicas >= 3 {
		t.set(leastInSync, "2")
	}
	slices.SortFunc(t.Config, func(a, b Setting) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

func (t *Topic) set(name, value string) { t.Config = append(t.Config, Setting{name, value}) }
