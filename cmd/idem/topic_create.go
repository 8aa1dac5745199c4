package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// createFlags are the flags of `idem topic create`.
type createFlags struct {
	kafka       kafkaFlags
	groups      []string
	partitions  int32
	replicas    int
	deadLetters bool
}

func newTopicCreate(std streams) *cobra.Command {
	var flags createFlags
	command := &cobra.Command{
		Use:   "create TOPIC... [--group GROUP...]",
		Short: "Make topics, and what their groups need beside them",
		Long: `Makes each topic that is not there yet, and for each group that reads it the retry topic,
TOPIC.retry.GROUP. A topic that is there stays as it is, and the retry topic gets as many
partitions. --dead-letters makes TOPIC.dlq.GROUP too, for groups that keep dead letters in topics.

Where a consumer's scope is not its group, name the scope.`,
		Example: `  idem topic create orders --group payments --group mail
  idem topic create orders --group payments --partitions 24 --replicas 3 --brokers kafka-1:9092`,
		Args: atLeastOne("TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	flags.kafka.add(command)
	f := command.Flags()
	f.StringSliceVar(&flags.groups, "group", nil, "a group that reads them")
	f.Int32Var(&flags.partitions, "partitions", 12, "how many partitions a new topic gets")
	f.IntVar(&flags.replicas, "replicas", 0, "how many replicas (default: the cluster's own)")
	f.BoolVar(&flags.deadLetters, "dead-letters", false, "make the topics of dead letters too")
	return command
}

func (f *createFlags) run(ctx context.Context, std streams, topics []string) error {
	if f.partitions < 1 || f.replicas < 0 {
		return errors.New("--partitions is at least 1, and --replicas at least 0")
	}
	for _, topic := range topics {
		for _, name := range f.names(topic) {
			if err := broker.CheckTopic(name); err != nil {
				return err
			}
		}
	}
	b, err := f.kafka.open(true)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	for _, topic := range topics {
		partitions := f.partitions
		for _, name := range f.names(topic) {
			var made bool
			if name == topic {
				made, err = b.CreateTopic(ctx, name, partitions, f.replicas)
			} else {
				made, err = b.CreateCompanion(ctx, topic, name, partitions, f.replicas)
			}
			if err != nil {
				return brokenf("%w", err)
			}
			counts, err := b.Partitions(ctx, name)
			if err != nil {
				return brokenf("%w", err)
			}
			if name == topic {
				partitions = counts[name]
			}
			word := "is there"
			if made {
				word = "created"
			}
			fmt.Fprintf(std.out, "%-9s %s, partitions %d\n", word, name, counts[name])
		}
	}
	return nil
}

// names are the topic and what goes with it.
func (f *createFlags) names(topic string) []string {
	names := []string{topic}
	for _, group := range f.groups {
		names = append(names, broker.RetryTopic(topic, group))
		if f.deadLetters {
			names = append(names, broker.DeadLetterTopic(topic, group))
		}
	}
	return names
}
