package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"go.yaml.in/yaml/v3"
)

// configFile is what a repository says about itself, in its root.
const configFile = "idem.yaml"

// config is the content of idem.yaml.
type config struct {
	Version string `yaml:"version"`
	Schema  string `yaml:"schema"`
}

// configuredSchema returns the schema that idem.yaml names.
func configuredSchema() (string, error) {
	data, err := os.ReadFile(configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no --schema, and no idem.yaml here that names one")
	}
	if err != nil {
		return "", brokenf("%w", err)
	}
	var c config
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		return "", brokenf("read %s: %w", configFile, err)
	}
	if c.Version != "v1" {
		return "", brokenf("%s has the version %q, this program knows v1", configFile, c.Version)
	}
	if c.Schema == "" {
		return "", brokenf("%s names no schema: say --schema", configFile)
	}
	return c.Schema, nil
}
