package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/doctor"
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
)

func newExplain(std streams) *cobra.Command {
	return &cobra.Command{
		Use:     "explain RULE",
		Short:   "Show why a rule, or a check of doctor, is there, what it finds and what it wants",
		Example: "  idem explain IDEM_KEY_VERSION_MISSING\n  idem explain TOPIC_REPLICATION",
		Args:    exactly("RULE"),
		RunE: func(_ *cobra.Command, args []string) error {
			id := strings.ToUpper(strings.ReplaceAll(args[0], "-", "_"))
			e, ok := catalog.Find(id)
			if !ok {
				e, ok = catalog.Find("IDEM_" + id)
			}
			if c := doctor.Find(id); !ok && c != nil {
				fmt.Fprint(std.out, c.Explain())
				return nil
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
			return slices.DeleteFunc(explainedIDs(), other), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// whichRule says which rule was meant, or where they are listed.
func whichRule(id string) string {
	if near := lint.DidYouMean(id, explainedIDs()); near != "" {
		return near
	}
	return ": `idem rules` lists them, and `idem doctor --list` its checks"
}

// explainedIDs are those of all rules and checks.
func explainedIDs() []string {
	ids := ruleIDs()
	for _, c := range doctor.Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

func ruleIDs() []string {
	var ids []string
	for _, r := range catalog.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}
