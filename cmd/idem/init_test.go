package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/config"
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

	assert.Contains(t, read(t, dir, "idem.yaml"), "languages: [go, java, python]\n")

	alone := t.TempDir()
	_, _, code = invoke(t, "init", "--lang", "python", alone)
	require.Equal(t, exitOK, code)
	gen = read(t, alone, "buf.gen.yaml")
	assert.NotContains(t, gen, "gen/go")
	assert.NotContains(t, gen, "managed")
	assert.NotContains(t, gen, "java")
}

func TestInitWritesExamplesThatHold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, code := invoke(t, "init", "--lang", "java", dir)
	require.Equal(t, exitOK, code)
	text := read(t, dir, "idem.yaml")
	_, err := config.Parse("idem.yaml", []byte(text), catalog.Rules())
	require.NoError(t, err)
	all := regexp.MustCompile(`(?m)^#( *\S+:)`).ReplaceAllString(text, "$1")
	require.NotEqual(t, text, all)
	c, err := config.Parse("idem.yaml", []byte(all), catalog.Rules())
	require.NoError(t, err, all)
	assert.Empty(t, c.Facts.Missing(config.Keys()), "each fact is shown")
	assert.NotZero(t, c.Lint)
}

func TestInitShowsWhatToMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := filepath.Join(dir, "buf.yaml")
	require.NoError(t, os.WriteFile(mine, []byte("version: v2\n"), 0o600))
	stdout, stderr, code := invoke(t, "init", "--lang", "java", dir)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, mine)
	assert.Contains(t, stdout, "buf.yaml is in the way. Merge into it:\n\n    version: v2\n    modules:\n      - path: proto\n")
	assert.Contains(t, stdout, "wrote "+filepath.Join(dir, "idem.yaml"), "what is not in the way is written")
	assert.Equal(t, "version: v2\n", read(t, mine))
	assert.FileExists(t, filepath.Join(dir, "proto", optionsproto.Path))

	_, _, code = invoke(t, "init", "--lang", "java", "--force", dir)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, read(t, mine), "modules:")

	stdout, _, code = invoke(t, "init", "--lang", "java", dir)
	assert.Equal(t, exitOK, code, "a second time changes nothing")
	assert.Contains(t, stdout, "unchanged "+mine)
	assert.NotContains(t, stdout, "wrote")
}

func TestInitUpdatesTheOptionsAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stderr, code := invoke(t, "init", "--update", dir)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "--proto")

	_, _, code = invoke(t, "init", "--lang", "java", dir)
	require.Equal(t, exitOK, code)
	assert.Contains(t, read(t, dir, "buf.yaml"), "idem init --update")
	options := filepath.Join(dir, "proto", optionsproto.Path)
	for _, file := range []string{options, filepath.Join(dir, "buf.gen.yaml")} {
		require.NoError(t, os.WriteFile(file, []byte("# mine\n"), 0o600))
	}
	stdout, _, code := invoke(t, "init", "--lang", "java", dir)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "idem init --update --proto proto")

	stdout, _, code = invoke(t, "init", "--update", dir)
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "wrote "+options+"\n", stdout)
	assert.Equal(t, string(optionsproto.Options), read(t, options))
	assert.Equal(t, "# mine\n", read(t, dir, "buf.gen.yaml"))

	_, _, code = invoke(t, "init", "--update", "--lang", "go", dir)
	assert.Equal(t, exitUsage, code)
}

func TestInitWithoutVendoring(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stdout, _, code := invoke(t, "init", "--no-vendor", "--lang", "java", dir)
	require.Equal(t, exitOK, code)
	assert.NotContains(t, read(t, dir, "buf.gen.yaml"), "exclude_paths")
	assert.Contains(t, read(t, dir, "buf.yaml"), "third_party/idem/proto")
	assert.NoDirExists(t, filepath.Join(dir, "proto"))
	assert.Contains(t, stdout, "module in buf.yaml")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "buf.yaml"), []byte("mine\n"), 0o600))
	stdout, _, code = invoke(t, "init", "--no-vendor", "--lang", "java", dir)
	assert.Equal(t, exitOK, code)
	assert.NotContains(t, stdout, filepath.Join(dir, "buf.yaml"))
}

func TestInitOfProtosInTheRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, code := invoke(t, "init", "--lang", "java", "--proto", ".", dir)
	require.Equal(t, exitOK, code)
	assert.FileExists(t, filepath.Join(dir, optionsproto.Path))
	assert.Contains(t, read(t, dir, "buf.gen.yaml"), "exclude_paths:\n      - idem\n")
}

func TestGoModulePath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"module example.com/a\n": "example.com/a", "// m\nmodule \"a.b/c\" // d\r\n": "a.b/c", "module `a`": "a",
	} {
		got, err := goModulePath([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"": "0 module lines", "modul x\n": "0 module lines", "module a\nmodule b\n": "2 module lines",
		"module\n": `module ""`, "module a b\n": `module "a b"`, "module (\n": `module "("`,
	} {
		_, err := goModulePath([]byte(text))
		assert.ErrorContains(t, err, want)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("go 1.25\n"), 0o600))
	_, stderr, code := invoke(t, "init", "--lang", "go", dir)
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "go.mod has 0 module lines")
}
