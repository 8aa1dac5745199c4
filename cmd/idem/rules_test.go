package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint/catalog"
)

func TestRulesAreListed(t *testing.T) {
	t.Parallel()
	stdout, _, code := invoke(t, "rules")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, len(catalog.Rules()), strings.Count(stdout, "\n"))
	assert.Regexp(t, `(?m)^IDEM_KEY_VERSION_MISSING +lint +TEMPLATE +error +Checks that a key has a version segment\.$`, stdout)

	stdout, _, _ = invoke(t, "rules", "--category", "SUPPRESSION", "--kind", "lint", "--format", "json")
	var rules []describedRule
	require.NoError(t, json.Unmarshal([]byte(stdout), &rules))
	require.Len(t, rules, 3)
	assert.Equal(t, "IDEM_IGNORE_REASON_MISSING", rules[0].ID)
	assert.Equal(t, []string{"LINT-011"}, rules[0].Spec)

	for _, args := range [][]string{{"--kind", "x"}, {"--category", "x"}, {"--format", "x"}, {"x"}} {
		_, stderr, code := invoke(t, append([]string{"rules"}, args...)...)
		assert.Equal(t, exitUsage, code)
		assert.NotEmpty(t, stderr)
	}
}

func TestRuleIsExplained(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"IDEM_KEY_VERSION_MISSING", "idem_key_version_missing", "key-version-missing"} {
		stdout, _, code := invoke(t, "explain", name)
		assert.Equal(t, exitOK, code, name)
		assert.Contains(t, stdout, "Bad: payment.proto\n")
		assert.Contains(t, stdout, "Follows from KEY-030.")
	}
	for name, want := range map[string]string{
		"IDEM_KEY_VERSION_MISING": "did you mean IDEM_KEY_VERSION_MISSING?",
		"nothing":                 "`idem rules` lists them",
	} {
		stdout, stderr, code := invoke(t, "explain", name)
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, stderr, want)
		assert.Empty(t, stdout)
	}
	stdout, _, _ := invoke(t, "__completeNoDesc", "explain", "IDEM_IGNORE_S")
	assert.Contains(t, stdout, "IDEM_IGNORE_STALE\n")
	stdout, _, _ = invoke(t, "__completeNoDesc", "lint", "--format", "sa")
	assert.Equal(t, "sarif\n:4\n", stdout)
}
