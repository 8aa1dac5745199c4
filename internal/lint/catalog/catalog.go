// Package catalog lists all rules, with why each is there, a bad example and a good one.
package catalog

import (
	"embed"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/lint/messages"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/lint/suppress"
)

// Entry is a rule with its page.
type Entry struct {
	*lint.Rule
	// Why is markdown: what goes wrong without the rule, and when to leave it out.
	Why string
	// Bad raises this rule and no other; Good raises none. The files of both, and of each kind of rule, are
	// described in examples/README.md.
	Bad, Good []txtar.File
}

//go:embed examples/*.txtar
var examples embed.FS

// All are all rules, by kind and topic.
func All() []Entry {
	var all []Entry
	for _, r := range Rules() {
		all = append(all, read(r))
	}
	return all
}

// Rules are all rules without their pages, by kind and topic.
func Rules() []*lint.Rule {
	return slices.Concat(schemas.Rules(), changes.Rules(), messages.Rules(), suppress.Rules())
}

// Find returns the rule of that ID.
func Find(id string) (Entry, bool) {
	for _, r := range Rules() {
		if r.ID == id {
			return read(r), true
		}
	}
	return Entry{}, false
}

// read reads the page of a rule. A test asks that each rule has one.
func read(r *lint.Rule) Entry {
	e := Entry{Rule: r}
	data, err := examples.ReadFile("examples/" + r.ID + ".txtar")
	if err != nil {
		return e
	}
	archive := txtar.Parse(data)
	e.Why = strings.TrimSpace(string(archive.Comment))
	for _, f := range archive.Files {
		bad, isBad := strings.CutPrefix(f.Name, "bad/")
		good, isGood := strings.CutPrefix(f.Name, "good/")
		if !isGood {
			e.Bad = append(e.Bad, txtar.File{Name: bad, Data: f.Data})
		}
		if !isBad {
			e.Good = append(e.Good, txtar.File{Name: good, Data: f.Data})
		}
	}
	return e
}
