package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/conformance/stub"
)

// stubNeeds is what a stub needs beyond its language in any version.
var stubNeeds = map[string]string{"typescript": "Node 22.18 or newer, which runs TypeScript as it is"}

func newConformanceInit(std streams) *cobra.Command {
	var (
		lang  string
		name  string
		force bool
	)
	command := &cobra.Command{
		Use:   "init --lang LANGUAGE [DIR]",
		Short: "Write the beginning of a new port",
		Long: `Writes a program that speaks the protocol and answers unsupported, with the places to go on
marked, a script for continuous integration, and a list of known failures with every group.

Languages: ` + strings.Join(stub.Languages(), ", ") + ".",
		Example: `  idem conformance init --lang rust conformance/rust`,
		Args:    upTo("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if lang == "" {
				return fmt.Errorf("no --lang: there are %s", strings.Join(stub.Languages(), ", "))
			}
			if name == "" {
				name = "idem-" + lang
			}
			suite, err := loadSuite("")
			if err != nil {
				return err
			}
			var groups []stub.Group
			for _, g := range suite.Groups {
				groups = append(groups, stub.Group{Name: g.Name, Count: len(g.Vectors)})
			}
			made, err := stub.Make(lang, name, groups)
			if err != nil {
				return err
			}
			var files []newFile
			for _, f := range made {
				mode := fileMode
				if f.Executable {
					mode = programMode
				}
				files = append(files, newFile{path: f.Path, data: f.Data, mode: mode})
			}
			if err := writeFiles(dir, files, force); err != nil {
				return err
			}
			tell(std, dir, files)
			fmt.Fprintf(std.out, "\nNext: in %s,\n  idem conformance run --group decimal -- ./port\n", dir)
			if needs, ok := stubNeeds[lang]; ok {
				fmt.Fprintf(std.out, "It needs %s.\n", needs)
			}
			return nil
		},
	}
	command.Flags().StringVar(&lang, "lang", "", "language of the port")
	command.Flags().StringVar(&name, "name", "", "what the port calls itself (default idem-LANGUAGE)")
	command.Flags().BoolVar(&force, "force", false, "overwrite files")
	offer(command, "lang", stub.Languages()...)
	return command
}
