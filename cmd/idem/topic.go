package main

import "github.com/spf13/cobra"

func newTopic(std streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "topic",
		Short: "Work on topics of Kafka",
	}
	group(command)
	command.AddCommand(newTopicCreate(std), newTopicGrow(std), newTopicPlan(std))
	return command
}
