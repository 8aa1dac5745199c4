package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// workspace is the directories that imports start from, as buf.yaml or buf.work.yaml lists them.
type workspace struct {
	// dir is where the file is; "" without one.
	dir     string
	modules []module
}

// module is one of these directories. A module without includes has all files, but those of excludes.
type module struct {
	root               string
	includes, excludes []string
}

// has says whether a file below the root is of the module.
func (m *module) has(file string) bool {
	below := func(dir string) bool { return contains(dir, file) }
	return (len(m.includes) == 0 || slices.ContainsFunc(m.includes, below)) && !slices.ContainsFunc(m.excludes, below)
}

func (w *workspace) roots() []string {
	var roots []string
	for _, m := range w.modules {
		if !slices.Contains(roots, m.root) {
			roots = append(roots, m.root)
		}
	}
	return roots
}

// bufConfig is what buf.yaml (v2, v1, v1beta1) and buf.work.yaml say of modules.
type bufConfig struct {
	Modules []struct {
		Path     string   `yaml:"path"`
		Includes []string `yaml:"includes"`
		Excludes []string `yaml:"excludes"`
	} `yaml:"modules"`
	Build struct {
		Roots    []string `yaml:"roots"`
		Excludes []string `yaml:"excludes"`
	} `yaml:"build"`
	Directories []string `yaml:"directories"`
}

// readWorkspace reads what buf says of a directory. Without a file of buf's it is a module itself.
func readWorkspace(dir string) (*workspace, error) {
	work, err := readBufConfig(dir, "buf.work.yaml")
	if err != nil {
		return nil, err
	}
	if work != nil && len(work.Directories) > 0 {
		w := &workspace{dir: dir}
		for _, below := range join(dir, work.Directories) {
			c, err := readBufConfig(below, "buf.yaml")
			if err != nil {
				return nil, err
			}
			w.modules = append(w.modules, c.modules(below)...)
		}
		return w, nil
	}
	c, err := readBufConfig(dir, "buf.yaml")
	if err != nil {
		return nil, err
	}
	w := &workspace{modules: c.modules(dir)}
	if c != nil {
		w.dir = dir
	}
	return w, nil
}

// readBufConfig is nil where the file is not there.
func readBufConfig(dir, name string) (*bufConfig, error) {
	file := filepath.Join(dir, name)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	c := new(bufConfig)
	if err := yaml.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("read %s: %s", file, goType.ReplaceAllString(err.Error(), ""))
	}
	for _, outside := range c.paths() {
		if local := filepath.FromSlash(path.Clean(outside)); outside != "" && !filepath.IsLocal(local) {
			return nil, fmt.Errorf("read %s: %s is outside of its directory, where buf reads nothing", file, outside)
		}
	}
	return c, nil
}

// goType is how the library ends what it says of a value that is of another kind.
var goType = regexp.MustCompile(` into .*`)

// paths are all that the file names.
func (c *bufConfig) paths() []string {
	all := slices.Concat(c.Directories, c.Build.Roots, c.Build.Excludes)
	for _, m := range c.Modules {
		all = append(append(append(all, m.Path), m.Includes...), m.Excludes...)
	}
	return all
}

// modules are those of a directory with that file, or without one.
func (c *bufConfig) modules(dir string) []module {
	if c == nil {
		return []module{{root: dir}}
	}
	var all []module
	for _, m := range c.Modules {
		all = append(all, module{root: join(dir, []string{m.Path})[0], includes: join(dir, m.Includes), excludes: join(dir, m.Excludes)})
	}
	for _, root := range c.Build.Roots {
		all = append(all, module{root: join(dir, []string{root})[0], excludes: join(dir, c.Build.Excludes)})
	}
	if len(all) == 0 {
		all = []module{{root: dir, excludes: join(dir, c.Build.Excludes)}}
	}
	return all
}

// workspaceAbove is the nearest workspace above a directory, within the repository, that has a module with
// it; nil where there is none.
func workspaceAbove(dir string) *workspace {
	here, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	for up := ".."; ; up = filepath.Join(up, "..") {
		if _, err := os.Stat(filepath.Join(here, ".git")); err == nil || here == filepath.Dir(here) {
			return nil
		}
		here = filepath.Dir(here)
		w, err := readWorkspace(filepath.Join(dir, up))
		if err == nil && w.dir != "" && slices.ContainsFunc(w.modules, func(m module) bool { return contains(m.root, dir) }) {
			return w
		}
	}
}

func join(dir string, paths []string) []string {
	var all []string
	for _, path := range paths {
		all = append(all, filepath.Join(dir, filepath.FromSlash(path)))
	}
	return all
}

// contains says whether a directory is another, or is above it.
func contains(dir, below string) bool {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	if below, err = filepath.Abs(below); err != nil {
		return false
	}
	relative, err := filepath.Rel(absolute, below)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

// files are the names of the .proto files below a directory, as imports name them, in order. Directories
// with a dot in front are left out.
func (w *workspace) files(dir string) ([]string, error) {
	var names []string
	in := make(map[string]string) // the module that a name is first in
	for _, m := range w.modules {
		start := m.root
		switch {
		case contains(dir, m.root):
		case contains(m.root, dir):
			start = dir
		default:
			continue
		}
		start += string(filepath.Separator) // so that a link is followed here, and nowhere below
		err := filepath.WalkDir(start, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && file != start && strings.HasPrefix(entry.Name(), "."):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(file, ".proto"):
				return nil
			case len(m.includes)+len(m.excludes) > 0 && !m.has(file):
				return nil
			case !entry.Type().IsRegular():
				if readable, err := isFile(file); !readable {
					return err
				}
			}
			relative, err := relativeTo(m.root, file)
			if err != nil {
				return err
			}
			name := filepath.ToSlash(relative)
			if other, taken := in[name]; taken && other != m.root {
				return fmt.Errorf("%s and %s both have %s, and an import of it could mean either: leave or rename one", other, m.root, name)
			}
			in[name] = m.root
			names = append(names, name)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// isFile says whether a name leads to a file. That it leads to a directory is no error; a pipe or a device,
// which may never end, is one.
func isFile(name string) (bool, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return false, err
	case info.IsDir():
		return false, nil
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is no file", name)
	}
	return true, nil
}

// relativeTo is filepath.Rel of two paths of which one may be absolute.
func relativeTo(root, file string) (string, error) {
	if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
		return relative, nil
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	return filepath.Rel(root, file)
}
