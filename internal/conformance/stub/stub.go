// Package stub writes the beginning of a new port: a program that speaks the protocol and answers
// unsupported, with the places to go on marked, a script for continuous integration, and a list of
// known failures that has every group.
package stub

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed files
var files embed.FS

// common is the folder of what every language gets.
const common = "common"

// Group is a group of vectors, for the list of known failures.
type Group struct {
	Name  string
	Count int
}

// Glob is the glob that matches the ids of the group.
func (g Group) Glob() string { return strings.ReplaceAll(g.Name, "_", "-") + "-*" }

// File is a file of the stub, its path relative and with slashes.
type File struct {
	Path       string
	Data       []byte
	Executable bool
}

// Languages returns the languages there are.
func Languages() []string {
	entries, err := files.ReadDir("files")
	if err != nil {
		panic(err) // embedded
	}
	var languages []string
	for _, e := range entries {
		if e.Name() != common {
			languages = append(languages, e.Name())
		}
	}
	return languages
}

// portName is what a package of any of the languages may be called.
var portName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Make returns the files of a stub. The name is what the port calls itself in its hello.
func Make(language, name string, groups []Group) ([]File, error) {
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("there is no stub for %q: there are %s", language, strings.Join(Languages(), ", "))
	}
	if !portName.MatchString(name) {
		return nil, fmt.Errorf("the name %q is not lower-case words joined by -", name)
	}
	values := struct {
		Name   string
		Groups []Group
	}{name, groups}
	var made []File
	for _, dir := range []string{common, language} {
		root := path.Join("files", dir)
		err := fs.WalkDir(files, root, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			t, err := template.ParseFS(files, file)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := t.Execute(&b, values); err != nil {
				return err
			}
			made = append(made, File{
				Path:       strings.TrimSuffix(strings.TrimPrefix(file, root+"/"), ".tmpl"),
				Data:       b.Bytes(),
				Executable: bytes.HasPrefix(b.Bytes(), []byte("#!")),
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}
