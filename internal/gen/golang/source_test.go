package golang

import (
	"go/format"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/compiler/protogen"
)

const head = "package p\n"

func formatted(t *testing.T, lines ...string) string {
	t.Helper()
	s := source{name: func(name protogen.GoIdent) string { return name.GoName }}
	for _, line := range lines {
		s.P(line)
	}
	got, err := s.below(head)
	require.NoError(t, err)
	return got
}

func byGofmt(t *testing.T, lines ...string) string {
	t.Helper()
	want, err := format.Source([]byte(head + "\n" + strings.Join(lines, "\n") + "\n"))
	require.NoError(t, err)
	return string(want)
}

// What generated code is made of.
func TestLayoutIsThatOfGofmt(t *testing.T) {
	t.Parallel()
	lines := []string{
		"// F is a function:", "//", "//\ta.b:v1:{c}", "//", "// Of a comment.",
		"func (x *M) F(dst []byte) ([]byte, error) {",
		"start := len(dst)", "var buf [64]byte",
		`if x.GetA() == "" {`, `return dst[:start], errors.New("a {")`, "}",
		"if _, ok := x.GetB().(*M_C); !ok {", "dst = append(dst, '~')", "} else {",
		`dst = append(dst, "{"...)`, "}",
		"if len(dst)-start > idem.MaxKeyLen {", "dst = dst[:start+idem.MaxKeyLen+1]", "}",
		"return dst, nil", "}", "",
		"// G is another.", "func (M) G() idem.Policy {", "return idem.Policy{",
		"Max: 1,", "BackoffSchedule: []int32{1, 2},", `At: "a: b",`, "}", "}", "",
		"func (M) H(current string) int {", "switch current {",
		`case "", "A":`, "return 1", "case M_X: // {", "return 2", "}", "return 0", "}", "",
		"var m = sync.OnceValue(func() *int {", "if false {", "panic(1) // never", "}", "return nil", "})", "", "",
		"func f() []idem.Edge {", "return []idem.Edge{", `{From: "", To: "A: b"},`, `{From: "A", To: "C"},`, "}", "}", "",
	}
	require.Equal(t, byGofmt(t, lines...), formatted(t, lines...))
}

// gofmt reads a doc comment as text with headings, lists, links and code; and what it does to a comment
// of a .proto has to come out here too.
func TestCommentsAreThoseOfGofmt(t *testing.T) {
	t.Parallel()
	pool := []string{
		"//", "//", "// A line of text.", "// and more of it", "// Title", "// Title Of Words", "// x", "// - item", "//  - item",
		"// 1. item", "//   2) item", "// # Heading", "//# Heading", "//\tcode", "//\tcode {x}", "//   indented", "//no blank",
		"// [link]: http://a.b/c", "// [Name] and [a.B]", "// ``quoted'' text", "// it's", "// über", "// a\u00a0", "// a\u2028b", "//  two", "// a\tb",
		"// trailing ", "//go:build x", "// +build x", "// go:build", "//go:noinline", "//export F", "//line x:1", "// Deprecated: no.", "// a // b", "// */ /*",
		"// Über", "// \ufffd", "// http://a.b/c", "// a:", "//:", "// {", "// case x:", "// A: b,",
	}
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		var lines []string
		for range 1 + r.Intn(7) {
			lines = append(lines, pool[r.Intn(len(pool))])
		}
		lines = append(lines, "func F() {", "}", "", "// G is next.", "func G() {", "}", "")
		require.Equal(t, byGofmt(t, lines...), formatted(t, lines...), "%q", lines)
	}
}

// A comment beside a case is inside of a function, where gofmt leaves all but its end.
func TestTrailingCommentsAreThoseOfGofmt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a {", "// b", "- item", "über", "a\tb", "``c''", "+build x", "go:build x", "\"d:", "e,"} {
		lines := []string{"func F(x int) int {", "switch x {", "case 1: // " + text, "return 1", "}", "return 0", "}", ""}
		require.Equal(t, byGofmt(t, lines...), formatted(t, lines...), text)
	}
}

func TestWhatIsNoGoIsAnError(t *testing.T) {
	t.Parallel()
	s := source{}
	s.P("// \ufeff")
	s.P("func F() {")
	s.P("}")
	_, err := s.below(head)
	require.Error(t, err)
}
