package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idem-spec/idem/internal/lint"
)

// section reads lint, breaking or check.
func (p *parser) section(n *yaml.Node, kind lint.Kind, s *Section) {
	p.mapping(n, entries{
		"use":         func(n *yaml.Node) { s.Use = p.selectors(n, kind) },
		"except":      func(n *yaml.Node) { s.Except = p.selectors(n, kind) },
		"ignore":      func(n *yaml.Node) { s.Ignore = p.ignored(n) },
		"ignore_only": func(n *yaml.Node) { s.IgnoreOnly = p.ignoreOnly(n, kind) },
		"severity":    func(n *yaml.Node) { s.Severity = p.severities(n, kind) },
		"baseline":    func(n *yaml.Node) { s.Baseline = p.path(n) },
	})
}

// selectors reads IDs and categories.
func (p *parser) selectors(n *yaml.Node, kind lint.Kind) []string {
	var all []string
	for _, item := range p.list(n) {
		p.selector(item, kind)
		all = append(all, item.Value)
	}
	return all
}

// selector refuses what is no ID and no category of the kind.
func (p *parser) selector(n *yaml.Node, kind lint.Kind) {
	known := append(slices.Clone(lint.Categories), All, Default)
	for _, r := range p.rules {
		if r.Kind == kind || r.Category == lint.Suppression {
			known = append(known, r.ID)
		} else if r.ID == n.Value {
			p.at(n, "%s is a rule of idem %s: write it below %s", r.ID, r.Kind, r.Kind)
			return
		}
	}
	if slices.Contains(known, n.Value) {
		return
	}
	if near := lint.DidYouMean(n.Value, known); near != "" {
		p.at(n, "there is no rule and no category %q%s", n.Value, near)
		return
	}
	p.at(n, "there is no rule and no category %q: `idem rules --kind %s` lists them", n.Value, kind)
}

func (p *parser) ignoreOnly(n *yaml.Node, kind lint.Kind) map[string][]string {
	all := make(map[string][]string)
	p.each(n, "write a rule, and below it the paths", func(key, value *yaml.Node) {
		p.selector(key, kind)
		all[key.Value] = p.ignored(value)
	})
	return all
}

// severities are the words that idem.yaml has for a severity.
var severities = map[string]lint.Severity{lint.Error.String(): lint.Error, lint.Warning.String(): lint.Warning, "off": 0}

func (p *parser) severities(n *yaml.Node, kind lint.Kind) map[string]lint.Severity {
	all := make(map[string]lint.Severity)
	p.each(n, "write a rule and its severity, as in IDEM_KEY_VERSION_MISSING: warning", func(key, value *yaml.Node) {
		p.selector(key, kind)
		severity, known := severities[value.Value]
		if !known && !isFalse(value) {
			p.at(value, "%q is no severity: write error, warning or off", value.Value)
		}
		all[key.Value] = severity
	})
	return all
}

// isFalse says whether a value is what YAML 1.1 makes of off.
func isFalse(n *yaml.Node) bool { return n.Tag == "!!bool" && n.Value == "off" }

func (p *parser) paths(n *yaml.Node) []string {
	var all []string
	for _, item := range p.list(n) {
		all = append(all, p.path(item))
	}
	return all
}

// ignored reads paths that are compared with those of files.
func (p *parser) ignored(n *yaml.Node) []string {
	for _, item := range p.list(n) {
		if strings.ContainsAny(item.Value, "*?") {
			p.at(item, "%q is a pattern, and here are paths: write a file, or a directory, which stands for all that is in it", item.Value)
		}
	}
	return p.paths(n)
}

// path reads a path relative to idem.yaml.
func (p *parser) path(n *yaml.Node) string {
	text := p.scalar(n)
	clean := path.Clean(strings.ReplaceAll(text, `\`, "/"))
	if text == "" || path.IsAbs(clean) {
		p.at(n, "%q is no path relative to idem.yaml: write one with slashes, as in proto/shop", text)
	}
	return clean
}

// facts reads what is declared of the repository, of all messages, and of event types.
func (p *parser) facts(n *yaml.Node, facts *Facts) {
	p.mapping(n, entries{
		"languages": func(n *yaml.Node) { facts.Languages = p.languages(n) },
		"default":   func(n *yaml.Node) { facts.Default = p.fact(n) },
		"events": func(n *yaml.Node) {
			facts.Events, p.eventPlaces = make(map[string]Fact), make(map[string]string)
			p.each(n, "write an event type, and below it the facts", func(key, value *yaml.Node) {
				facts.Events[key.Value] = p.fact(value)
				p.eventPlaces[key.Value] = fmt.Sprintf("%s:%d:%d", p.file, key.Line, key.Column)
			})
		},
	})
}

func (p *parser) languages(n *yaml.Node) []string {
	var all []string
	for _, item := range p.list(n) {
		if !slices.Contains(languages, item.Value) {
			p.at(item, "%q is no language that code is generated in: there are %s", item.Value, strings.Join(languages, ", "))
		}
		all = append(all, item.Value)
	}
	return all
}

func (p *parser) fact(n *yaml.Node) Fact {
	var fact Fact
	keys := make(entries)
	for _, k := range facts {
		keys[k.key] = func(value *yaml.Node) {
			if value.Kind != yaml.ScalarNode {
				p.scalar(value)
			} else if wrong := k.read(&fact, value); wrong != "" {
				p.at(value, "%q is no value of %s: %s", value.Value, k.key, wrong)
			}
		}
	}
	p.mapping(n, keys)
	return fact
}

func sortedKeys(known entries) []string {
	return slices.Sorted(maps.Keys(known))
}
