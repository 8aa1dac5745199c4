package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
)

func newExplain(std streams) *cobra.Command {
	return &cobra.Command{
		Use:     "explain RULE",
		Short:   "Show why a rule is there, what it finds and what it wants",
		Example: `  idem explain IDEM_KEY_VERSION_MISSING`,
		Args:    exactly("RULE"),
		RunE: func(_ *cobra.Command, args []string) error {
			id := strings.ToUpper(strings.ReplaceAll(args[0], "-", "_"))
			e, ok := catalog.Find(id)
			if !ok {
				e, ok = catalog.Find("IDEM_" + id)
			}
			if !ok {
				return brokenf("there is no rule %s%s", args[0], whichRule(id))
			}
			fmt.Fprint(std.out, e.Explain())
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			other := func(id string) bool { return !strings.HasPrefix(id, strings.ToUpper(begun)) }
			return slices.DeleteFunc(ruleIDs(), other), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// whichRule says which rule was meant, or where they are listed.
func whichRule(id string) string {
	if near := lint.DidYouMean(id, ruleIDs()); near != "" {
		return near
	}
	return ": `idem rules` lists them"
}

func ruleIDs() []string {
	var ids []string
	for _, r := range catalog.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}
