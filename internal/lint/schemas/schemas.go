// Package schemas is the rules of `idem lint`. A file is about one topic: its rules, as data, and
// below each the function that checks it.
package schemas

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/schema"
)

// Input is what a run reads.
type Input struct {
	// Files are the files to lint and what they import, and Paths the ones to lint.
	Files []protoreflect.FileDescriptor
	Paths []string
	// Source returns the text of one of Paths, or nil; rules call it at the same time. Without it no finding
	// has edits.
	Source func(path string) []byte
	// Facts are what the schema cannot know.
	Facts config.Facts
}

// rule is a rule and its check. A rule without a check has its findings from schema.Build (refusals.go).
type rule struct {
	lint.Rule
	check func(*pass)
}

// topics are the rules of each file of this package.
var topics = [][]*rule{
	refusals, templates, identities, previousKeys, fingerprints, unstables, presences, contents,
	values, times, retries, states, orders, classes, generatedNames,
}

// Rules are all rules, by topic.
func Rules() []*lint.Rule { return lint.Flatten(topics) }

// pass is one rule's run.
type pass struct {
	// set is what schema.Build made of the files. It lacks the messages and enums that are refused.
	set    *schema.Set
	files  []protoreflect.FileDescriptor
	facts  config.Facts
	source func(path string) []byte
	// incomplete says that there were problems, so that something may be refused that others need.
	incomplete bool

	rule     *lint.Rule
	findings []lint.Finding
}

// Run runs the rules for which wanted says so. The findings are sorted.
func Run(in Input, wanted func(*lint.Rule) bool) []lint.Finding {
	set, problems := schema.Build(in.Files, in.Paths)
	all := pass{set: set, files: in.Files, facts: in.Facts, source: in.Source, incomplete: len(problems) > 0}
	all.refused(problems, wanted)
	var passes []*pass
	var checks []func(*pass)
	for _, topic := range topics {
		for _, r := range topic {
			if r.check != nil && wanted(&r.Rule) {
				p := all
				p.rule, p.findings = &r.Rule, nil
				passes, checks = append(passes, &p), append(checks, r.check)
			}
		}
	}
	// Rules read the schema and nothing of each other.
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range passes {
		group.Go(func() error {
			checks[i](p)
			return nil
		})
	}
	_ = group.Wait()
	findings := all.findings
	for _, p := range passes {
		findings = append(findings, p.findings...)
	}
	return lint.Sort(findings)
}

// report is a finding of the rule that runs.
func (p *pass) report(at schema.Place, what, mend string) *lint.Finding {
	p.findings = append(p.findings, lint.At(p.rule, at, what, mend))
	return &p.findings[len(p.findings)-1]
}

// reportf is report with a formatted what.
func (p *pass) reportf(at schema.Place, mend, format string, args ...any) *lint.Finding {
	return p.report(at, fmt.Sprintf(format, args...), mend)
}

// edit has --fix change what is written at a place: the smallest thing around it that has a position. An
// option in braces is written as a whole. Nothing is changed where change returns false.
func (p *pass) edit(f *lint.Finding, at schema.Place, change func(old string) (string, bool)) {
	if p.source == nil {
		return
	}
	position := at.Position()
	if edit, ok := lint.EditAt(p.source(position.File), position, change); ok {
		f.Edits = append(f.Edits, edit)
	}
}

// replaced is a change that replaces a text which is there once.
func replaced(before, after string) func(old string) (string, bool) {
	return func(old string) (string, bool) {
		return strings.Replace(old, before, after, 1), strings.Count(old, before) == 1
	}
}

// messages are the annotated messages, in the order of files and of declaration.
func (p *pass) messages(yield func(*schema.Message) bool) {
	for _, f := range p.set.Files {
		if slices.ContainsFunc(f.Messages, func(m *schema.Message) bool { return !yield(m) }) {
			return
		}
	}
}
