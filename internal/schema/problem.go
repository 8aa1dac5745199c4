package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is a refusal.
type Problem struct {
	Position
	// Rule is the requirement of the spec, "OPT-013".
	Rule string
	// What is wrong, and Mend is how to mend it.
	What, Mend string
}

// String is "file:line:column: what: how to mend it". (OPT-050)
func (p Problem) String() string {
	s := p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ": " + p.What
	if p.Mend != "" {
		s += ": " + p.Mend
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Sorted sorts problems by file, line and column, and drops what is there twice.
func Sorted(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.What, b.What),
			cmp.Compare(a.Mend, b.Mend),
		)
	})
	return slices.CompactFunc(problems, func(a, b Problem) bool { return a.Rule == b.Rule && a.String() == b.String() })
}

// Report prints problems, one a line.
func Report(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxShown is the most bytes of a schema's own text that a problem repeats.
const maxShown = 128

// quote quotes a text of the schema, cut where it is long.
func quote(s string) string {
	if len(s) > maxShown {
		cut := maxShown
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		return strconv.Quote(s[:cut]) + "…"
	}
	return strconv.Quote(s)
}

// short cuts a name of the schema where it is long.
func short[S ~string](name S) string {
	if len(name) > maxShown {
		return string(name[:maxShown]) + "…"
	}
	return string(name)
}

// list joins names as "a, b, c", and says how many more there are.
func list(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
