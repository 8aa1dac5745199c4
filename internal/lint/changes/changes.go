// Package changes is the rules of `idem breaking`: what a change of the schema alters in what messages,
// stores and services agree on. A file is about one topic: its rules, as data, and below each the
// function that checks it.
//
// An output that a message had has to stay: its key, biz key, fingerprint, headers, delays, verdicts and
// classes, and the names of what is generated for it. What was refused and is not any more is no
// change, but where a rule says so.
//
// pair.go finds what belongs together, use.go the components that templates of both sides share, and
// example.go a message that the two schemas treat differently.
package changes

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/schema"
)

// Side is a schema: files, those that they import, and the paths of the ones that are compared.
type Side struct {
	Files []protoreflect.FileDescriptor
	Paths []string
}

// Input is what a run reads.
type Input struct {
	Before, After Side
	// Facts are what the schema cannot know.
	Facts config.Facts
	// Age is how long ago Before was released, as far as anybody knows: of a git ref the age of its
	// commit; 0 where nobody does.
	Age time.Duration
}

// rule is a rule and its check.
type rule struct {
	lint.Rule
	check func(*pass)
}

// topics are the rules of each file of this package.
var topics = [][]*rule{keys, fingerprints, components, orders, retries, states, classes, headers, apis}

// Rules are all rules, by topic.
func Rules() []*lint.Rule { return lint.Flatten(topics) }

// pass is one run, and the rule whose turn it is.
type pass struct {
	before, after *side
	facts         config.Facts
	age           time.Duration

	// messages and enums are what is annotated on both sides, in the order of Before.
	messages []*pair
	enums    []*enumPair
	pairOf   map[*schema.Message]*pair

	rule     *lint.Rule
	findings []lint.Finding
}

// Run runs the rules for which wanted says so. The findings are sorted. They are placed in After, and
// where it lacks the place, in Before.
func Run(in Input, wanted func(*lint.Rule) bool) []lint.Finding {
	p := &pass{before: newSide(in.Before), after: newSide(in.After), facts: in.Facts, age: in.Age}
	p.pairMessages()
	p.pairEnums()
	for _, topic := range topics {
		for _, r := range topic {
			if wanted(&r.Rule) {
				p.rule = &r.Rule
				r.check(p)
			}
		}
	}
	return lint.Sort(p.findings)
}

// change is an example of what a finding is about.
type change struct{ before, after string }

// report is a finding of the rule that runs.
func (p *pass) report(at schema.Place, example change, mend, format string, args ...any) {
	f := lint.At(p.rule, at, fmt.Sprintf(format, args...), mend)
	f.Before, f.After = example.before, example.after
	p.findings = append(p.findings, f)
}
