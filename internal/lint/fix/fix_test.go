package fix_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/fix"
)

func edit(start, end int, text string) lint.Edit {
	return lint.Edit{File: "a.proto", Start: start, End: end, Text: text}
}

// TestEditsOfFindings proves LINT-020.
func TestEditsOfFindings(t *testing.T) {
	t.Parallel()
	const text = "0123456789"
	for name, c := range map[string]struct {
		findings [][]lint.Edit
		want     string
		fixed    int
	}{
		"apart, in any order":        {[][]lint.Edit{{edit(8, 9, "H")}, {edit(1, 3, "ab"), edit(5, 5, "-")}}, "0ab34-567H9", 2},
		"one behind the other":       {[][]lint.Edit{{edit(1, 3, "ab")}, {edit(3, 5, "cd")}}, "0abcd56789", 2},
		"the same of two":            {[][]lint.Edit{{edit(1, 3, "ab")}, {edit(1, 3, "ab")}}, "0ab3456789", 2},
		"overlapping: the first":     {[][]lint.Edit{{edit(1, 4, "ab")}, {edit(3, 5, "cd")}}, "0ab456789", 1},
		"two at one place":           {[][]lint.Edit{{edit(2, 2, "a")}, {edit(2, 2, "b")}}, "01a23456789", 1},
		"overlapping itself":         {[][]lint.Edit{{edit(1, 4, "ab"), edit(3, 5, "cd")}, {edit(9, 10, "J")}}, "012345678J", 1},
		"whole or not at all":        {[][]lint.Edit{{edit(1, 2, "a")}, {edit(1, 3, "b"), edit(9, 10, "J")}}, "0a23456789", 1},
		"behind the end of the file": {[][]lint.Edit{{edit(9, 11, "x")}, {edit(10, 10, "y")}}, "0123456789y", 1},
		"all of it":                  {[][]lint.Edit{{edit(0, 10, "")}}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.proto")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
			var findings []lint.Finding
			for _, edits := range c.findings {
				findings = append(findings, lint.Finding{Edits: edits})
			}
			files, err := fix.Plan(findings, func(string) (string, bool) { return path, true })
			require.NoError(t, err)
			require.Len(t, files, 1)
			assert.Len(t, files[0].Fixed, c.fixed)
			assert.Equal(t, text, read(t, path), "nothing is written yet")

			require.NoError(t, files[0].Write())
			assert.Equal(t, c.want, read(t, path))
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o640), info.Mode())
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			assert.Len(t, entries, 1, "nothing is left beside it")
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestWhatIsNotEdited(t *testing.T) {
	t.Parallel()
	files, err := fix.Plan([]lint.Finding{
		{},
		{Edits: []lint.Edit{edit(0, 0, "x")}},
		{Edits: []lint.Edit{edit(0, 0, "x"), {File: "b.proto"}}},
	}, func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	assert.Empty(t, files)
}

func TestFileThatSomebodyWritesMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.proto"), filepath.Join(dir, "link.proto")
	require.NoError(t, os.WriteFile(path, []byte("one\ntwo\n"), 0o600))
	require.NoError(t, os.Symlink("a.proto", link))
	files, err := fix.Plan([]lint.Finding{{Edits: []lint.Edit{edit(4, 7, "2")}}}, func(string) (string, bool) { return link, true })
	require.NoError(t, err)
	assert.Contains(t, files[0].Diff(), "@@ -1,2 +1,2 @@\n one\n-two\n+2\n")

	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	require.ErrorContains(t, files[0].Write(), "has changed since it was read")
	assert.Equal(t, "mine", read(t, path))
	require.NoError(t, os.WriteFile(path, []byte("one\ntwo\n"), 0o600))
	require.NoError(t, files[0].Write())
	assert.Equal(t, "one\n2\n", read(t, path))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "a link stays one")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2)
}

func TestReadOnlyFileIsLeft(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.proto")
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o444))
	files, err := fix.Plan([]lint.Finding{{Edits: []lint.Edit{edit(0, 3, "1")}}}, func(string) (string, bool) { return path, true })
	require.NoError(t, err)
	require.ErrorContains(t, files[0].Write(), "is read-only")
	assert.Equal(t, "one", read(t, path))
}

func TestReplaceWritesWhereALinkLeads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.json"), filepath.Join(dir, "link.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Symlink("a.json", link))
	require.NoError(t, fix.Replace(link, []byte("new"), 0o600))
	assert.Equal(t, "new", read(t, path))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "a link stays one")

	require.ErrorContains(t, fix.Replace(dir, nil, 0o600), "is no file that can be replaced")
}
