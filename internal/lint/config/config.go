// Package config reads idem.yaml: what a repository says about itself.
package config

import "github.com/idem-spec/idem/internal/lint"

// File is the name of the file, in the root of a repository.
const File = "idem.yaml"

// Config is the content of idem.yaml. Its zero value is that of a repository without one.
type Config struct {
	// Schema is the directory of the .proto files, or an image; "" where the file does not say.
	Schema string
	// Lint, Breaking and Check are about the rules of each command.
	Lint, Breaking, Check Section
	Facts                 Facts
	// EventPlaces are where the file has the facts of each event type: "idem.yaml:7:5".
	EventPlaces map[string]string
}

// Section says which rules of a command a repository wants, and where.
type Section struct {
	// Use and Except are IDs, categories, ALL or DEFAULT. Without Use it is DEFAULT.
	Use, Except []string
	// Ignore are paths without findings, and IgnoreOnly those without findings of a rule or a category. A
	// path is a file or a directory.
	Ignore     []string
	IgnoreOnly map[string][]string
	// Severity is the severity of a rule or of a category; 0 where it is off.
	Severity map[string]lint.Severity
	// Baseline is the file of old findings, "" where there is none.
	Baseline string
}

// Of is the section of a command.
func (c *Config) Of(kind lint.Kind) *Section {
	return map[lint.Kind]*Section{lint.Schema: &c.Lint, lint.Change: &c.Breaking, lint.Message: &c.Check}[kind]
}

// All and Default stand for all rules, and for those that a repository has which says nothing. All
// rules are default ones so far.
const (
	All     = "ALL"
	Default = "DEFAULT"
)
