package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// topic is a topic that is there.
type topic struct {
	kafka.TopicDescription
	broker  Cluster
	cluster *cluster
	timing  *Timing
}

// cluster is what commands need to know of it.
type cluster struct {
	bootstrap string
	brokers   int
}

// setting is a setting that is in force.
func (t *topic) setting(name string) (string, error) {
	if t.ConfigErr != nil {
		return "", &unseen{t.ConfigErr.Error(), "grant DESCRIBE_CONFIGS: " + t.cluster.command("kafka-acls", "--add --allow-principal User:NAME --operation DescribeConfigs --topic %s", t.Name)}
	}
	return t.Config[name], nil
}

// number is a setting that is a number.
func (t *topic) number(name string) (int64, error) {
	text, err := t.setting(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &unseen{fmt.Sprintf("%s is %q", name, text), "look at it with " + t.cluster.command("kafka-configs", "--describe --entity-type topics --entity-name %s --all", t.Name)}
	}
	return n, nil
}

// set is the command that sets something.
func (t *topic) set(name string, value any) string {
	return t.cluster.command("kafka-configs", "--alter --entity-type topics --entity-name %s --add-config %s=%v", t.Name, name, value)
}

// command is one of Kafka's own.
func (c *cluster) command(name, format string, args ...any) string {
	return fmt.Sprintf("%s.sh --bootstrap-server %s %s", name, c.bootstrap, fmt.Sprintf(format, args...))
}

// replicas is the least of any partition.
func (t *topic) replicas() int {
	least := len(t.Partitions[0].Replicas)
	for _, p := range t.Partitions {
		least = min(least, len(p.Replicas))
	}
	return least
}

// topicChecks look at each topic, a retry topic too.
var topicChecks = []*check[*topic]{
	{Check{
		ID: "TOPIC_REPLICATION", Severity: Error,
		Purpose: "Checks that a topic is on two or three brokers.",
		Why:     "With one replica the topic is gone with its broker, and what was confirmed to producers with it. More than three cost disk and time for each message, and save nothing that three do not.",
	}, topicReplication},
	{Check{
		ID: "TOPIC_IN_SYNC", Severity: Error,
		Purpose: "Checks that each partition has a leader and all of its replicas in sync.",
		Why:     "Without a leader nothing is read or written. With fewer replicas in sync than min.insync.replicas nothing is written, and outboxes fill; with any replica behind, the next fault is one too many.",
	}, topicInSync},
	{Check{
		ID: "TOPIC_MIN_INSYNC", Severity: Error,
		Purpose: "Checks that min.insync.replicas is at least 2 of 3 replicas, and below their number.",
		Why:     "acks=all waits for the replicas that are in sync, which may be the leader alone: then a message that was confirmed is lost with it. As many as there are replicas stops all writes when one broker is restarted.",
	}, topicMinInSync},
	{Check{
		ID: "TOPIC_UNCLEAN_ELECTION", Severity: Error,
		Purpose: "Checks that unclean.leader.election.enable is off.",
		Why:     "An unclean leader lacks messages that were confirmed. Offsets are given a second time, so that other messages stand where consumers have committed already.",
	}, topicUncleanElection},
	{Check{
		ID: "TOPIC_CLEANUP_POLICY", Severity: Error,
		Purpose: "Checks that cleanup.policy is delete.",
		Why:     "Compaction keeps the last message of each message key. Events of one order have one key, so that all but its last are removed, read or not.",
	}, topicCleanupPolicy},
	{Check{
		ID: "TOPIC_RETENTION_RETRIES", Severity: Error, Spec: []string{"DEDUP-029"},
		Purpose: "Checks that a topic keeps its messages for longer than the longest retries and holds together.",
		Why:     "A message that is tried again in place holds its offset. Where the topic lets go of it, or of those behind it, before the last retry, they are lost without a dead letter.",
	}, topicRetentionRetries},
	{Check{
		ID: "TOPIC_RETENTION_DEDUP", Severity: Error, Spec: []string{"DEDUP-029"},
		Purpose: "Checks that dedup records are kept for longer than the topic keeps its messages.",
		Why:     "A group that reads from the topic's beginning meets messages whose records are gone. They are dead-lettered as TOO_OLD, or where the retention of the consumer is set larger than that of the records, handled a second time.",
	}, topicRetentionDedup},
	{Check{
		ID: "TOPIC_TIMESTAMP", Severity: Warning,
		Purpose: "Checks that timestamps are the producers', and not far in the future.",
		Why:     "How old a message is, for TOO_OLD and for the lag in time, is counted from its timestamp. With LogAppendTime that is when it arrived, so that one that waited in an outbox looks young. A producer whose clock is ahead makes segments that retention does not remove.",
	}, topicTimestamp},
	{Check{
		ID: "TOPIC_CLOCK", Severity: Warning,
		Purpose: "Checks that no message is from the future, by this machine's clock.",
		Why:     "The clock of a producer, of the brokers or of this machine is wrong. How old a message is, its lag in time and when it is TOO_OLD are wrong by as much, and its segment is kept for longer. A clock that is behind cannot be seen from here.",
	}, topicClock},
}

