package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idem-spec/idem/internal/lint"
)

// Config is the user's own file of contexts.
type Config struct {
	File     string              `yaml:"-"`
	Contexts map[string]*Context `yaml:"contexts"`
	// absent says that there is no such file.
	absent bool
}

// Context is a place with a name: brokers, and the stores of the services there.
type Context struct {
	Brokers []string `yaml:"brokers"`
	// Stores are databases by the name that the user gives them.
	Stores map[string]string `yaml:"stores"`
	// Redis is the URL of the server that the services have, in front of their stores or alone.
	Redis string `yaml:"redis"`
	// Write allows commands that change something.
	Write bool `yaml:"write"`
}

// ConfigFile is where the user's contexts are: IDEM_CONFIG, or else in the user's config directory.
func ConfigFile() (string, error) {
	if file := os.Getenv("IDEM_CONFIG"); file != "" {
		return file, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("look for the config: %w", err)
	}
	return filepath.Join(dir, "idem", "config.yaml"), nil
}

// Load reads the contexts. Where there is no file, there are none.
func Load() (*Config, error) {
	file, err := ConfigFile()
	if err != nil {
		return nil, err
	}
	config := &Config{File: file}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		config.absent = true
		return config, nil
	}
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(config); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s: it has contexts, each with brokers, stores, redis and write", file, withoutValues(err))
	}
	for name, c := range config.Contexts {
		if c == nil {
			return nil, fmt.Errorf("%s: the context %q is empty: it has brokers, stores, redis and write", file, name)
		}
	}
	return config, config.private()
}

// private refuses a file with a password that others may read.
func (c *Config) private() error {
	at := c.password()
	if at == "" || runtime.GOOS == "windows" { // where other rights count, which Stat does not say
		return nil
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s has a password, in %s, and its mode is %04o: others may read it: chmod 600 it, or leave the password to ~/.pgpass", c.File, at, mode)
	}
	return nil
}

// password says where there is one, or "".
func (c *Config) password() string {
	for _, name := range c.Names() {
		context := c.Contexts[name]
		for _, store := range slices.Sorted(maps.Keys(context.Stores)) {
			if len(secrets(context.Stores[store])) > 0 {
				return "the store " + store + " of the context " + name
			}
		}
		if len(secrets(context.Redis)) > 0 {
			return "the redis of the context " + name
		}
	}
	return ""
}

// withoutValues is what YAML says without the values that it quotes, each of which may be a password.
func withoutValues(err error) string {
	parts := strings.Split(err.Error(), "`")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "…"
	}
	return strings.Join(strings.Fields(strings.Join(parts, "")), " ")
}

// Names are those of the contexts, in order.
func (c *Config) Names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

func (c *Config) context(name string) (*Context, error) {
	if found := c.Contexts[name]; found != nil {
		return found, nil
	}
	example := fmt.Sprintf("contexts: {%s: {stores: {payments: \"postgres://user@host/name\"}}}", name)
	if c.absent {
		return nil, fmt.Errorf("no context %q: there is no %s: write it, with %s", name, c.File, example)
	}
	if len(c.Contexts) == 0 {
		return nil, fmt.Errorf("no context %q: %s has none: write %s", name, c.File, example)
	}
	return nil, fmt.Errorf("no context %q: %s has %s%s", name, c.File, strings.Join(c.Names(), ", "), lint.DidYouMean(name, c.Names()))
}
