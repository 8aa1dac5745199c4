package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idem-spec/idem/internal/lint"
)

// flagError says of a flag that a command has not which one was probably meant, and of a value what it should be.
func flagError(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	words := command.Flags().Args() // in front of the flag
	switch {
	case errors.As(err, &unknown) && command.HasSubCommands() && len(words) > 0:
		return unknownCommand(command, words[0]) // whose flag it is
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "": // one letter is near to every other
		return fmt.Errorf("%w%s", err, lint.DidYouMean("--"+unknown.GetSpecifiedName(), flagNames(command)))
	case errors.As(err, &invalid):
		if kind := flagKinds[invalid.GetFlag().Value.Type()]; kind != "" {
			return fmt.Errorf("--%s %q: it is %s", invalid.GetFlag().Name, invalid.GetValue(), kind)
		}
	}
	return err
}

// flagKinds are values of flags in words, by the names that pflag has for them.
var flagKinds = map[string]string{
	"bool": "true or false", "duration": "a time such as 30s or 1h30m", "float64": "a number", "int": "a whole number", "int64": "a whole number",
}

func flagNames(command *cobra.Command) (names []string) {
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}