func topicReplication(_ context.Context, t *topic, r *report) error {
	const how = `--execute --reassignment-json-file FILE, where FILE is {"version":1,"partitions":[{"topic":"%s","partition":0,"replicas":[1,2,3]},…]}`
	mend := t.cluster.command("kafka-reassign-partitions", how, t.Name)
	switch n := t.replicas(); {
	case n < 2 && t.cluster.brokers < 2:
		r.find("add brokers to the cluster, two at least; then "+mend, "1 replica, and the cluster has %d broker", t.cluster.brokers)
	case n < 2:
		r.find(mend, "%d replica", n)
	case n > 3:
		r.as(Warning, mend, "%d replicas", n)
	default:
		r.ok("%d replicas", n)
	}
	return nil
}

func topicInSync(_ context.Context, t *topic, r *report) error {
	least, known := t.number("min.insync.replicas")
	for i, p := range t.Partitions {
		mend := "bring the brokers back: " + t.cluster.command("kafka-topics", "--describe --topic %s --unavailable-partitions, and --under-replicated-partitions", t.Name)
		switch in := len(p.InSync); {
		case p.Leader < 0 || in == 0:
			r.find(mend, "partition %d has no leader", i)
		case known == nil && int64(in) < least:
			r.find(mend, "partition %d has %d of %d replicas in sync, and min.insync.replicas is %d: it takes no messages", i, in, len(p.Replicas), least)
		case in < len(p.Replicas):
			r.as(Warning, mend, "partition %d has %d of %d replicas in sync", i, in, len(p.Replicas))
		}
	}
	return nil
}

func topicMinInSync(_ context.Context, t *topic, r *report) error {
	least, err := t.number("min.insync.replicas")
	if err != nil {
		return err
	}
	switch n := int64(t.replicas()); {
	case n < 2:
		r.ok("%d, with 1 replica, which TOPIC_REPLICATION is about", least)
	case least > n:
		r.find(t.set("min.insync.replicas", n-1), "it is %d, and there are %d replicas: nothing can be written with acks=all", least, n)
	case least == n:
		r.as(Warning, t.set("min.insync.replicas", n-1), "it is %d, as many as there are replicas: writes stop when one broker does", least)
	case least < 2 && n > 2:
		r.find(t.set("min.insync.replicas", 2), "it is %d, with %d replicas", least, n)
	case least < 2:
		r.as(Warning, "have 3 replicas (TOPIC_REPLICATION) and "+t.set("min.insync.replicas", 2), "it is 1, with 2 replicas: a confirmed message may be on the leader alone")
	default:
		r.ok("%d of %d", least, n)
	}
	return nil
}

func topicUncleanElection(_ context.Context, t *topic, r *report) error {
	enabled, err := t.setting("unclean.leader.election.enable")
	if err == nil && enabled != "false" {
		r.find(t.set("unclean.leader.election.enable", false), "it is %s", enabled)
	}
	return err
}

