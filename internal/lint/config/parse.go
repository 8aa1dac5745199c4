package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/idem-spec/idem/internal/lint"
)

// Parse reads the content of idem.yaml, whose name its errors give. rules are all that there are. The
// error is all problems, one a line.
func Parse(file string, data []byte, rules []*lint.Rule) (*Config, error) {
	p := &parser{file: file, rules: rules}
	c := new(Config)
	var doc yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(data))
	if err := documents.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		p.problem(yamlLine(err), 1, "this is no YAML: "+yamlText.ReplaceAllString(err.Error(), ""))
		return nil, p.err()
	}
	if len(doc.Content) == 0 {
		p.problem(1, 1, "the file is empty: write version: v1, and schema")
		return nil, p.err()
	}
	var more yaml.Node
	if err := documents.Decode(&more); !errors.Is(err, io.EOF) {
		p.problem(max(1, more.Line), 1, "there is a second document here, which nothing reads: write all in one, without ---")
		return nil, p.err()
	}
	version := ""
	p.mapping(doc.Content[0], entries{
		"version":  func(n *yaml.Node) { version = p.scalar(n) },
		"schema":   func(n *yaml.Node) { c.Schema = p.scalar(n) },
		"lint":     func(n *yaml.Node) { p.section(n, lint.Schema, &c.Lint) },
		"breaking": func(n *yaml.Node) { p.section(n, lint.Change, &c.Breaking) },
		"check":    func(n *yaml.Node) { p.section(n, lint.Message, &c.Check) },
		"facts":    func(n *yaml.Node) { p.facts(n, &c.Facts) },
	})
	if version != "v1" && len(p.problems) == 0 {
		p.problem(1, 1, fmt.Sprintf("the version is %q, and this program knows v1: write version: v1", version))
	}
	c.EventPlaces = p.eventPlaces
	return c, p.err()
}

// yamlText is what the library puts before its words.
var yamlText = regexp.MustCompile(`^yaml: (line \d+: )?`)

// yamlLine is the line that an error of the library names.
func yamlLine(err error) int {
	line := 1
	_, _ = fmt.Sscanf(err.Error(), "yaml: line %d:", &line)
	return line
}

// parser is one run of Parse.
type parser struct {
	eventPlaces map[string]string
	file        string
	rules       []*lint.Rule
	problems    []error
}

// problem is one at a line and a column, or where there is no line, as of options.
func (p *parser) problem(line, column int, text string) {
	if line == 0 {
		p.problems = append(p.problems, fmt.Errorf("%s: %s", p.file, text))
		return
	}
	p.problems = append(p.problems, fmt.Errorf("%s:%d:%d: %s", p.file, line, column, text))
}

func (p *parser) at(n *yaml.Node, format string, args ...any) {
	p.problem(n.Line, n.Column, fmt.Sprintf(format, args...))
}

func (p *parser) err() error { return errors.Join(p.problems...) }

// entries are the keys of a mapping, and what reads the value of each.
type entries map[string]func(value *yaml.Node)

// mapping reads a mapping that has no other keys.
func (p *parser) mapping(n *yaml.Node, known entries) {
	keys := sortedKeys(known)
	p.each(n, "the keys are "+strings.Join(keys, ", "), func(key, value *yaml.Node) {
		if read := known[key.Value]; read != nil {
			read(value)
			return
		}
		p.at(key, "there is no key %q here%s", key.Value, orList(key.Value, keys))
	})
}

// each visits the entries of a mapping, and refuses a key that is there twice.
func (p *parser) each(n *yaml.Node, want string, visit func(key, value *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return // all that was in it is commented out
	}
	if n.Kind != yaml.MappingNode {
		p.at(n, "there are no keys here: %s", want)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if seen[key.Value] {
			p.at(key, "the key %q is here twice: leave one", key.Value)
			continue
		}
		seen[key.Value] = true
		visit(key, value)
	}
}

// scalar reads one value.
func (p *parser) scalar(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		p.at(n, "there is more than one value here: write one")
		return ""
	}
	return n.Value
}

// list reads values, or one.
func (p *parser) list(n *yaml.Node) []*yaml.Node {
	switch {
	case n.Kind == yaml.SequenceNode:
		var all []*yaml.Node
		for _, item := range n.Content {
			if item.Kind == yaml.AliasNode {
				item = item.Alias
			}
			p.scalar(item)
			all = append(all, item)
		}
		return all
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil
	}
	p.at(n, "this is no list: write each value in a line of its own, behind a dash")
	return nil
}

// orList says which word was meant, or which there are.
func orList(word string, known []string) string {
	if near := lint.DidYouMean(word, known); near != "" {
		return near
	}
	return ": there are " + strings.Join(known, ", ")
}
