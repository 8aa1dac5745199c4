package catalog

import (
	"fmt"
	"path"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
	"golang.org/x/tools/txtar"

	"github.com/idem-spec/idem/internal/lint"
)

// Explain is the page of a rule for a terminal.
func (e Entry) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of idem %s, category %s\n%s\n%s\n", e.ID, e.Severity, e.Kind, e.Category, e.Purpose, e.follows(""))
	fmt.Fprintf(&b, "\n%s\n", e.Why)
	for _, f := range e.Bad {
		fmt.Fprintf(&b, "\nBad: %s\n\n%s", f.Name, indented(f.Data))
	}
	for _, f := range e.mended() {
		fmt.Fprintf(&b, "\nGood: %s\n\n%s", f.Name, indented(f.Data))
	}
	fmt.Fprintf(&b, "\nTo leave it for one declaration, write above it:\n\n    // idem:ignore %s because …\n", e.ID)
	return b.String()
}

// follows says which requirements a rule follows from, and which facts it needs. mark is put around both.
func (e Entry) follows(mark string) string {
	text := "Follows from " + mark + strings.Join(e.Spec, mark+", "+mark) + mark + "."
	if len(e.Needs) > 0 {
		text += " Off unless idem.yaml declares " + mark + strings.Join(e.Needs, mark+", "+mark) + mark + "."
	}
	return text
}

// mended are the files of the good example that differ from those of the bad one.
func (e Entry) mended() []txtar.File {
	return slices.DeleteFunc(slices.Clone(e.Good), func(good txtar.File) bool {
		return slices.ContainsFunc(e.Bad, func(bad txtar.File) bool { return bad.Name == good.Name && string(bad.Data) == string(good.Data) })
	})
}

func indented(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

const rulesHead = `# Rules of the linter

What ` + "`idem lint`" + `, ` + "`idem breaking`" + ` and ` + "`idem check`" + ` find ([chapter 17](17-linter.md)). Each bad example raises its rule
and no other, each good one, shown by how it differs, none: the tests run them.

` + "`go test ./internal/lint/catalog -update`" + ` writes this page from the rules themselves.
`

// Markdown is the page of all rules.
func Markdown() string {
	var b strings.Builder
	b.WriteString(rulesHead)
	all := All()
	for _, kind := range []lint.Kind{lint.Schema, lint.Change, lint.Message} {
		fmt.Fprintf(&b, "\n## idem %s\n\n| rule | severity | what |\n| --- | --- | --- |\n", kind)
		var of []Entry
		for _, category := range lint.Categories {
			for _, e := range all {
				if e.Kind == kind && e.Category == category {
					of = append(of, e)
					fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", e.ID, strings.ToLower(e.ID), e.Severity, e.Purpose)
				}
			}
		}
		for _, e := range of {
			e.markdown(&b)
		}
	}
	return b.String()
}

func (e Entry) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s Category `%s`, %s. %s\n\n%s\n", e.ID, e.Purpose, e.Category, e.Severity, e.follows("`"), e.Why)
	for _, f := range e.Bad {
		show(b, "Bad", f, earlier(f, e.Bad))
	}
	for _, f := range e.mended() {
		base := earlier(f, e.Good)
		if base == nil {
			base = named(f.Name, e.Bad)
		}
		show(b, "Good", f, base)
	}
}

// earlier is the file of an example about a change before that change, or nil.
func earlier(f txtar.File, of []txtar.File) *txtar.File {
	if name, ok := strings.CutPrefix(f.Name, "after/"); ok {
		return named("before/"+name, of)
	}
	return nil
}

func named(name string, files []txtar.File) *txtar.File {
	if i := slices.IndexFunc(files, func(f txtar.File) bool { return f.Name == name }); i >= 0 {
		return &files[i]
	}
	return nil
}

// show shows a file: how it differs from another one, if there is one.
func show(b *strings.Builder, verdict string, f txtar.File, base *txtar.File) {
	language, text := languages[path.Ext(f.Name)], string(f.Data)
	if base != nil {
		language, text = "diff", difference(string(base.Data), text)
	}
	fmt.Fprintf(b, "\n%s, `%s`:\n\n```%s\n%s```\n", verdict, f.Name, language, text)
}

// languages are the names that fences have for the ends of files' names.
var languages = map[string]string{".proto": "proto", ".yaml": "yaml", ".json": "json", ".ndjson": "json"}

// difference is the lines that differ, with one around them.
func difference(bad, good string) string {
	edits := udiff.Lines(bad, good)
	diff, err := udiff.ToUnified("", "", bad, edits, 1)
	if err != nil {
		return good
	}
	var b strings.Builder
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@"):
			b.WriteString("@@\n")
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}
