package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/conformance"
)

// offer has the shell complete a flag's value with these.
func offer(command *cobra.Command, flag string, values ...string) {
	offerFunc(command, flag, func(*cobra.Command) []string { return values })
}

// offerFunc has the shell complete a flag's value with those that there are when it asks. A flag that
// does not exist is a mistake of the program.
func offerFunc(command *cobra.Command, flag string, values func(*cobra.Command) []string) {
	err := command.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		// Of a list that commas separate it is the last one that is begun.
		done := begun[:strings.LastIndexByte(begun, ',')+1]
		var offered []string
		for _, v := range values(cmd) {
			if strings.HasPrefix(done+v, begun) {
				offered = append(offered, done+v)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err)
	}
}

// groupNames returns the groups of the vectors within this program.
func groupNames(*cobra.Command) []string {
	suite, err := conformance.Load(embeddedVectors)
	if err != nil {
		return nil
	}
	return suite.Names()
}

// messageNames returns the messages of the schema, where there is one.
func (f *keyFlags) messageNames(cmd *cobra.Command) []string {
	if f.schema == "" {
		var err error
		if f.schema, err = configuredSchema(); err != nil {
			return nil
		}
	}
	set, _, err := f.set(cmd.Context())
	if err != nil {
		return nil
	}
	return annotated(set)
}
