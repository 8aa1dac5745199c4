package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	optionsproto "github.com/idem-spec/idem/proto/idem/v1"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

func TestInitWritesWhatEachLanguageNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("// a shop\nmodule example.com/shop // here\n\ngo 1.25\n"), 0o600))
	stdout, _, code := invoke(t, "init", "--lang", "go,java", "--lang", "python", "--proto", "api/proto", dir)
	require.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "Next:")
	assert.Equal(t, string(optionsproto.Options), read(t, dir, "api/proto", optionsproto.Path))
	gen := read(t, dir, "buf.gen.yaml")
	assert.Contains(t, gen, "value: example.com/shop/gen/go\n")
	assert.Contains(t, gen, "opt: lang=java\n")
	assert.Contains(t, gen, "opt: lang=python\n")
	assert.Contains(t, read(t, dir, "buf.yaml"), "- path: api/proto\n")
	assert.Contains(t, read(t, dir, "idem.yaml"), "schema: api/proto\n")

	alone := t.TempDir()
	_, _, code = invoke(t, "init", "--lang", "python", alone)
	require.Equal(t, exitOK, code)
	gen = read(t, alone, "buf.gen.yaml")
	assert.NotContains(t, gen, "gen/go")
	assert.NotContains(t, gen, "managed")
	assert.NotContains(t, gen, "java")
}

func TestInitDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := filepath.Join(dir, "buf.yaml")
	require.NoError(t, os.WriteFile(mine, []byte("version: v2\n"), 0o600))
	_, stderr, code := invoke(t, "init", "--lang", "java", dir)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, mine)
	assert.NoFileExists(t, filepath.Join(dir, "idem.yaml"), "all or nothing")

	_, _, code = invoke(t, "init", "--lang", "java", "--force", dir)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, read(t, mine), "modules:")

	_, _, code = invoke(t, "init", "--lang", "java", dir)
	assert.Equal(t, exitOK, code, "a second time changes nothing")
}
