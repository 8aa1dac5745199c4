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
	was  there
}

// there is what is in a file's place before it is written.
type there int

const (
	nothing there = iota
	theSame
	another
)

// in returns the file's path in dir.
func (f *newFile) in(dir string) string { return filepath.Join(dir, filepath.FromSlash(f.path)) }

// look sorts the files and finds out what is in their places.
func look(dir string, files []newFile) error {
	sort.Slice(files, func(i, j int) bool { return files[i].path < files[j].path })
	for i := range files {
		f := &files[i]
		switch data, err := os.ReadFile(f.in(dir)); {
		case err == nil && string(data) == string(f.data):
			f.was = theSame
		case err == nil:
			f.was = another
		case !errors.Is(err, fs.ErrNotExist):
			return brokenf("write %s: %w", f.in(dir), err)
		}
	}
	return nil
}

// write writes the file, unless it is there already.
func (f *newFile) write(dir string) error {
	path := f.in(dir)
	if f.was != theSame {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return brokenf("write %s: %w", path, err)
		}
		if err := os.WriteFile(path, f.data, f.mode); err != nil {
			return brokenf("write %s: %w", path, err)
		}
	}
	if f.mode == programMode { // also where the file was there without the bit
		if err := os.Chmod(path, f.mode); err != nil {
			return brokenf("write %s: %w", path, err)
		}
	}
	return nil
}

// writeFiles writes files below dir. Where one of them is there already with another content it
// writes nothing and says which, unless force is given.
func writeFiles(dir string, files []newFile, force bool) error {
	if err := look(dir, files); err != nil {
		return err
	}
	var taken []string
	for _, f := range files {
		if f.was == another {
			taken = append(taken, f.in(dir))
		}
	}
	if len(taken) > 0 && !force {
		return failf("not overwritten: %s\nNothing was written. Remove what is in the way, or say --force", strings.Join(taken, ", "))
	}
	for _, f := range files {
		if err := f.write(dir); err != nil {
			return err
		}
	}
	return nil
}

// tell says which files were written, and which had nothing to be written.
func tell(std streams, dir string, files []newFile) {
	for _, f := range files {
		verb := "wrote"
		if f.was == theSame {
			verb = "unchanged"
		}
		fmt.Fprintln(std.out, verb, f.in(dir))
	}
}
