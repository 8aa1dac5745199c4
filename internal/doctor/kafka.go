package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// Group is a consumer group and the scope that it works in.
type Group struct {
	Name, Scope string
	// Guess says that nobody has named it: where the cluster does not know it, it is none.
	Guess bool
}

// Cluster is what is asked of Kafka; *kafka.Broker is one.
type Cluster interface {
	DescribeTopics(ctx context.Context, names ...string) ([]kafka.TopicDescription, int, error)
	DescribeGroup(ctx context.Context, name string) (kafka.GroupDescription, error)
	CommittedTopics(ctx context.Context, group string) ([]string, error)
	Lag(ctx context.Context, group string, topics ...string) ([]kafka.Lag, error)
	Spans(ctx context.Context, topic string, since, until time.Time) ([]kafka.Span, error)
}

// Kafka is what to look at of a cluster.
type Kafka struct {
	Broker  Cluster
	Brokers []string
	// Topics are source topics. Where there are none, they are those that the groups read.
	Topics []string
	Groups []Group
	// Tables says that the service has tables for retries and dead letters.
	Tables bool
}

// LookAtKafka looks at the topics and groups. An error says that the brokers do not answer.
func LookAtKafka(ctx context.Context, k Kafka, timing *Timing) ([]Result, error) {
	l := &kafkaLook{Kafka: k, timing: timing, cluster: &cluster{bootstrap: strings.Join(k.Brokers, ",")}, topics: map[string]*topic{}, own: map[string][]string{}}
	groups, err := l.describeGroups(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.describeTopics(ctx); err != nil {
		return nil, err
	}
	all := l.denied
	if len(l.Topics)+len(groups)+len(all) == 0 {
		all = append(all, Unasked("kafka", "no topic and no group is named, and no scope of a store is a group of this cluster", "say --group, or --topic"))
	}
	for _, name := range l.Topics {
		all = append(all, l.lookAtTopic(ctx, name)...)
	}
	for _, g := range groups {
		all = append(all, examine(ctx, "group "+g.name, l.withTopics(ctx, g), groupChecks)...)
	}
	return append(all, examine(ctx, "producers", struct{}{}, producerChecks)...), nil
}

// kafkaLook is one look.
type kafkaLook struct {
	Kafka
	timing  *Timing
	cluster *cluster
	topics  map[string]*topic
	// own are the topics that a group reads, where nobody has named any.
	own map[string][]string
	// hidden are topics that may not be described, and denied says so of them and of groups.
	hidden []string
	denied []Result
}

// mayNot takes an error that says what this user may not do: it is a result, and the rest is looked at.
func (l *kafkaLook) mayNot(err error, place, right string) bool {
	if !errors.Is(err, kafkago.GroupAuthorizationFailed) && !errors.Is(err, kafkago.TopicAuthorizationFailed) && !errors.Is(err, kafkago.ClusterAuthorizationFailed) {
		return false
	}
	l.denied = append(l.denied, Unasked(place, "not looked at: "+err.Error(), l.cluster.command("kafka-acls", "--add --allow-principal User:NAME --operation Describe %s", right)))
	return true
}

// describeGroups describes the groups, and finds out what they read where nobody has said it.
func (l *kafkaLook) describeGroups(ctx context.Context) ([]*group, error) {
	var groups []*group
	var known []Group
	named := len(l.Topics) > 0
	var read []string
	for _, g := range l.Groups {
		described, err := l.Broker.DescribeGroup(ctx, g.Name)
		var committed []string
		if err == nil {
			committed, err = l.Broker.CommittedTopics(ctx, g.Name)
		}
		if l.mayNot(err, "group "+g.Name, "--group "+g.Name) {
			known = append(known, g) // its retry topics are looked at
			continue
		}
		if err != nil {
			return nil, err
		}
		if g.Guess && described.State == dead && len(committed) == 0 {
			continue
		}
		known = append(known, g)
		groups = append(groups, &group{GroupDescription: described, name: g.Name, cluster: l.cluster, committed: len(committed) > 0})
		for _, m := range described.Members {
			committed = append(committed, m.Topics...)
		}
		for _, topic := range committed {
			if _, retries := broker.OriginOf(topic, g.Scope); !retries {
				read = append(read, topic)
				l.own[g.Name] = append(l.own[g.Name], topic)
			}
		}
	}
	l.Groups = known
	if named {
		l.own = nil
	} else {
		slices.Sort(read)
		l.Topics = slices.Compact(read)
	}
	return groups, nil
}

// reads says that a topic is of a group: each that is named is of each group, else a group has those that it reads.
func (l *kafkaLook) reads(g Group, topic string) bool {
	own, known := l.own[g.Name]
	return !known || slices.Contains(own, topic)
}

// describeTopics describes the topics, and the companions of those that are there.
func (l *kafkaLook) describeTopics(ctx context.Context) error {
	for _, origin := range l.Topics {
		if err := l.describeTopic(ctx, origin); err != nil {
			return err
		}
		if l.topics[origin] == nil {
			continue
		}
		for _, g := range l.Groups {
			if !l.reads(g, origin) {
				continue
			}
			for _, c := range companionsOf(l.topics[origin], g.Scope, l.Tables) {
				if err := l.describeTopic(ctx, c.name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// describeTopic describes one: one that may not be described would take the answer for others with it.
func (l *kafkaLook) describeTopic(ctx context.Context, name string) error {
	if l.topics[name] != nil || slices.Contains(l.hidden, name) {
		return nil
	}
	described, brokers, err := l.Broker.DescribeTopics(ctx, name)
	if l.mayNot(err, "topic "+name, "--topic "+name) {
		l.hidden = append(l.hidden, name)
		return nil
	}
	if err != nil {
		return err
	}
	l.cluster.brokers = brokers
	for _, d := range described {
		if len(d.Partitions) > 0 {
			l.topics[d.Name] = &topic{TopicDescription: d, broker: l.Broker, cluster: l.cluster, timing: l.timing}
		}
	}
	return nil
}

// missing is the check of a topic that somebody has named.
var missing = &check[*kafkaLook]{Check{
	ID: "TOPIC_MISSING", Severity: Error,
	Purpose: "Checks that a topic is there.",
	Why:     "Producers fail, or the cluster makes it with one partition and one replica, and keys cannot be spread later without losing their order.",
}, nil}

func (l *kafkaLook) lookAtTopic(ctx context.Context, name string) []Result {
	t := l.topics[name]
	switch {
	case slices.Contains(l.hidden, name):
		return nil
	case t == nil:
		r := &report{check: &missing.Check, place: "topic " + name}
		r.find(l.cluster.command("kafka-topics", "--create --topic %s --partitions 12 --replication-factor 3 --config min.insync.replicas=2, or check its name", name), "not there")
		return r.results
	}
	all := examine(ctx, "topic "+name, t, topicChecks)
	var seen []string // scopes may share what they have
	for _, g := range l.Groups {
		if !l.reads(g, name) {
			continue
		}
		for _, c := range companionsOf(t, g.Scope, l.Tables) {
			if slices.Contains(seen, c.name) || slices.Contains(l.hidden, c.name) {
				continue
			}
			seen = append(seen, c.name)
			c.own = l.topics[c.name]
			all = append(all, examine(ctx, "topic "+c.name, c, companionChecks)...)
			if c.own != nil {
				all = append(all, examine(ctx, "topic "+c.name, c.own, topicChecks)...)
			}
		}
	}
	return all
}

// withTopics is a group with what it has to read.
func (l *kafkaLook) withTopics(ctx context.Context, g *group) *group {
	of := l.Groups[slices.IndexFunc(l.Groups, func(o Group) bool { return o.Name == g.name })]
	var names []string
	for _, origin := range l.Topics {
		if !l.reads(of, origin) {
			continue
		}
		for _, name := range []string{origin, broker.RetryTopic(origin, of.Scope)} {
			if t := l.topics[name]; t != nil {
				g.topics, names = append(g.topics, t), append(names, name)
			}
		}
	}
	if len(names) > 0 {
		g.lags, g.lagErr = l.Broker.Lag(ctx, g.name, names...)
	}
	return g
}
