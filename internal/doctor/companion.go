package doctor

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// companion is the retry or the dead-letter topic of a topic for a scope; own is nil where it is not there.
type companion struct {
	name, scope string
	deadLetters bool
	// tables says that there is a store, which has a table for dead letters.
	tables bool
	origin *topic
	own    *topic
}

// companionChecks look at them.
var companionChecks = []*check[*companion]{
	{Check{
		ID: "TOPIC_COMPANION_MISSING", Severity: Error, Spec: []string{"RETRY-030"},
		Purpose: "Checks that the retry topic of each topic and scope is there, and the dead-letter topic where dead letters go to one.",
		Why:     "The first retry has nowhere to go: it stays in its table, or holds its partition up. Where topics are made by themselves, the retry topic is made with the cluster's defaults.",
	}, companionMissing},
	{Check{
		ID: "TOPIC_COMPANION_PARTITIONS", Severity: Warning,
		Purpose: "Checks that a retry or dead-letter topic has as many partitions as its topic, or more.",
		Why:     "Retries come in a rush once what was down is up again. With fewer partitions fewer consumers share them, and programs that write a dead letter to the number of its partition fail.",
	}, companionPartitions},
	{Check{
		ID: "TOPIC_COMPANION_SIZE", Severity: Warning,
		Purpose: "Checks that a retry or dead-letter topic takes each message that its topic takes, and the headers that are added.",
		Why:     "A message of the largest size is taken, fails, and cannot be published as a retry: it holds its partition up, again and again.",
	}, companionSize},
}

func companionMissing(_ context.Context, c *companion, r *report) error {
	create := c.origin.cluster.command("kafka-topics", "--create --topic %s --partitions %d --replication-factor %d", c.name, len(c.origin.Partitions), max(c.origin.replicas(), min(3, c.origin.cluster.brokers)))
	switch {
	case c.own != nil:
	case c.deadLetters && c.tables:
		r.note("not there: dead letters go to the table dead_letter, unless the service has a topic for them, which is made by %s", create)
	case c.deadLetters:
		r.as(Warning, create, "not there: without a table for them, dead letters have nowhere to go")
	default:
		r.find(create, "not there")
	}
	return nil
}

func companionPartitions(_ context.Context, c *companion, r *report) error {
	if c.own == nil {
		return r.nothing()
	}
	have, want := len(c.own.Partitions), len(c.origin.Partitions)
	if have < want {
		r.find(c.own.cluster.command("kafka-topics", "--alter --topic %s --partitions %d, when it is empty: keys move", c.name, want), "%d partitions, and %s has %d", have, c.origin.Name, want)
	} else {
		r.ok("%d partitions, and %s has %d", have, c.origin.Name, want)
	}
	return nil
}

func companionSize(_ context.Context, c *companion, r *report) error {
	const name = "max.message.bytes"
	if c.own == nil {
		return r.nothing()
	}
	most, err := c.origin.number(name)
	if err != nil {
		return err
	}
	own, err := c.own.number(name)
	switch mend := c.own.set(name, most+broker.HeaderRoom); {
	case err != nil:
		return err
	case own < most:
		r.as(Error, mend, "%s is %d, and that of %s %d", name, own, c.origin.Name, most)
	case own < most+broker.HeaderRoom:
		r.find(mend, "%s is %d, as that of %s: it leaves no room for what is added in headers, some KiB", name, own, c.origin.Name)
	default:
		r.ok("%d, and %s has %d", own, c.origin.Name, most)
	}
	return nil
}

// companionsOf are those of a topic for a scope, without what is there.
func companionsOf(origin *topic, scope string, tables bool) []*companion {
	return []*companion{
		{name: broker.RetryTopic(origin.Name, scope), scope: scope, origin: origin},
		{name: broker.DeadLetterTopic(origin.Name, scope), scope: scope, deadLetters: true, tables: tables, origin: origin},
	}
}

// producerChecks say what cannot be seen from here.
var producerChecks = []*check[struct{}]{
	{Check{
		ID: "PRODUCER_SETTINGS", Severity: Warning,
		Purpose: "Says which settings of producers are to be looked at, since no broker tells them.",
		Why:     "A producer with acks=1 loses what its leader had alone. One without idempotence writes a message twice when an answer is lost, and may swap two; the consumers' deduplication drops the second, and the order is lost all the same.",
	}, func(_ context.Context, _ struct{}, r *report) error {
		r.note("acks, enable.idempotence and max.in.flight.requests.per.connection are not visible from outside: see that each producer has acks=all, and " +
			"in Java and librdkafka enable.idempotence=true and at most 5 requests in flight; in librdkafka partitioner=murmur2_random, too")
		return nil
	}},
}
