package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

func days(n int) string {
	return strconv.FormatInt((time.Duration(n) * 24 * time.Hour).Milliseconds(), 10)
}

func TestTopicSettings(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	quick := &Timing{Retries: time.Minute, RetriesOf: "the retries of shop.paid", Retention: 14 * 24 * time.Hour, RetentionFrom: "the default"}
	for name, k := range map[string]struct {
		id     string
		config map[string]string
		timing *Timing
		status Status
		found  string
	}{
		"one replica":                {"TOPIC_REPLICATION", nil, nil, Error, "1 replica, and the cluster has 1 broker"},
		"in sync":                    {"TOPIC_IN_SYNC", nil, nil, OK, ""},
		"clean elections":            {"TOPIC_UNCLEAN_ELECTION", nil, nil, OK, ""},
		"unclean elections":          {"TOPIC_UNCLEAN_ELECTION", map[string]string{"unclean.leader.election.enable": "true"}, nil, Error, "it is true"},
		"deleted by age":             {"TOPIC_CLEANUP_POLICY", nil, nil, OK, ""},
		"compacted":                  {"TOPIC_CLEANUP_POLICY", map[string]string{"cleanup.policy": "compact"}, nil, Error, "it is compact"},
		"compacted and deleted":      {"TOPIC_CLEANUP_POLICY", map[string]string{"cleanup.policy": "compact,delete"}, nil, Error, "compact"},
		"kept beyond the retries":    {"TOPIC_RETENTION_RETRIES", nil, quick, OK, "7d, and the retries of shop.paid take up to 1m"},
		"kept for ever":              {"TOPIC_RETENTION_RETRIES", map[string]string{"retention.ms": "-1"}, quick, OK, "for ever"},
		"gone before the last try":   {"TOPIC_RETENTION_RETRIES", map[string]string{"retention.ms": "60000"}, quick, Error, "kept for 1m, and the retries of shop.paid take up to 1m"},
		"bounded by size":            {"TOPIC_RETENTION_RETRIES", map[string]string{"retention.bytes": "1000000"}, quick, Warning, "retention.bytes is 1000000"},
		"records outlive messages":   {"TOPIC_RETENTION_DEDUP", nil, quick, OK, "7d, and dedup records 14d"},
		"messages outlive records":   {"TOPIC_RETENTION_DEDUP", map[string]string{"retention.ms": days(14)}, quick, Error, "kept for 14d, and dedup records for 14d"},
		"messages are never gone":    {"TOPIC_RETENTION_DEDUP", map[string]string{"retention.ms": "-1"}, quick, Warning, "for ever"},
		"the producer's times":       {"TOPIC_TIMESTAMP", nil, nil, OK, ""},
		"the broker's times":         {"TOPIC_TIMESTAMP", map[string]string{"message.timestamp.type": "LogAppendTime"}, nil, Warning, "LogAppendTime"},
		"times far in the future":    {"TOPIC_TIMESTAMP", map[string]string{"message.timestamp.after.max.ms": days(2)}, nil, Warning, "clock be ahead: 2d"},
		"more in sync than there is": {"TOPIC_MIN_INSYNC", map[string]string{"min.insync.replicas": "2"}, nil, OK, "which TOPIC_REPLICATION is about"},
		"nothing can be written":     {"TOPIC_IN_SYNC", map[string]string{"min.insync.replicas": "2"}, nil, Error, "partition 0 has 1 of 1 replicas in sync, and min.insync.replicas is 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic := named("idem-doctor")
			c.topic(t, topic, 1, 1, k.config)
			expect(t, c.look(t, Kafka{Topics: []string{topic}}, k.timing), "topic "+topic, k.id, k.status, k.found)
		})
	}
}

