package suppress

import (
	"slices"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/config"
)

// Selection is what idem.yaml says of the rules of one command.
type Selection struct {
	kind    lint.Kind
	section *config.Section
	facts   config.Facts
	rules   []*lint.Rule
}

// Select reads the section of a command. rules are all that there are.
func Select(kind lint.Kind, c *config.Config, rules []*lint.Rule) *Selection {
	return &Selection{kind: kind, section: c.Of(kind), facts: c.Facts, rules: rules}
}

// Rules are those that the command has, wanted or not.
func (s *Selection) Rules() []*lint.Rule {
	return slices.DeleteFunc(slices.Clone(s.rules), func(r *lint.Rule) bool { return !s.has(r) })
}

func (s *Selection) has(r *lint.Rule) bool { return r.Kind == s.kind || r.Category == lint.Suppression }

// Wanted says whether a rule runs.
func (s *Selection) Wanted(r *lint.Rule) bool {
	return s.selected(r) && len(s.facts.Missing(r.Needs)) == 0
}

// Off are the rules that are wanted and do not run, since idem.yaml does not say a fact.
func (s *Selection) Off() []*lint.Rule {
	return slices.DeleteFunc(slices.Clone(s.rules), func(r *lint.Rule) bool { return !s.selected(r) || s.Wanted(r) })
}

func (s *Selection) selected(r *lint.Rule) bool {
	switch {
	case !s.has(r), len(s.section.Use) > 0 && !names(s.section.Use, r), names(s.section.Except, r):
		return false
	}
	return s.severity(r) != 0
}

// severity is the severity of a rule: 0 where it is off. What is said of the rule goes before what is
// said of its category, and that before what is said of all.
func (s *Selection) severity(r *lint.Rule) lint.Severity {
	for _, name := range selectors(r) {
		if severity, said := s.section.Severity[name]; said {
			return severity
		}
	}
	return r.Severity
}

// ignored says whether a file has no findings of a rule. names are the names that a file has.
func (s *Selection) ignored(r *lint.Rule, file []string) bool {
	if within(file, s.section.Ignore) {
		return true
	}
	for _, name := range selectors(r) {
		if within(file, s.section.IgnoreOnly[name]) {
			return true
		}
	}
	return false
}

// within says whether one of the names of a file is one of the paths, or below one.
func within(names, paths []string) bool {
	for _, path := range paths {
		for _, name := range names {
			if path == "." || name == path || strings.HasPrefix(name, path+"/") {
				return true
			}
		}
	}
	return false
}

// names says whether a list of IDs and categories names a rule.
func names(list []string, r *lint.Rule) bool {
	return slices.ContainsFunc(selectors(r), func(name string) bool { return slices.Contains(list, name) })
}

// selectors are the words that name a rule, the nearest first.
func selectors(r *lint.Rule) []string {
	return []string{r.ID, r.Category, config.Default, config.All}
}
