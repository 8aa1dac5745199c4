package suppress

import (
	"io"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
)

// Filter drops the findings that are settled.
type Filter struct {
	*Selection
	// Names are the names by which idem.yaml may name a file, without the one it has in a finding. It may
	// be nil.
	Names func(file string) []string
	// Baseline may be nil.
	Baseline *Baseline
	// Whole says that the run reads all that the baseline is about.
	Whole bool
	// Record says that WriteBaseline will be called.
	Record bool

	files    map[string]protoreflect.FileDescriptor
	comments map[string][]*comment
	kept     map[Entry]int
}

// NewFilter returns a filter of findings in these files. Comments of other files are not read.
func NewFilter(s *Selection, files []protoreflect.FileDescriptor) *Filter {
	f := &Filter{
		Selection: s,
		files:     make(map[string]protoreflect.FileDescriptor),
		comments:  make(map[string][]*comment),
		kept:      make(map[Entry]int),
	}
	for _, file := range files {
		f.files[file.Path()] = file
		f.comments[file.Path()] = commentsOf(file)
	}
	return f
}

// Keep says whether a finding stands, and gives it its severity.
func (f *Filter) Keep(finding *lint.Finding) bool {
	if !f.stands(finding) || f.commented(finding) {
		return false
	}
	e := f.entry(finding)
	if f.Baseline.take(e) {
		return false
	}
	if f.Record {
		f.kept[e]++
	}
	return true
}

// stands says whether idem.yaml lets a finding stand.
func (f *Filter) stands(finding *lint.Finding) bool {
	names := []string{finding.Position.File}
	if f.Names != nil {
		names = append(names, f.Names(finding.Position.File)...)
	}
	finding.Severity = f.severity(finding.Rule)
	return f.Wanted(finding.Rule) && !f.ignored(finding.Rule, names)
}

// commented says whether a comment ignores a finding. All that do are used.
func (f *Filter) commented(finding *lint.Finding) bool {
	ignored := false
	for _, c := range f.comments[finding.Position.File] {
		if c.covers(finding) {
			c.used, ignored = true, true
		}
	}
	return ignored
}

func (f *Filter) entry(finding *lint.Finding) Entry {
	return entry(finding, Declaration(f.files[finding.Position.File], finding.Position.Path))
}

// Rest are the findings about what settles nothing, once Keep has seen all others.
func (f *Filter) Rest() []lint.Finding {
	var rest []lint.Finding
	for _, comments := range f.comments {
		for _, c := range comments {
			rest = append(rest, c.judge(f.Selection)...)
		}
	}
	rest = append(rest, f.Baseline.stale(f.judged)...)
	var stand []lint.Finding
	for i := range rest {
		if f.stands(&rest[i]) {
			stand = append(stand, rest[i])
		}
	}
	return lint.Sort(stand)
}

// judged says whether the run would have found the finding of an entry.
func (f *Filter) judged(e Entry) bool {
	if _, read := f.files[e.File]; !read && !f.Whole {
		return false
	}
	i := slices.IndexFunc(f.rules, func(r *lint.Rule) bool { return r.ID == e.Rule })
	return i < 0 || f.Wanted(f.rules[i])
}

// WriteBaseline writes the findings that Keep has let stand, so that the next run drops them.
func (f *Filter) WriteBaseline(w io.Writer) error { return writeBaseline(w, f.kept) }
