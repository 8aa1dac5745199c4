package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/config"
)

// repository is idem.yaml, and the directory that its paths start from.
type repository struct {
	*config.Config
	dir string
}

// readConfig reads idem.yaml: that of the current directory, or the nearest one above it within the
// repository. Where there is none, the error is errNoConfig.
func readConfig() (*repository, error) {
	file, err := findConfig()
	if err != nil {
		return nil, err
	}
	return readConfigFile(file)
}

func readConfigFile(file string) (*repository, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, brokenf("%w", err)
	}
	c, err := config.Parse(file, data, catalog.Rules())
	if err != nil {
		return nil, brokenf("%w", err)
	}
	return &repository{c, filepath.Dir(file)}, nil
}

// path is a path of idem.yaml, from the current directory.
func (r *repository) path(path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

// relative is a path relative to idem.yaml.
func (r *repository) relative(path string) string {
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		return path
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(dir, file)
	if err != nil {
		return path
	}
	if !filepath.IsLocal(relative) { // unless a link leads there
		if linked, err := relativeTo(dir, file); err == nil && filepath.IsLocal(linked) {
			relative = linked
		}
	}
	return filepath.ToSlash(relative)
}

// relativeTo is filepath.Rel of what links lead to.
func relativeTo(dir, file string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return "", err
	}
	return filepath.Rel(dir, file)
}

// errNoConfig is the absence of idem.yaml.
var errNoConfig = errors.New("no --schema, and no idem.yaml here or above that names one")

// configuredSchema returns the schema that idem.yaml names.
func configuredSchema() (string, error) {
	r, err := readConfig()
	if err != nil {
		return "", err
	}
	if r.Schema == "" {
		return "", brokenf("%s names no schema: say --schema", filepath.Join(r.dir, config.File))
	}
	return r.path(r.Schema), nil
}

// findConfig returns the path of idem.yaml, relative to the current directory.
func findConfig() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", brokenf("%w", err)
	}
	for dir, up := here, ""; ; dir, up = filepath.Dir(dir), filepath.Join(up, "..") {
		_, err := os.Stat(filepath.Join(dir, config.File))
		if err == nil {
			return filepath.Join(up, config.File), nil
		}
		_, root := os.Stat(filepath.Join(dir, ".git"))
		switch {
		case !errors.Is(err, fs.ErrNotExist):
			return "", brokenf("%w", err)
		case root == nil, dir == filepath.Dir(dir):
			return "", errNoConfig
		}
	}
}
