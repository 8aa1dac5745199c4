package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/idem-spec/idem/internal/schema"
)

// Finding is what a rule found at one place.
type Finding struct {
	Rule *Rule
	// Severity is the rule's, or what idem.yaml says.
	Severity Severity
	// Position is where. Of a message it is the input's name and line, or "topic/partition@offset" with
	// line 0; Path is nil there.
	Position schema.Position
	// What is wrong, and Mend is how to mend it; neither ends in a full stop.
	What, Mend string
	// Before and After are an example of what a change alters: a key, a delay, a verdict. Empty where
	// there is none.
	Before, After string
	// Edits mend it without a thought, in the order of their offsets; often empty. (--fix)
	Edits []Edit
}

// Of makes a finding from a problem of the schema.
func Of(rule *Rule, p schema.Problem) Finding {
	return Finding{Rule: rule, Severity: rule.Severity, Position: p.Position, What: p.What, Mend: p.Mend}
}

// At makes a finding at a place of a schema.
func At(rule *Rule, place schema.Place, what, mend string) Finding {
	return Finding{Rule: rule, Severity: rule.Severity, Position: place.Position(), What: what, Mend: mend}
}

// Sort sorts findings by file, line, column and rule, and drops what is there twice.
func Sort(findings []Finding) []Finding {
	slices.SortFunc(findings, compare)
	return slices.CompactFunc(findings, func(a, b Finding) bool { return compare(a, b) == 0 })
}

func compare(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.Position.File, b.Position.File),
		cmp.Compare(a.Position.Line, b.Position.Line),
		cmp.Compare(a.Position.Column, b.Position.Column),
		strings.Compare(a.Rule.ID, b.Rule.ID),
		strings.Compare(a.What, b.What),
	)
}
