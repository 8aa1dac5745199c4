package schemas

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// refusals are the rules whose findings generation refuses with the same words: one for each requirement
// of chapter 3 that schema.Build checks.
var refusals = []*rule{
	{Rule: lint.Rule{
		ID: "IDEM_TEMPLATE_SYNTAX", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a template matches the grammar and names a field.",
		Spec:    []string{"OPT-010"},
	}},
}

// refused reports the problems that schema.Build found, each as the rule of its requirement.
func (p *pass) refused(problems []schema.Problem, wanted func(*lint.Rule) bool) {
	by := make(map[string]*lint.Rule)
	for _, r := range refusals {
		for _, requirement := range r.Spec {
			by[requirement] = &r.Rule
		}
	}
	for _, problem := range problems {
		if r := by[problem.Rule]; r != nil && wanted(r) {
			p.findings = append(p.findings, lint.Of(r, problem))
		}
	}
}
