package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/conformance"
)

func newConformanceList(std streams) *cobra.Command {
	var (
		selection conformance.Selection
		vectors   string
		asJSON    bool
		groups    bool
	)
	command := &cobra.Command{
		Use:   "list",
		Short: "List the cases, or the groups",
		Example: `  idem conformance list --groups
  idem conformance list --group decimal
  idem conformance list --case 'key-*' --json`,
		Args: upTo(),
		RunE: func(*cobra.Command, []string) error {
			suite, err := loadSuite(vectors)
			if err != nil {
				return err
			}
			selected, err := suite.Select(selection)
			if err != nil {
				return err
			}
			switch {
			case len(selected) == 0:
				return failf("no case is selected by %s", selection)
			case groups:
				return listGroups(std, suite, selected, asJSON)
			case asJSON:
				return writeJSON(std.out, selected)
			}
			for _, v := range selected {
				fmt.Fprintln(std.out, v.ID)
			}
			return nil
		},
	}
	addSelection(command, &selection, &vectors)
	command.Flags().BoolVar(&asJSON, "json", false, "as JSON, with inputs and answers")
	command.Flags().BoolVar(&groups, "groups", false, "the groups and how many cases they have")
	return command
}

// listedGroup is a group with the number of its selected cases.
type listedGroup struct {
	Group    string `json:"group"`
	Required bool   `json:"required"`
	Cases    int    `json:"cases"`
}

func listGroups(std streams, suite *conformance.Suite, selected []*conformance.Vector, asJSON bool) error {
	counts := map[string]int{}
	for _, v := range selected {
		counts[v.Group]++
	}
	listed := []listedGroup{}
	for _, g := range suite.Groups {
		if counts[g.Name] > 0 {
			listed = append(listed, listedGroup{g.Name, g.Required, counts[g.Name]})
		}
	}
	if asJSON {
		return writeJSON(std.out, listed)
	}
	for _, g := range listed {
		note := ""
		if !g.Required {
			note = "  not required"
		}
		fmt.Fprintf(std.out, "%-16s %5d%s\n", g.Group, g.Cases, note)
	}
	return nil
}

// writeJSON writes a value for people and programs.
func writeJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
