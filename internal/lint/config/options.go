package config

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// FactsOf reads facts that are no part of idem.yaml, as buf.yaml has them: languages, each fact of Default
// by its key, and events, a list of texts such as "payments.succeeded: {consumers: 3}". name is what
// errors begin with.
func FactsOf(name string, options map[string]any) (Facts, error) {
	p := &parser{file: name}
	all := mappingOf()
	defaults := mappingOf()
	for _, key := range slices.Sorted(maps.Keys(options)) {
		value := new(yaml.Node)
		if err := value.Encode(options[key]); err != nil {
			p.problem(0, 0, key+": "+err.Error())
			continue
		}
		switch key {
		case "languages":
			put(all, key, value)
		case "events":
			put(all, key, p.events(value))
		default:
			put(defaults, key, value)
		}
	}
	put(all, "default", defaults)
	var facts Facts
	p.facts(all, &facts)
	return facts, p.err()
}

// events makes one mapping of texts that have an entry each.
func (p *parser) events(list *yaml.Node) *yaml.Node {
	all := mappingOf()
	for _, item := range p.list(list) {
		var text yaml.Node
		if err := yaml.Unmarshal([]byte(item.Value), &text); err != nil || len(text.Content) == 0 || text.Content[0].Kind != yaml.MappingNode {
			p.at(item, "%q declares no fact: write an event type and its facts, as in \"payments.succeeded: {consumers: 3}\"", item.Value)
			continue
		}
		all.Content = append(all.Content, withoutPlace(text.Content[0]).Content...)
	}
	return all
}

// withoutPlace forgets where a text has a node: there is no such line in a file.
func withoutPlace(n *yaml.Node) *yaml.Node {
	n.Line, n.Column = 0, 0
	for _, inner := range n.Content {
		withoutPlace(inner)
	}
	return n
}

func mappingOf() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func put(mapping *yaml.Node, key string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
}
