package schemas

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// refusals are the rules whose findings generation refuses with the same words: one for each requirement
// of chapter 3 that schema.Build checks, or for two that are about one thing.
var refusals = []*rule{
	{Rule: lint.Rule{
		ID: "IDEM_OPTION_UNREADABLE", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that an option of idem can be read and has nothing that this version does not know.",
		Spec:    []string{"OPT-002"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_TEMPLATE_SYNTAX", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a template matches the grammar and names a field.",
		Spec:    []string{"OPT-010"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_EVENT_TYPE_INVALID", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that a key is there and begins with an event type that no other message has.",
		Spec:    []string{"OPT-011"},
	}, check: eventTypeImported},
	{Rule: lint.Rule{
		ID: "IDEM_KEY_PREVIOUS_SAME", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that the key before the last change is another one than the key.",
		Spec:    []string{"OPT-032"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_COMPONENT_WITHOUT_TEXT", Kind: lint.Schema, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that a placeholder names a field whose value has one text in all languages.",
		Spec:    []string{"OPT-012", "OPT-013"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_COMPONENT_MISSING_UNSTATED", Kind: lint.Schema, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that a number, a boolean or an enum without presence says whether its zero is a value.",
		Spec:    []string{"OPT-022"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_COMPONENT_REDACTED", Kind: lint.Schema, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that a component which is marked debug_redact has a digest.",
		Spec:    []string{"OPT-023"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_OCCURRED_AT_WITHOUT_TIME", Kind: lint.Schema, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that occurred_at is one placeholder whose value is a timestamp.",
		Spec:    []string{"OPT-014"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_FIELD_OPTION_INVALID", Kind: lint.Schema, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that (idem.v1.field) fits the type of its field and is within its bounds.",
		Spec:    []string{"OPT-020", "OPT-021"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_RETRY_OUT_OF_RANGE", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Error,
		Purpose: "Checks that the values of a retry policy are within their bounds and do not exclude each other.",
		Spec:    []string{"OPT-030"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_TRANSITION_UNDECLARED", Kind: lint.Schema, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that the transition of a message is one of its state machine.",
		Spec:    []string{"OPT-031"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_STATE_INVALID", Kind: lint.Schema, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that each state of a machine has a text of its own, and that its transitions name states.",
		Spec:    []string{"OPT-041"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_STATE_CYCLE", Kind: lint.Schema, Category: lint.State, Severity: lint.Error,
		Purpose: "Checks that the transitions of a state machine do not lead back.",
		Spec:    []string{"OPT-042"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_ERROR_OUTCOME_INVALID", Kind: lint.Schema, Category: lint.Class, Severity: lint.Error,
		Purpose: "Checks that an outcome is one, and that the aliases of an error have the same.",
		Spec:    []string{"OPT-043"},
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
