package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUsageIsExitCode2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"did you mean conformance?", []string{"conformanc"}},
		{"did you mean run?", []string{"conformance", "rum"}},
		{"unknown flag: --frobnicate", []string{"conformance", "run", "--frobnicate"}},
		{`unknown command "fautls" for "idem"; did you mean faults?`, []string{"fautls", "--schema", "x"}},
		{`unknown command "sho" for "idem dlq"; did you mean show?`, []string{"dlq", "sho", "-x"}},
		{"unknown flag: --scpe; did you mean --scope?", []string{"dlq", "ls", "--scpe", "x"}},
		{"unknown flag: --dry_run; did you mean --dry-run?", []string{"retry", "now", "--dry_run"}},
		{`--limit "many": it is a whole number`, []string{"dlq", "ls", "--limit", "many"}},
		{`--interval "2": it is a time such as 30s`, []string{"dlq", "ls", "--interval", "2"}},
		{"the port's command goes after --", []string{"conformance", "run"}},
		{"the port's command goes after --", []string{"conformance", "run", "./port"}},
		{"the port's command goes after --", []string{"conformance", "run", "--"}},
		{"the port's command goes after --", []string{"conformance", "run", "x", "--", "./port"}},
		{"it is text, json or junit", []string{"conformance", "run", "--report", "xml", "--", "true"}},
		{"more than 0", []string{"conformance", "run", "--timeout", "0s", "--", "true"}},
		{`no group "nothing"`, []string{"conformance", "run", "--group", "nothing", "--", "true"}},
		{"the glob", []string{"conformance", "run", "--case", "[a", "--", "true"}},
		{"no directory", []string{"conformance", "run", "--vectors", "/nonexistent", "--", "true"}},
		{"--known-failures", []string{"conformance", "run", "--known-failures", "/nonexistent", "--", "true"}},
		{"--output", []string{"conformance", "run", "--output", "/nonexistent/report", "--", "true"}},
		{`"x" is one argument too many`, []string{"conformance", "list", "x"}},
		{"DIR is missing", []string{"conformance", "export"}},
		{"KEY is missing", []string{"backoff"}},
		{"not a whole number of seconds", []string{"backoff", "k", "--base", "1500ms"}},
		{"out of range", []string{"backoff", "k", "--max", "2000000h"}},
		{"the bounds are 1 to 86400", []string{"backoff", "k", "--base", "25h"}},
		{"--schedule and --base exclude each other", []string{"backoff", "k", "--schedule", "1s", "--base", "1s"}},
		{"--schedule and --max exclude each other", []string{"backoff", "k", "--schedule", "1s,2s", "--max", "1m"}},
		{`"2" is no duration like 1m30s`, []string{"backoff", "k", "--schedule", "1s,2"}},
		{"--retry-after is negative", []string{"backoff", "k", "--retry-after", "-1s"}},
		{"max_retry", []string{"backoff", "k", "--max-retry", "101"}},
		{"no --lang", []string{"init"}},
		{"there are go, java and python", []string{"init", "--lang", "cobol"}},
		{"no go.mod", []string{"init", "--lang", "go", "/nonexistent"}},
		{"--go-module is for --lang go", []string{"init", "--lang", "java", "--go-module", "x"}},
		{"no directory below", []string{"init", "--lang", "java", "--proto", "../x"}},
	} {
		stdout, stderr, code := invoke(t, c.args...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want)
		assert.Empty(t, stdout)
	}
}

func TestHelpIsNoError(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--help"}, {"conformance"}, {"conformance", "run", "--help"}, {"completion", "bash"}} {
		stdout, stderr, code := invoke(t, args...)
		assert.Equal(t, exitOK, code, args)
		assert.NotEmpty(t, stdout)
		assert.Empty(t, stderr)
	}
}

func TestHelpShowsReadableDefaults(t *testing.T) {
	t.Parallel()
	stdout, _, _ := invoke(t, "backoff", "--help")
	assert.Contains(t, stdout, "(default 5m)")
	assert.NotContains(t, stdout, "durationSlice")
	assert.NotContains(t, stdout, "[]")
}

func TestValuesAreCompleted(t *testing.T) {
	t.Parallel()
	dir, _ := schemaDir(t)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"go\njava\npython\n", []string{"init", "--lang", ""}},
		{"go,java\n", []string{"init", "--lang", "go,j"}},
		{"rust\n", []string{"conformance", "init", "--lang", "rus"}},
		{"uuid\n", []string{"conformance", "run", "--group", "uu"}},
		{"junit\n", []string{"conformance", "run", "--report", "ju"}},
		{"biz_key\n", []string{"key", "--of", "b"}},
		{"binary\n", []string{"key", "--format", "b"}},
		{"shop.v1.Paid\n", []string{"key", "--schema", dir + "/proto", "--type", "shop"}},
		{"", []string{"key", "--schema", "/nonexistent", "--type", "shop"}},
	} {
		stdout, _, code := invoke(t, append([]string{"__completeNoDesc"}, c.args...)...)
		assert.Equal(t, exitOK, code, c.args)
		assert.Equal(t, c.want+":4\n", stdout, c.args)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	stdout, _, code := invoke(t, "version")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "spec 1.0.0\n")

	flag, _, code := invoke(t, "--version")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, stdout, flag)

	stdout, _, _ = invoke(t, "version", "--json")
	var b buildInfo
	require.NoError(t, json.Unmarshal([]byte(stdout), &b))
	assert.Equal(t, specVersion, b.Spec)
	assert.NotEmpty(t, b.Version)
}