// What a broker that is down leaves, from its description: no test may take one down for others.
func TestReplicasThatAreBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leader   int32
		replicas []int32
		inSync   []int32
		status   Status
		found    string
	}{
		"all in sync":        {1, []int32{1, 2, 3}, []int32{1, 2, 3}, OK, ""},
		"one behind":         {1, []int32{1, 2, 3}, []int32{1, 2}, Warning, "2 of 3 replicas in sync"},
		"too few for writes": {1, []int32{1, 2, 3}, []int32{1}, Error, "it takes no messages"},
		"no leader":          {-1, []int32{1, 2, 3}, nil, Error, "no leader"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := kafka.TopicDescription{Name: "orders", Config: map[string]string{"min.insync.replicas": "2"},
				Partitions: []kafka.PartitionDescription{{Leader: c.leader, Replicas: c.replicas, InSync: c.inSync}}}
			results := examine(t.Context(), "topic orders", &topic{TopicDescription: d, cluster: &cluster{}}, topicChecks[1:2])
			expect(t, results, "", "TOPIC_IN_SYNC", c.status, c.found)
		})
	}
	three := kafka.TopicDescription{Config: map[string]string{"min.insync.replicas": "1"}, Partitions: []kafka.PartitionDescription{{Replicas: []int32{1, 2, 3}}}}
	expect(t, examine(t.Context(), "", &topic{TopicDescription: three, cluster: &cluster{}}, topicChecks[2:3]), "", "TOPIC_MIN_INSYNC", Error, "it is 1, with 3 replicas")
	four := kafka.TopicDescription{Partitions: []kafka.PartitionDescription{{Replicas: []int32{1, 2, 3, 4}}}}
	expect(t, examine(t.Context(), "", &topic{TopicDescription: four, cluster: &cluster{brokers: 4}}, topicChecks[:1]), "", "TOPIC_REPLICATION", Warning, "4 replicas")
}

func TestMessagesFromTheFuture(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	topic := named("idem-doctor")
	c.topic(t, topic, 1, 1, nil)
	c.write(t, topic, time.Now())
	expect(t, c.look(t, Kafka{Topics: []string{topic}}, nil), "topic "+topic, "TOPIC_CLOCK", OK, "")
	c.write(t, topic, time.Now().Add(30*time.Minute))
	expect(t, c.look(t, Kafka{Topics: []string{topic}}, nil), "topic "+topic, "TOPIC_CLOCK", Warning, "at offset 1")
}

func TestTopicsThatAreNotThere(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	topic, room := named("idem-doctor"), strconv.Itoa(1048588+broker.HeaderRoom)
	c.topic(t, topic, 2, 1, nil)
	groups := []Group{{Name: topic, Scope: "s"}}
	results := c.look(t, Kafka{Topics: []string{topic, topic + "-none"}, Groups: groups}, nil)
	expect(t, results, "topic "+topic+"-none", "TOPIC_MISSING", Error, "not there")
	expect(t, results, "topic "+topic+".retry.s", "TOPIC_COMPANION_MISSING", Error, "not there")
	expect(t, results, "topic "+topic+".dlq.s", "TOPIC_COMPANION_MISSING", Warning, "nowhere to go")
	results = c.look(t, Kafka{Topics: []string{topic}, Groups: groups, Tables: true}, nil)
	expect(t, results, "topic "+topic+".dlq.s", "TOPIC_COMPANION_MISSING", Note, "the table dead_letter")

	for name, k := range map[string]struct {
		id         string
		partitions int
		config     map[string]string
		status     Status
		found      string
	}{
		"there":              {"TOPIC_COMPANION_MISSING", 2, nil, OK, ""},
		"as many partitions": {"TOPIC_COMPANION_PARTITIONS", 2, nil, OK, ""},
		"more partitions":    {"TOPIC_COMPANION_PARTITIONS", 3, nil, OK, ""},
		"fewer partitions":   {"TOPIC_COMPANION_PARTITIONS", 1, nil, Warning, "1 partitions"},
		"room for headers":   {"TOPIC_COMPANION_SIZE", 2, map[string]string{"max.message.bytes": room}, OK, ""},
		"no room":            {"TOPIC_COMPANION_SIZE", 2, nil, Warning, "no room"},
		"smaller":            {"TOPIC_COMPANION_SIZE", 2, map[string]string{"max.message.bytes": "1000"}, Error, "is 1000, and that of"},
		"compacted":          {"TOPIC_CLEANUP_POLICY", 2, map[string]string{"cleanup.policy": "compact"}, Error, "it is compact"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic := named("idem-doctor")
			c.topic(t, topic, 2, 1, nil)
			c.topic(t, broker.RetryTopic(topic, "s"), k.partitions, 1, k.config)
			results := c.look(t, Kafka{Topics: []string{topic}, Groups: []Group{{Name: topic, Scope: "s"}}}, nil)
			expect(t, results, "topic "+topic+".retry.s", k.id, k.status, k.found)
		})
	}
}

