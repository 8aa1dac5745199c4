package suppress

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// Marker begins a line of a comment that ignores a rule: "idem:ignore IDEM_X the reason".
const Marker = "idem:ignore"

// comment ignores a rule for a declaration and what is in it.
type comment struct {
	at     schema.Position
	rule   string
	reason string
	used   bool
	// apart says that it stands beside no declaration, so that it is about none.
	apart bool
}

// covers says whether the comment is about what a finding is about.
func (c *comment) covers(f *lint.Finding) bool {
	return !c.apart && c.rule == f.Rule.ID && len(c.at.Path) <= len(f.Position.Path) && slices.Equal(c.at.Path, f.Position.Path[:len(c.at.Path)])
}

// The numbers of the file's own statements: a comment above one of them is about the whole file.
const (
	filePackage = 2
	fileSyntax  = 12
	fileEdition = 14
)

// commentsOf reads the comments of a file. Those of files without source information are not known.
func commentsOf(file protoreflect.FileDescriptor) []*comment {
	var all []*comment
	locations := file.SourceLocations()
	for i := range locations.Len() {
		location := locations.Get(i)
		for _, text := range texts(location) {
			if strings.Contains(text, Marker) {
				all = append(all, commentsIn(text, position(file, location))...)
			}
		}
		for _, text := range apart(location) {
			for _, c := range commentsIn(text, position(file, location)) {
				c.apart = true
				all = append(all, c)
			}
		}
	}
	return all
}

// texts are the comments of a declaration. One below the package counts as behind it for a compiler, and
// not for a person.
func texts(location protoreflect.SourceLocation) []string {
	if ofFile(location.Path) {
		return []string{location.LeadingComments}
	}
	return []string{location.LeadingComments, location.TrailingComments}
}

// apart are the comments near a declaration that are about none.
func apart(location protoreflect.SourceLocation) []string {
	if ofFile(location.Path) {
		return append(slices.Clone(location.LeadingDetachedComments), location.TrailingComments)
	}
	return location.LeadingDetachedComments
}

func ofFile(path protoreflect.SourcePath) bool {
	return len(path) == 1 && slices.Contains([]int32{filePackage, fileSyntax, fileEdition}, path[0])
}

func position(file protoreflect.FileDescriptor, location protoreflect.SourceLocation) schema.Position {
	at := schema.Position{
		File: file.Path(), Path: slices.Clone(location.Path),
		Line: location.StartLine + 1, Column: location.StartColumn + 1,
		EndLine: location.EndLine + 1, EndColumn: location.EndColumn + 1,
	}
	if ofFile(at.Path) {
		at.Path = nil
	}
	return at
}

// commentsIn reads the lines of a comment.
func commentsIn(text string, at schema.Position) []*comment {
	var all []*comment
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(strings.TrimLeft(line, " \t*/"), Marker)
		if !found || rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n:") {
			continue
		}
		c := &comment{at: at}
		if fields := strings.Fields(rest); len(fields) > 0 {
			c.rule, c.reason = fields[0], strings.Join(fields[1:], " ")
		}
		all = append(all, c)
	}
	return all
}

// judge raises what is wrong with the comment, once all findings are known.
func (c *comment) judge(s *Selection) []lint.Finding {
	known := slices.IndexFunc(s.rules, func(r *lint.Rule) bool { return r.ID == c.rule })
	if known < 0 {
		if s.kind != lint.Schema {
			return nil // idem lint says so
		}
		return []lint.Finding{c.unknown(s)}
	}
	rule := s.rules[known]
	var found []lint.Finding
	if c.reason == "" && (s.kind == lint.Schema || rule.Kind == s.kind) {
		found = append(found, c.finding(reasonMissing, fmt.Sprintf("%s is ignored without a reason", c.rule),
			"write why behind it: "+Marker+" "+c.rule+" because …"))
	}
	switch {
	case !s.Wanted(rule):
	case c.apart:
		found = append(found, c.finding(ignoreStale, fmt.Sprintf("the comment ignores %s, and is above no declaration", c.rule),
			"put it right above the declaration that it is about, without an empty line between"))
	case !c.used:
		found = append(found, c.finding(ignoreStale, fmt.Sprintf("the comment ignores %s, and there is no such finding", c.rule),
			"remove the line, or the next such finding goes unseen"))
	}
	return found
}

func (c *comment) unknown(s *Selection) lint.Finding {
	if c.rule == "" {
		return c.finding(ignoreStale, "the comment ignores no rule", "write the rule and the reason: "+Marker+" IDEM_… because …")
	}
	var ids []string
	for _, r := range s.rules {
		ids = append(ids, r.ID)
	}
	mend := "`idem rules` lists the rules"
	if near := lint.Near(c.rule, ids); near != "" {
		mend = "write " + near + ", or remove the line"
	}
	return c.finding(ignoreStale, fmt.Sprintf("the comment ignores %q, which is no rule", c.rule), mend)
}

func (c *comment) finding(r *lint.Rule, what, mend string) lint.Finding {
	return lint.Finding{Rule: r, Severity: r.Severity, Position: c.at, What: what, Mend: mend}
}
