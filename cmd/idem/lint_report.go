package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/report"
	"github.com/idem-spec/idem/internal/lint/suppress"
	"github.com/idem-spec/idem/internal/source"
)

// lintReport is the findings of a run on their way out.
type lintReport struct {
	*linting
	filter  *suppress.Filter
	writer  report.Writer
	summary report.Summary
	std     streams
}

// open begins the report of findings in these schemas. whole says that they are all that the repository
// has. Of messages there is no schema to have comments.
func (l *linting) open(std streams, whole bool, schemas ...*source.Files) (*lintReport, error) {
	var files []protoreflect.FileDescriptor
	for _, s := range schemas {
		files = append(files, s.Asked()...)
	}
	onDisk := func(file string) string {
		for _, s := range schemas {
			if path, ok := s.OnDisk(file); ok {
				return filepath.ToSlash(path)
			}
		}
		return file
	}
	filter := suppress.NewFilter(l.selection, files)
	filter.Names = func(file string) []string { return []string{l.repository.relative(onDisk(file))} }
	filter.Whole, filter.Record = whole, l.flags.writeBaseline
	var err error
	if filter.Baseline, err = l.readBaseline(); err != nil {
		return nil, err
	}
	writer, err := report.New(std.out, l.flags.format, report.Options{
		Kind: l.kind, Rules: l.selection.Rules(), Help: helpOfRule, Path: onDisk, Source: sourceOf(schemas),
		Version: build().Version, Color: colors(std.out),
	})
	if err != nil {
		return nil, err
	}
	return &lintReport{linting: l, filter: filter, writer: writer, summary: report.Summary{Off: l.selection.Off()}, std: std}, nil
}

// sourceOf finds the text of a file in schemas.
func sourceOf(schemas []*source.Files) func(file string) []byte {
	return func(file string) []byte {
		for _, s := range schemas {
			if text := s.Source(file); text != nil {
				return text
			}
		}
		return nil
	}
}

func helpOfRule(id string) string {
	e, _ := catalog.Find(id)
	return e.Why
}

// add reports a finding, unless it is settled. Where a baseline is written, that settles it.
func (r *lintReport) add(f lint.Finding) error {
	if !r.filter.Keep(&f) || r.flags.writeBaseline {
		return nil
	}
	return r.write(f)
}

func (r *lintReport) write(f lint.Finding) error {
	r.summary.Count(f)
	return r.writer.Write(f)
}

// keep are those of the findings that stand. Where a baseline is written, that settles them all.
func (r *lintReport) keep(findings []lint.Finding) []lint.Finding {
	var kept []lint.Finding
	for _, f := range findings {
		if r.filter.Keep(&f) && !r.flags.writeBaseline {
			kept = append(kept, f)
		}
	}
	return kept
}

// finish reports those of the findings that stand, in their order, with what settles none of them. where is
// what was read: "12 files".
func (r *lintReport) finish(findings []lint.Finding, where string) error {
	return r.finishKept(r.keep(findings), where)
}

func (r *lintReport) finishKept(kept []lint.Finding, where string) error {
	for _, f := range lint.Sort(append(kept, r.filter.Rest()...)) {
		if err := r.write(f); err != nil {
			return err
		}
	}
	return r.end(where)
}

// close reports what settles nothing, behind findings that were added one by one.
func (r *lintReport) close(where string) error {
	for _, f := range r.filter.Rest() {
		if err := r.write(f); err != nil {
			return err
		}
	}
	return r.end(where)
}

// end writes the summary.
func (r *lintReport) end(where string) error {
	if err := r.writer.Close(r.summary); err != nil {
		return err
	}
	if r.flags.writeBaseline {
		if err := r.saveBaseline(); err != nil {
			return err
		}
	}
	if len(r.summary.Off) > 0 && !r.mending {
		fmt.Fprintln(r.std.err, "idem: off, since idem.yaml does not declare what they need:", offRules(r.facts(), r.summary.Off), "(facts: in idem.yaml)")
	}
	fmt.Fprintf(r.std.err, "idem: %s in %s\n", counts(r.summary), where)
	if r.summary.Errors+r.summary.Warnings > 0 {
		return &exit{code: exitNo}
	}
	return nil
}

// offRules are rules with the facts that they lack.
func offRules(facts config.Facts, rules []*lint.Rule) string {
	var all []string
	for _, rule := range rules {
		all = append(all, rule.ID+" ("+strings.Join(facts.Missing(rule.Needs), ", ")+")")
	}
	return strings.Join(all, ", ")
}

// counts is "2 errors, 1 warning".
func counts(s report.Summary) string {
	if s.Errors+s.Warnings == 0 {
		return "no findings"
	}
	return counted(s.Errors, "error") + ", " + counted(s.Warnings, "warning")
}

// counted is "1 file" or "2 files".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
