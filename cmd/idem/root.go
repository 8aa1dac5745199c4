package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newRoot(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "idem",
		Short: "One idempotency key, one delay, one verdict in every language",
		Long: `idem fixes what services in several languages have to agree on when messages come at
least once: the idempotency key, the delays of retries, the verdicts on duplicates.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       build().String(),
	}
	root.SetVersionTemplate("{{.Version}}")
	root.SetFlagErrorFunc(flagError)
	group(root)
	root.AddCommand(newAudit(std), newBackoff(std), newBreaking(std), newCheck(std), newConformance(std), newDedup(std), newDLQ(std), newDoctor(std), newExplain(std), newFaults(std), newInit(std), newKey(std), newLag(std), newLint(std), newMigrate(std), newOperations(std), newRetry(std), newRules(std), newSQL(std), newTopic(std), newTrace(std), newVersion(std), newWorker(std))
	return root
}

// group makes a command that only has others below it: alone it shows its help, and a word that is
// no command of it is an error with what may have been meant.
func group(command *cobra.Command) *cobra.Command {
	command.Args = cobra.ArbitraryArgs
	command.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
	return command
}

// unknownCommand is the error of a word that is no command below another one.
func unknownCommand(command *cobra.Command, word string) error {
	err := fmt.Errorf("unknown command %q for %q", word, command.CommandPath())
	if command.SuggestionsMinimumDistance <= 0 {
		command.SuggestionsMinimumDistance = 2
	}
	if like := command.SuggestionsFor(word); len(like) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(like, " or "))
	}
	return err
}
