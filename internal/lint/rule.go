// Package lint is the linter's own terms: what a rule is, what a finding is, and which rules a
// repository wants. The rules themselves are in packages of their own, by what they read:
//
//	schemas    a schema
//	changes    a schema and the one before it
//	messages   messages, with their headers
//
// catalog lists all of them, with a bad and a good example each; config reads idem.yaml; report
// prints findings. None of these packages prints, exits or reads flags.
package lint

// Rule is what is known of a rule without running it. Rules are data: `idem rules`, `idem explain`,
// the page in spec/ and the plugin of buf read them from here, and from nowhere else.
type Rule struct {
	// ID is "IDEM_KEY_VERSION_MISSING". It never changes, and is never given to another rule.
	ID string
	// Kind is what the rule reads.
	Kind Kind
	// Category is one of Categories.
	Category string
	// Severity is the rule's own; idem.yaml may say another.
	Severity Severity
	// Purpose is one sentence: "Checks that a key has a version segment."
	Purpose string
	// Spec are the requirements that the rule follows from, "KEY-014"; often one.
	Spec []string
	// Needs are the facts of idem.yaml without which the rule is off, "dedup_retention".
	Needs []string
}

// Kind is what a rule reads.
type Kind int

// The kinds, and the commands that run them.
const (
	Schema  Kind = 1 + iota // idem lint
	Change                  // idem breaking
	Message                 // idem check
)

// String is the name of the command.
func (k Kind) String() string {
	return [...]string{Schema: "lint", Change: "breaking", Message: "check"}[k]
}

// Severity says whether a finding fails a run.
type Severity int

// The severities. Both fail a run: a warning is what may be right where the schema cannot show it.
const (
	Error Severity = 1 + iota
	Warning
)

// String is the name in idem.yaml and in reports.
func (s Severity) String() string { return [...]string{Error: "error", Warning: "warning"}[s] }

// The categories.
const (
	Template    = "TEMPLATE"    // what a key is made of
	Component   = "COMPONENT"   // fields that keys and fingerprints name
	Value       = "VALUE"       // decimals, money, times
	Retry       = "RETRY"       // delays, attempts, retention
	State       = "STATE"       // state machines and transitions
	Order       = "ORDER"       // biz_key and partitions
	Class       = "CLASS"       // error enums
	Name        = "NAME"        // headers and generated names
	Header      = "HEADER"      // headers of messages
	Suppression = "SUPPRESSION" // ignore comments and baselines
)

// Categories are all categories, in the order of the rules' page.
var Categories = []string{Template, Component, Value, Retry, State, Order, Class, Name, Header, Suppression}

// Self is the rule, also of what embeds it and adds a check.
func (r *Rule) Self() *Rule { return r }

// Flatten is the rules of all topics, in their order.
func Flatten[R interface{ Self() *Rule }](topics [][]R) []*Rule {
	var all []*Rule
	for _, topic := range topics {
		for _, r := range topic {
			all = append(all, r.Self())
		}
	}
	return all
}
