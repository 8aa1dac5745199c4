package main

import (
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/conformance"
)

func newConformanceExport(std streams) *cobra.Command {
	var (
		vectors string
		force   bool
	)
	command := &cobra.Command{
		Use:   "export DIR",
		Short: "Write the vectors, their manifest, schemas and descriptors to a directory",
		Args:  exactly("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			source, err := vectorFiles(vectors)
			if err != nil {
				return err
			}
			if _, err := conformance.Load(source); err != nil {
				return brokenf("%w", err)
			}
			files, err := allFiles(source)
			if err != nil {
				return brokenf("read the vectors: %w", err)
			}
			if err := writeFiles(args[0], files, force); err != nil {
				return err
			}
			fmt.Fprintf(std.out, "wrote %d files to %s\n", len(files), args[0])
			return nil
		},
	}
	command.Flags().StringVar(&vectors, "vectors", "", "read the vectors from this directory instead of this program")
	command.Flags().BoolVar(&force, "force", false, "overwrite files")
	return command
}

// allFiles reads every file of a tree.
func allFiles(source fs.FS) ([]newFile, error) {
	var files []newFile
	err := fs.WalkDir(source, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(source, path)
		files = append(files, newFile{path: path, data: data, mode: fileMode})
		return err
	})
	return files, err
}
