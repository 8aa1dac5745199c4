package main

import (
	"slices"

	"buf.build/go/bufplugin/check"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/lint/suppress"
)

// prefix is before idem's names of categories: buf knows the rules and categories of all plugins by
// their names alone.
const prefix = "IDEM_"

// allRules is the category of all rules, so that a team names one word.
const allRules = "IDEM"

// ofBaselines is the one rule that is not here: buf has no baseline.
const ofBaselines = "IDEM_BASELINE_STALE"

// rules are the rules about schemas and about their changes.
func rules() []*lint.Rule {
	all := slices.Concat(schemas.Rules(), changes.Rules(), suppress.Rules())
	return slices.DeleteFunc(all, func(r *lint.Rule) bool { return r.ID == ofBaselines })
}

// spec is what buf is told of the rules.
func spec() *check.Spec {
	s := &check.Spec{Before: findAll}
	categories := map[string]bool{}
	for _, r := range rules() {
		categories[r.Category] = true
		s.Rules = append(s.Rules, &check.RuleSpec{
			ID:          r.ID,
			CategoryIDs: []string{allRules, prefix + r.Category},
			Default:     true,
			Purpose:     r.Purpose,
			Type:        types[r.Kind],
			Handler:     handler(r.ID),
		})
	}
	s.Categories = append(s.Categories, &check.CategorySpec{ID: allRules, Purpose: "Checks all that idem checks."})
	for _, category := range lint.Categories {
		if categories[category] {
			s.Categories = append(s.Categories, &check.CategorySpec{ID: prefix + category, Purpose: "Checks what idem has in its category " + category + "."})
		}
	}
	return s
}

var types = map[lint.Kind]check.RuleType{lint.Schema: check.RuleTypeLint, lint.Change: check.RuleTypeBreaking}
