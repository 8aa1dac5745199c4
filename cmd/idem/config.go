package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configFile is what a repository says about itself, in its root.
const configFile = "idem.yaml"

// config is the content of idem.yaml.
type config struct {
	version string
	schema  string
}

// configuredSchema returns the schema that idem.yaml names: that of the current directory, or of the
// nearest one above it within the repository.
func configuredSchema() (string, error) {
	file, err := findConfig()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", brokenf("%w", err)
	}
	c, err := parseConfig(data)
	if err != nil {
		return "", brokenf("%s %w", file, err)
	}
	schema := filepath.FromSlash(c.schema)
	if filepath.IsAbs(schema) {
		return schema, nil
	}
	return filepath.Join(filepath.Dir(file), schema), nil
}

// findConfig returns the path of idem.yaml, relative to the current directory.
func findConfig() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", brokenf("%w", err)
	}
	for dir, up := here, ""; ; dir, up = filepath.Dir(dir), filepath.Join(up, "..") {
		_, err := os.Stat(filepath.Join(dir, configFile))
		if err == nil {
			return filepath.Join(up, configFile), nil
		}
		_, root := os.Stat(filepath.Join(dir, ".git"))
		switch {
		case !errors.Is(err, fs.ErrNotExist):
			return "", brokenf("%w", err)
		case root == nil, dir == filepath.Dir(dir):
			return "", errors.New("no --schema, and no idem.yaml here or above that names one")
		}
	}
}

// parseConfig reads idem.yaml. Its errors continue a sentence that begins with the file.
func parseConfig(data []byte) (config, error) {
	var c config
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return c, fmt.Errorf("is no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return c, errors.New("is empty: it says version: v1, and schema")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return c, fmt.Errorf("has no keys in line %d: they are version and schema", root.Line)
	}
	keys := map[string]*string{"version": &c.version, "schema": &c.schema}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		to, known := keys[key.Value]
		switch {
		case !known:
			return c, fmt.Errorf("has a key %q in line %d: the keys are version and schema", key.Value, key.Line)
		case to == nil:
			return c, fmt.Errorf("has the key %q again in line %d", key.Value, key.Line)
		case value.Kind != yaml.ScalarNode:
			return c, fmt.Errorf("has more than one value for %s in line %d", key.Value, value.Line)
		}
		*to, keys[key.Value] = value.Value, nil
	}
	if c.version != "v1" {
		return c, fmt.Errorf("has the version %q, this program knows v1", c.version)
	}
	if c.schema == "" {
		return c, errors.New("names no schema: say --schema")
	}
	return c, nil
}