func topicCleanupPolicy(_ context.Context, t *topic, r *report) error {
	policy, err := t.setting("cleanup.policy")
	switch {
	case err != nil:
	case strings.Contains(policy, "compact"):
		r.find(t.set("cleanup.policy", "delete"), "it is %s", policy)
	case !strings.Contains(policy, "delete"):
		r.as(Warning, t.set("cleanup.policy", "delete"), "it is %q: nothing is ever removed", policy)
	}
	return err
}

// retention is how long a topic keeps messages; 0 is for ever.
func (t *topic) retention() (time.Duration, error) {
	ms, err := t.number("retention.ms")
	if err != nil || ms < 0 || ms > int64(maxDuration/time.Millisecond) {
		return 0, err
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func topicRetentionRetries(_ context.Context, t *topic, r *report) error {
	kept, err := t.retention()
	if err != nil {
		return err
	}
	longest := t.timing.Retries
	switch {
	case kept == 0:
		r.ok("for ever")
	case kept <= longest:
		r.find(t.set("retention.ms", (2*longest).Milliseconds()), "messages are kept for %s, and %s take up to %s", span(kept), t.timing.RetriesOf, span(longest))
	default:
		r.ok("%s, and %s take up to %s", span(kept), t.timing.RetriesOf, span(longest))
	}
	// Of a topic that is bounded by size nobody knows for how long it keeps what.
	if size, err := t.number("retention.bytes"); err == nil && size >= 0 {
		r.as(Warning, t.cluster.command("kafka-configs", "--alter --entity-type topics --entity-name %s --delete-config retention.bytes, and watch the disks", t.Name),
			"retention.bytes is %d a partition: a rush of messages removes others before their time, read or not", size)
	}
	return nil
}

func topicRetentionDedup(_ context.Context, t *topic, r *report) error {
	kept, err := t.retention()
	if err != nil {
		return err
	}
	dedup, from := t.timing.Retention, t.timing.RetentionFrom
	switch {
	case kept == 0:
		r.as(Warning, t.set("retention.ms", (dedup/2).Milliseconds()), "messages are kept for ever, and dedup records for %s (%s)", span(dedup), from)
	case dedup <= kept:
		r.find(fmt.Sprintf("set Retention of the store to more than %s, as in %s, or %s", span(kept), span(2*kept), t.set("retention.ms", (dedup/2).Milliseconds())),
			"messages are kept for %s, and dedup records for %s (%s)", span(kept), span(dedup), from)
	default:
		r.ok("%s, and dedup records %s (%s)", span(kept), span(dedup), from)
	}
	return nil
}

func topicTimestamp(_ context.Context, t *topic, r *report) error {
	kind, err := t.setting("message.timestamp.type")
	if err != nil {
		return err
	}
	if kind != "CreateTime" {
		r.find(t.set("message.timestamp.type", "CreateTime"), "message.timestamp.type is %s", kind)
		return nil
	}
	const name, hour = "message.timestamp.after.max.ms", int64(time.Hour / time.Millisecond)
	// Brokers before 3.6 have one setting for both sides.
	if after, err := t.number(name); err == nil && after > 24*hour {
		r.find(t.set(name, hour), "%s lets a producer's clock be ahead: %s", name, span(time.Duration(min(after, int64(maxDuration/time.Millisecond)))*time.Millisecond))
	}
	return nil
}

func topicClock(ctx context.Context, t *topic, r *report) error {
	spans, err := t.broker.Spans(ctx, t.Name, time.Now().Add(late), time.Time{})
	if err != nil {
		return err
	}
	for _, s := range spans {
		if s.From < s.To {
			r.find("compare the clocks of the producers, the brokers and this machine: chronyc tracking", "%s/%d has a message, at offset %d, from more than %s ahead", t.Name, s.Partition, s.From, span(late))
		}
	}
	return nil
}
