package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const (
	fileMode    fs.FileMode = 0o644
	programMode fs.FileMode = 0o755
)

// newFile is a file to be written, its path relative and with slashes.
type newFile struct {
	path string
	data []byte
	mode fs.FileMode
}

// writeFiles writes files below dir. Where one of them is there already with another content it
// writes nothing and says which, unless force is given.
func writeFiles(dir string, files []newFile, force bool) error {
	sort.Slice(files, func(i, j int) bool { return files[i].path < files[j].path })
	var taken []string
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		switch data, err := os.ReadFile(path); {
		case err == nil && string(data) != string(f.data):
			taken = append(taken, path)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return brokenf("write %s: %w", path, err)
		}
	}
	if len(taken) > 0 && !force {
		return failf("not overwritten: %s\nNothing was written. Remove what is in the way, or say --force", strings.Join(taken, ", "))
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return brokenf("write %s: %w", path, err)
		}
		if err := os.WriteFile(path, f.data, f.mode); err != nil {
			return brokenf("write %s: %w", path, err)
		}
		if f.mode == programMode { // also where the file was there without the bit
			if err := os.Chmod(path, f.mode); err != nil {
				return brokenf("write %s: %w", path, err)
			}
		}
	}
	return nil
}

// tell says which files were written.
func tell(std streams, dir string, files []newFile) {
	for _, f := range files {
		fmt.Fprintln(std.out, "wrote", filepath.Join(dir, filepath.FromSlash(f.path)))
	}
}
