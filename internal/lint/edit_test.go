package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

func TestOffsetCountsAsCompilersDo(t *testing.T) {
	t.Parallel()
	text := []byte("ab\n\tx\n  \ty\né→z\n")
	for _, c := range []struct {
		name         string
		line, column int
		want         int
	}{
		{"the first byte", 1, 1, 0},
		{"the end of a line", 1, 3, 2},
		{"behind a tab", 2, 9, 4},
		{"behind a tab that blanks shorten", 3, 9, 9},
		{"behind runes of more bytes", 4, 3, 16},
		{"the end of the text", 5, 1, 18},
	} {
		got, ok := lint.Offset(text, c.line, c.column)
		assert.True(t, ok, c.name)
		assert.Equal(t, c.want, got, c.name)
	}
	for name, at := range map[string][2]int{
		"within a tab": {2, 4}, "behind the end of a line": {1, 4}, "behind the last line": {6, 1}, "behind the text": {5, 2},
	} {
		_, ok := lint.Offset(text, at[0], at[1])
		assert.False(t, ok, name)
	}
}

func TestEditReplacesWhatDiffers(t *testing.T) {
	t.Parallel()
	text := []byte("message M {\n\toption (x) = {key: \"a:{b}\"};\n}\n")
	at := schema.Position{File: "m.proto", Line: 2, Column: 9, EndLine: 2, EndColumn: 37}
	edit, ok := lint.EditAt(text, at, func(old string) (string, bool) {
		require.Equal(t, `option (x) = {key: "a:{b}"};`, old)
		return strings.Replace(old, "a:", "a:v1:", 1), true
	})
	require.True(t, ok)
	assert.Equal(t, lint.Edit{File: "m.proto", Start: 35, End: 35, Text: "v1:"}, edit)

	_, ok = lint.EditAt(text, at, func(old string) (string, bool) { return old, true })
	assert.False(t, ok, "nothing differs")
	_, ok = lint.EditAt(text, at, func(string) (string, bool) { return "", false })
	assert.False(t, ok, "it cannot be mended")
	_, ok = lint.EditAt([]byte("another file"), at, func(string) (string, bool) { return "x", true })
	assert.False(t, ok, "the text is not the one that was compiled")
}