// join makes a member of a group, which has its share when this returns.
func (c *testCluster) join(t *testing.T, group string, topics ...string) broker.Generation {
	t.Helper()
	b, err := kafka.Open(kafka.Config{Brokers: c.brokers, HeartbeatInterval: 100 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	g, err := b.Group(t.Context(), group, topics)
	require.NoError(t, err)
	n, err := g.Join(t.Context())
	require.NoError(t, err)
	return n
}

func TestGroups(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	for name, k := range map[string]struct {
		id     string
		make   func(t *testing.T, topic string)
		status Status
		found  string
	}{
		"nobody has ever read": {"GROUP_MEMBERS", func(*testing.T, string) {}, Warning, "no such group"},
		"nobody reads, and messages wait": {"GROUP_MEMBERS", func(t *testing.T, topic string) {
			c.write(t, topic, time.Now())
		}, Error, "no member, and 1 messages wait"},
		"all are read":    {"GROUP_MEMBERS", func(t *testing.T, topic string) { c.join(t, topic, topic, topic+".retry.s") }, OK, "1, Stable"},
		"all are owned":   {"GROUP_UNOWNED", func(t *testing.T, topic string) { c.join(t, topic, topic, topic+".retry.s") }, OK, ""},
		"retries are not": {"GROUP_UNOWNED", func(t *testing.T, topic string) { c.join(t, topic, topic) }, Error, ".retry.s"},
		"all have work":   {"GROUP_IDLE", func(t *testing.T, topic string) { c.join(t, topic, topic) }, OK, ""},
		"nothing is lost": {"GROUP_LAG", func(t *testing.T, topic string) { c.join(t, topic, topic) }, OK, ""},
		"steady":          {"GROUP_REBALANCING", func(t *testing.T, topic string) { c.join(t, topic, topic) }, OK, ""},
		"old messages wait": {"GROUP_LAG", func(t *testing.T, topic string) {
			c.write(t, topic, time.Now().Add(-6*24*time.Hour))
		}, Error, "1 unread messages of"},
		"messages of half their time wait": {"GROUP_LAG", func(t *testing.T, topic string) {
			c.write(t, topic, time.Now().Add(-4*24*time.Hour))
		}, Warning, "4d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic := named("idem-doctor")
			c.topic(t, topic, 1, 1, nil)
			c.topic(t, broker.RetryTopic(topic, "s"), 1, 1, nil)
			k.make(t, topic)
			results := c.look(t, Kafka{Topics: []string{topic}, Groups: []Group{{Name: topic, Scope: "s"}}}, nil)
			expect(t, results, "group "+topic, k.id, k.status, k.found)
		})
	}
}

func TestMembersWithoutAPartition(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	topic := named("idem-doctor")
	c.topic(t, topic, 1, 1, nil)
	// A member that has to give up its share joins again by itself only where somebody asks.
	for range 2 {
		b, err := kafka.Open(kafka.Config{Brokers: c.brokers, HeartbeatInterval: 100 * time.Millisecond})
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		g, err := b.Group(t.Context(), topic, []string{topic})
		require.NoError(t, err)
		go func() {
			for t.Context().Err() == nil {
				n, err := g.Join(t.Context())
				if err != nil {
					return
				}
				select {
				case <-n.Done():
				case <-t.Context().Done():
				}
				_ = n.Close()
			}
		}()
	}
	require.Eventually(t, func() bool {
		d, err := c.DescribeGroup(t.Context(), topic)
		return err == nil && d.State == stable && len(d.Members) == 2
	}, 30*time.Second, 50*time.Millisecond)
	results := c.look(t, Kafka{Groups: []Group{{Name: topic, Scope: topic}}}, nil)
	expect(t, results, "group "+topic, "GROUP_IDLE", Warning, "1 of 2 members have no partition: idem at ")
	assert.NotEmpty(t, with(results, "topic "+topic, "TOPIC_REPLICATION"), "the topics are those that the group reads")
}

func TestAGroupHasToReadWhatItReads(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	a, b := named("idem-doctor-a"), named("idem-doctor-b")
	groups := []Group{{Name: a, Scope: a}, {Name: b, Scope: b}}
	for _, topic := range []string{a, b} {
		c.topic(t, topic, 1, 1, nil)
		c.topic(t, broker.RetryTopic(topic, topic), 1, 1, nil)
		c.join(t, topic, topic, broker.RetryTopic(topic, topic))
	}
	results := c.look(t, Kafka{Groups: groups}, nil)
	for _, group := range []string{a, b} {
		expect(t, results, "group "+group, "GROUP_UNOWNED", OK, "")
	}
	assert.NotEmpty(t, with(results, "topic "+broker.RetryTopic(a, a), "TOPIC_REPLICATION"))
	assert.Empty(t, with(results, "topic "+broker.RetryTopic(a, b), "TOPIC_COMPANION_MISSING"))
	results = c.look(t, Kafka{Groups: groups, Topics: []string{a}}, nil)
	expect(t, results, "group "+b, "GROUP_UNOWNED", Error, "no member has asked for "+a)
}

// States that do not last, and members that cannot be described.
func TestStatesOfAGroup(t *testing.T) {
	t.Parallel()
	described := func(state string, members int) *group {
		return &group{name: "g", cluster: &cluster{}, GroupDescription: kafka.GroupDescription{State: state, Members: make([]kafka.GroupMember, members)}}
	}
	expect(t, examine(t.Context(), "", described("PreparingRebalance", 2), groupChecks), "", "GROUP_REBALANCING", Warning, "PreparingRebalance with 2 members")
	expect(t, examine(t.Context(), "", described(empty, 0), groupChecks), "", "GROUP_MEMBERS", Warning, "no member")
	of4 := described(dead, 0)
	of4.committed = true
	results := examine(t.Context(), "", of4, groupChecks)
	for _, id := range []string{"GROUP_MEMBERS", "GROUP_IDLE", "GROUP_UNOWNED", "GROUP_REBALANCING"} {
		expect(t, results, "", id, Unknown, "members unknown: ")
	}
	unowned := described(stable, 1)
	unowned.Members[0].Topics = []string{"orders"}
	unowned.topics = []*topic{{cluster: &cluster{}, TopicDescription: kafka.TopicDescription{Name: "orders", Partitions: make([]kafka.PartitionDescription, 2)}}}
	expect(t, examine(t.Context(), "", unowned, groupChecks), "", "GROUP_UNOWNED", Error, "of orders nobody has partition 0, 1")
}

func TestGuessedGroupsAreThoseThatTheClusterKnows(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	results := c.look(t, Kafka{Groups: []Group{{Name: named("nobody"), Scope: "s", Guess: true}}}, nil)
	expect(t, results, "kafka", "REACH", Unknown, "no scope of a store is a group")
	expect(t, results, "producers", "PRODUCER_SETTINGS", Note, "not visible from outside")
}

// denying is a cluster that lets nobody describe a topic and a group.
type denying struct {
	*kafka.Broker
	topic, group string
}

func (d denying) DescribeTopics(ctx context.Context, names ...string) ([]kafka.TopicDescription, int, error) {
	if slices.Contains(names, d.topic) {
		return nil, 0, fmt.Errorf("describe: %w", kafkago.TopicAuthorizationFailed)
	}
	return d.Broker.DescribeTopics(ctx, names...)
}

func (d denying) DescribeGroup(ctx context.Context, name string) (kafka.GroupDescription, error) {
	if name == d.group {
		return kafka.GroupDescription{}, fmt.Errorf("describe: %w", kafkago.GroupAuthorizationFailed)
	}
	return d.Broker.DescribeGroup(ctx, name)
}

func TestTopicsAndGroupsThatMayNotBeDescribed(t *testing.T) {
	t.Parallel()
	c := onCluster(t, "KAFKA_BROKERS", "kafka")
	topic := named("idem-doctor")
	c.topic(t, topic, 1, 1, nil)
	results, err := LookAtKafka(t.Context(), Kafka{Broker: denying{c.Broker, "secret", "g"}, Brokers: c.brokers, Topics: []string{topic, "secret"}, Groups: []Group{{Name: "g", Scope: "s"}}}, NewTiming(0, 0, 0))
	require.NoError(t, err)
	expect(t, results, "topic secret", "REACH", Unknown, "Topic Authorization Failed")
	expect(t, results, "group g", "REACH", Unknown, "Group Authorization Failed")
	expect(t, results, "topic "+topic, "TOPIC_REPLICATION", Error, "1 replica")
	expect(t, results, "topic "+topic+".retry.s", "TOPIC_COMPANION_MISSING", Error, "not there")
	assert.Empty(t, with(results, "topic secret", "TOPIC_MISSING"), "nobody knows whether it is there")
	assert.Empty(t, with(results, "group g", "GROUP_MEMBERS"))
}

// What may not be looked at is neither healthy nor not.
func TestSettingsThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	d := kafka.TopicDescription{Name: "orders", Partitions: []kafka.PartitionDescription{{Replicas: []int32{1, 2, 3}, InSync: []int32{1, 2, 3}}},
		ConfigErr: assert.AnError}
	results := examine(t.Context(), "", &topic{TopicDescription: d, cluster: &cluster{bootstrap: "k:1"}, timing: NewTiming(0, 0, 0)}, topicChecks[:len(topicChecks)-1])
	for _, id := range []string{"TOPIC_MIN_INSYNC", "TOPIC_UNCLEAN_ELECTION", "TOPIC_CLEANUP_POLICY", "TOPIC_RETENTION_RETRIES", "TOPIC_RETENTION_DEDUP", "TOPIC_TIMESTAMP"} {
		expect(t, results, "", id, Unknown, assert.AnError.Error())
	}
	expect(t, results, "", "TOPIC_REPLICATION", OK, "3 replicas")
}
