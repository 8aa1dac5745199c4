package python

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLiterals asks Python what it makes of literals and docstrings. (PLUG-005)
func TestLiterals(t *testing.T) {
	t.Parallel()
	texts := []string{"", `"`, `'`, `\`, `\n`, "\n", "\r", "\x00", "\x7f", "{x}", "%s", "\u00e9", "\u2028", "\U0001f600", "\u202e", `"""`, `\"""`, `a"`, `a\`, "\ufffd", `\N{BULLET}`}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		for range random.IntN(12) {
			switch random.IntN(3) {
			case 0:
				b.WriteRune(rune(random.IntN(0x80)))
			case 1:
				b.WriteString([]string{`"`, `\`, `"""`, "\r\n", "u", "x"}[random.IntN(6)])
			default:
				if r := rune(random.IntN(0x110000)); r < 0xd800 || r > 0xdfff {
					b.WriteRune(r)
				}
			}
		}
		texts = append(texts, b.String())
	}
	var literals, docs []string
	for _, text := range texts {
		literals = append(literals, literal(text))
		docs = append(docs, `"""x`+"\n"+docLine(strings.ReplaceAll(text, "\n", " "))+"\n\"\"\"")
	}
	dir := t.TempDir()
	all, err := json.Marshal([][]string{texts, literals, docs})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "all.json"), all, 0o600))
	log, err := runTool(t, dir, nil, "python", "-W", "error", "-c", `
import ast, json
for text, literal, doc in zip(*json.load(open("all.json", encoding="utf-8"))):
    assert ast.literal_eval(literal) == text, (text, literal)
    assert literal.isascii() and literal.isprintable()
    assert ast.literal_eval(doc) == "x\n" + text.replace("\n", " ") + "\n", (text, doc)
`)
	require.NoError(t, err, "%s", log)
}

func TestDocLines(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string][]string{
		"":                                nil,
		" \n \n":                          nil,
		" one \n":                         {"one"},
		"\n one\n\n   two\t\n\n":          {"one", "", "  two"},
		" ill-formed \xff\r\n next\x00\n": {"ill-formed \ufffd", `next\x00`},
	} {
		assert.Equal(t, want, docLines(comment), "%q", comment)
	}
	assert.Equal(t, "a b c", oneLine("a\nb\u202ec"))
}

// TestKeywords asks Python for its keywords.
func TestKeywords(t *testing.T) {
	t.Parallel()
	log, err := runTool(t, ".", nil, "python", "-c", "import keyword; print(*keyword.kwlist)")
	require.NoError(t, err, "%s", log)
	assert.Equal(t, wordSet(log), keywords)
}
