package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
)

// kinds are the kinds of rules by the names of their commands.
var kinds = []string{lint.Schema.String(), lint.Change.String(), lint.Message.String()}

func newRules(std streams) *cobra.Command {
	var format, kind, category string
	command := &cobra.Command{
		Use:   "rules",
		Short: "List the rules of lint, breaking and check",
		Long: `Lists the rules: which command has each, its category and its severity, and what it checks. idem.yaml
says which of them a repository wants; ` + "`idem explain RULE`" + ` shows a rule's reason and examples.`,
		Example: `  idem rules
  idem rules --kind breaking --format json`,
		Args: upTo(),
		RunE: func(*cobra.Command, []string) error {
			if kind != "" && !slices.Contains(kinds, kind) {
				return fmt.Errorf("--kind %s: it is %s", kind, strings.Join(kinds, ", "))
			}
			if category != "" && !slices.Contains(lint.Categories, category) {
				return fmt.Errorf("--category %s: it is %s", category, strings.Join(lint.Categories, ", "))
			}
			rules := slices.DeleteFunc(catalog.Rules(), func(r *lint.Rule) bool {
				return kind != "" && r.Kind.String() != kind || category != "" && r.Category != category
			})
			switch format {
			case "text":
				return writeRules(std.out, rules)
			case "json":
				return writeJSON(std.out, describedRules(rules))
			}
			return fmt.Errorf("--format %s: it is text or json", format)
		},
	}
	f := command.Flags()
	f.StringVar(&format, "format", "text", "text or json")
	f.StringVar(&kind, "kind", "", "those of one command: "+strings.Join(kinds, ", "))
	f.StringVar(&category, "category", "", "those of one category")
	offer(command, "format", "text", "json")
	offer(command, "kind", kinds...)
	offer(command, "category", lint.Categories...)
	return command
}

func writeRules(w io.Writer, rules []*lint.Rule) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rules {
		purpose := r.Purpose
		if len(r.Needs) > 0 {
			purpose += " (needs " + strings.Join(r.Needs, ", ") + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Kind, r.Category, r.Severity, purpose)
	}
	return table.Flush()
}

// describedRule is a rule as JSON.
type describedRule struct {
	ID       string   `json:"id"`
	Command  string   `json:"command"`
	Category string   `json:"category"`
	Severity string   `json:"severity"`
	Purpose  string   `json:"purpose"`
	Spec     []string `json:"spec"`
	Needs    []string `json:"needs,omitempty"`
}

func describedRules(rules []*lint.Rule) []describedRule {
	all := []describedRule{}
	for _, r := range rules {
		all = append(all, describedRule{r.ID, r.Kind.String(), r.Category, r.Severity.String(), r.Purpose, r.Spec, r.Needs})
	}
	return all
}
