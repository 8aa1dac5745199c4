// Package suppress says which rules a repository wants, and which findings it has settled: by
// idem.yaml, by a comment in the schema, or by a baseline of old findings.
//
// Whatever settles nothing any more is a finding itself. These rules have no check of their own in
// schemas, changes or messages: they are about a whole run, and each command raises them.
package suppress

import "github.com/idem-spec/idem/internal/lint"

var (
	reasonMissing = &lint.Rule{
		ID: "IDEM_IGNORE_REASON_MISSING", Kind: lint.Schema, Category: lint.Suppression, Severity: lint.Error,
		Purpose: "Checks that a comment which ignores a rule says why.",
		Spec:    []string{"LINT-011"},
	}
	ignoreStale = &lint.Rule{
		ID: "IDEM_IGNORE_STALE", Kind: lint.Schema, Category: lint.Suppression, Severity: lint.Warning,
		Purpose: "Checks that a comment which ignores a rule has a finding to ignore.",
		Spec:    []string{"LINT-012"},
	}
	baselineStale = &lint.Rule{
		ID: "IDEM_BASELINE_STALE", Kind: lint.Schema, Category: lint.Suppression, Severity: lint.Warning,
		Purpose: "Checks that an entry of the baseline still has its finding.",
		Spec:    []string{"LINT-012"},
	}
)

// Rules are the rules about what is settled.
func Rules() []*lint.Rule { return []*lint.Rule{reasonMissing, ignoreStale, baselineStale} }
