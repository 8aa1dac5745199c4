package main

import (
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/conformance"
)

func newConformance(std streams) *cobra.Command {
	command := group(&cobra.Command{
		Use:   "conformance",
		Short: "Check a port of idem against the vectors",
		Long: `A port is a program that answers questions on its standard output; chapter 12 of the
specification has the protocol. These commands ask it, show what there is to ask, and start a port.`,
	})
	command.AddCommand(
		newConformanceRun(std), newConformanceList(std), newConformanceExport(std), newConformanceBulk(std), newConformanceInit(std),
	)
	return command
}

// vectorFiles returns the vectors of a directory, or those within this program where dir is "".
func vectorFiles(dir string) (fs.FS, error) {
	if dir == "" {
		return embeddedVectors, nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, brokenf("--vectors %s is no directory", dir)
	}
	return os.DirFS(dir), nil
}

// loadSuite reads and checks the vectors.
func loadSuite(dir string) (*conformance.Suite, error) {
	files, err := vectorFiles(dir)
	if err != nil {
		return nil, err
	}
	suite, err := conformance.Load(files)
	if err != nil {
		return nil, brokenf("%w", err)
	}
	return suite, nil
}

// requiredGroups returns the groups that a port has to answer: those of the vectors within this
// program, so that a directory that lacks one does not go unnoticed.
func requiredGroups() ([]string, error) {
	suite, err := conformance.Load(embeddedVectors)
	if err != nil {
		return nil, brokenf("the vectors of this build: %w", err)
	}
	var required []string
	for _, g := range suite.Groups {
		if g.Required {
			required = append(required, g.Name)
		}
	}
	return required, nil
}

// addSelection adds the flags that select cases.
func addSelection(command *cobra.Command, sel *conformance.Selection, vectors *string) {
	command.Flags().StringSliceVar(&sel.Groups, "group", nil, "only cases of this group (repeatable)")
	command.Flags().StringSliceVar(&sel.Cases, "case", nil, "only cases whose id matches this glob (repeatable)")
	command.Flags().StringVar(vectors, "vectors", "", "read the vectors from this directory instead of this program")
	offerFunc(command, "group", groupNames)
}
