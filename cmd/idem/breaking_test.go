package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rekeyed is mended with another key, migrated the key before stated.
var (
	rekeyed  = strings.Replace(mended, "v1:{payment_id}", "v2:{payment_id}", 1)
	migrated = strings.Replace(mended, `.idempotency_key = "payments.paid:v1:{payment_id}";`,
		` = {idempotency_key: "payments.paid:v2:{payment_id}" idempotency_key_previous: "payments.paid:v1:{payment_id}"};`, 1)
)

func TestBreakingShowsWhatChangesAndAnExample(t *testing.T) {
	t.Parallel()
	dir := lintDir(t, "before/paid.proto", mended, "after/paid.proto", rekeyed, "migrated/paid.proto", migrated)
	stdout, stderr, code := invoke(t, "breaking", dir+"/after", "--against", dir+"/before")
	assert.Equal(t, exitNo, code, stderr)
	assert.Equal(t, dir+`/after/paid.proto:8:3: error: IDEM_KEY_PREVIOUS_MISSING: the key of shop.v1.Paid changes from "payments.paid:v1:{payment_id}" to `+
		`"payments.paid:v2:{payment_id}", so that every message in flight looks new: write idempotency_key_previous: "payments.paid:v1:{payment_id}", and leave it `+
		`there until one dedup retention after the release; where the new template tells more events apart, drain the topic instead and ignore this with that reason
  before: payments.paid:v1:payment-17
  after:  payments.paid:v2:payment-17
`, stdout)
	assert.Contains(t, stderr, "idem: 1 error, 0 warnings in 1 file, against "+dir+"/before\n")

	stdout, stderr, code = invoke(t, "breaking", dir+"/migrated", "--against", dir+"/before")
	assert.Equal(t, exitOK, code, stdout+stderr)
}

// commit makes a repository of a directory, with what is in it as committed some time ago.
func commit(t *testing.T, dir string, ago time.Duration) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	at := time.Now().Add(-ago).Format(time.RFC3339)
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "."}, {"commit", "--quiet", "--message=before"}} {
		command := exec.Command("git", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE="+at, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

func TestBreakingReadsTheSchemaOfTheRepositoryAtAGitRef(t *testing.T) {
	dir := lintDir(t, "idem.yaml", "version: v1\nschema: proto\n", "proto/paid.proto", mended)
	commit(t, dir, time.Hour)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "proto", "paid.proto"), []byte(rekeyed), 0o600))
	t.Chdir(dir)
	stdout, stderr, code := invoke(t, "breaking", "--against", "main")
	assert.Equal(t, exitNo, code, stderr)
	assert.True(t, strings.HasPrefix(stdout, "proto/paid.proto:8:3: error: IDEM_KEY_PREVIOUS_MISSING: "), stdout)
}

// The template before may go when the release that brought it is older than a dedup record.
func TestBreakingLetsThePreviousKeyGoAfterOneRetention(t *testing.T) {
	for _, c := range []struct {
		name string
		ago  time.Duration
		code int
	}{
		{"soon", 13 * 24 * time.Hour, exitNo},
		{"late", 15 * 24 * time.Hour, exitOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := lintDir(t, "idem.yaml", "version: v1\nschema: .\nfacts:\n  default:\n    dedup_retention: 14d\n", "paid.proto", migrated)
			commit(t, dir, c.ago)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "paid.proto"), []byte(rekeyed), 0o600))
			stdout, stderr, code := invoke(t, "breaking", dir, "--config", filepath.Join(dir, "idem.yaml"), "--against", "main")
			assert.Equal(t, c.code, code, stdout+stderr)
			if c.code == exitNo {
				assert.Contains(t, stdout, "IDEM_KEY_PREVIOUS_DROPPED")
				assert.Contains(t, stdout, "no earlier than 14 days (dedup_retention) after the release")
			}
		})
	}
}

func TestBreakingIsQuietedLikeLint(t *testing.T) {
	t.Parallel()
	ignored := strings.Replace(rekeyed, "  option", "  // idem:ignore IDEM_KEY_PREVIOUS_MISSING drained on 2025-01-01\n  option", 1)
	dir := lintDir(t, "before/paid.proto", mended, "after/paid.proto", ignored)
	stdout, stderr, code := invoke(t, "breaking", dir+"/after", "--against", dir+"/before")
	assert.Equal(t, exitOK, code, stdout+stderr)
}

func TestBreakingSaysWhatItCannotCompare(t *testing.T) {
	t.Parallel()
	dir := lintDir(t, "after/paid.proto", mended)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nothing to compare with": {nil, "idem: no --against: the schema before, as in --against main\n"},
		"no such ref":             {[]string{"--against", "v7"}, "idem: --against v7 is no file or directory, and "},
		"a broken image":          {[]string{"--against", dir + "/after/paid.proto"}, "is one .proto file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := invoke(t, append([]string{"breaking", dir + "/after"}, c.args...)...)
			assert.Equal(t, exitUsage, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, c.want)
			assert.Equal(t, 1+strings.Count(stderr, "See '"), strings.Count(stderr, "\n"), "one line: %s", stderr)
		})
	}
}

func TestErrorShowsNothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	dir := lintDir(t, "shop/v1/paid.proto", mended)
	_, stderr, code := invoke(t, "breaking", dir, "--against", "a\x1b[31mb")
	assert.Equal(t, exitUsage, code)
	assert.NotContains(t, stderr, "\x1b")
	assert.Contains(t, stderr, "a\uFFFD[31mb")
}
