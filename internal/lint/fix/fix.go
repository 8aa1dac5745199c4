// Package fix applies the edits of findings to files.
package fix

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/idem-spec/idem/internal/lint"
)

// File is a file with edits.
type File struct {
	// Path is where it is on disk.
	Path string
	// Fixed are the findings that the edits mend.
	Fixed []lint.Finding

	old   []byte
	edits []lint.Edit
}

// Plan collects the edits of findings. A finding whose edits overlap those of another is left, as is
// one in a file that is not on disk: where returns false for it.
func Plan(findings []lint.Finding, where func(file string) (string, bool)) ([]*File, error) {
	files := make(map[string]*File)
	for _, f := range findings {
		file, err := fileOf(f, files, where)
		if err != nil {
			return nil, err
		}
		if file != nil && file.fits(f.Edits) {
			file.add(f)
		}
	}
	var all []*File
	for _, file := range files {
		if len(file.edits) > 0 {
			all = append(all, file)
		}
	}
	slices.SortFunc(all, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// fileOf is the one file that a finding's edits are of, or nil.
func fileOf(f lint.Finding, files map[string]*File, where func(file string) (string, bool)) (*File, error) {
	if len(f.Edits) == 0 || slices.ContainsFunc(f.Edits, func(e lint.Edit) bool { return e.File != f.Edits[0].File }) {
		return nil, nil
	}
	path, ok := where(f.Edits[0].File)
	if !ok {
		return nil, nil
	}
	if files[path] == nil {
		old, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files[path] = &File{Path: path, old: old}
	}
	return files[path], nil
}

// fits says whether edits are within the file and apart from each other and from those it has. The same
// edit of two findings is one.
func (f *File) fits(edits []lint.Edit) bool {
	for i, e := range edits {
		if e.Start < 0 || e.End < e.Start || e.End > len(f.old) {
			return false
		}
		for _, other := range slices.Concat(f.edits, edits[:i]) {
			if e != other && overlap(e, other) {
				return false
			}
		}
	}
	return true
}

// overlap says whether the order of two edits would matter: two at one place do, since either text may go
// first.
func overlap(a, b lint.Edit) bool {
	return a.Start == b.Start || a.Start < b.End && b.Start < a.End
}

func (f *File) add(finding lint.Finding) {
	f.Fixed = append(f.Fixed, finding)
	for _, e := range finding.Edits {
		if !slices.Contains(f.edits, e) {
			f.edits = append(f.edits, e)
		}
	}
}

// New is the text with the edits.
func (f *File) New() []byte {
	edits := slices.SortedFunc(slices.Values(f.edits), func(a, b lint.Edit) int { return cmp.Compare(a.Start, b.Start) })
	var text []byte
	from := 0
	for _, e := range edits {
		text = append(append(text, f.old[from:e.Start]...), e.Text...)
		from = e.End
	}
	return append(text, f.old[from:]...)
}

// Diff is what changes, as a unified diff.
func (f *File) Diff() string {
	path := strings.TrimPrefix(filepath.ToSlash(f.Path), "/")
	return udiff.Unified("a/"+path, "b/"+path, string(f.old), string(f.New()))
}

// Write replaces the file, and keeps its mode. A link stays one.
func (f *File) Write() error {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !slices.Equal(now, f.old) {
		return fmt.Errorf("%s has changed since it was read", f.Path)
	}
	// That a directory can be written is enough to replace what is in it, and says nothing of the file.
	if info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%s is read-only", f.Path)
	}
	return Replace(path, f.New(), info.Mode().Perm())
}

// Replace writes a file as a whole or not at all. A link stays one, and what is no file is left alone.
func Replace(path string, data []byte, mode os.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file that can be replaced", path)
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), ".idem-*")
	if err != nil {
		return err
	}
	_, err = fresh.Write(data)
	err = errors.Join(err, fresh.Chmod(mode), fresh.Close())
	if err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return nil
}
