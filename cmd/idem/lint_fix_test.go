package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFixMendsTheFileAndShowsWhatIsLeft(t *testing.T) {
	t.Parallel()
	dir := lintDir(t, "shop/v1/paid.proto", "\t// é\n"+unversioned, "shop/v1/broken_key.proto", strings.NewReplacer(
		"Paid", "Lost", "payments.paid:{payment_id}", "payments.lost:v1:{nothing}").Replace(unversioned))
	file := filepath.Join(dir, "shop/v1/paid.proto")
	stdout, stderr, code := invoke(t, "lint", "--diff", dir)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "\n-  option (idem.v1.message).idempotency_key = \"payments.paid:{payment_id}\";\n+  option (idem.v1.message).idempotency_key = \"payments.paid:v1:{payment_id}\";\n")
	assert.Contains(t, stderr, "2 errors, ")
	assert.Equal(t, "\t// é\n"+unversioned, read(t, file), "a diff writes nothing")

	stdout, stderr, code = invoke(t, "lint", "--fix", dir)
	assert.Equal(t, exitNo, code)
	assert.Equal(t, "\t// é\n"+mended, read(t, file))
	assert.Contains(t, stderr, "idem: mended "+file+":9: IDEM_KEY_VERSION_MISSING\n")
	assert.Contains(t, stderr, "1 error, ")
	assert.NotContains(t, stdout, "IDEM_KEY_VERSION_MISSING")
	assert.Contains(t, stdout, "broken_key.proto:8:3: error: ")

	require.NoError(t, os.Remove(filepath.Join(dir, "shop/v1/broken_key.proto")))
	_, stderr, code = invoke(t, "lint", "--fix", dir)
	assert.Equal(t, exitOK, code, stderr)
	assert.NotContains(t, stderr, "mended")
	stdout, _, code = invoke(t, "lint", "--diff", dir)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stdout)
}

func TestFixLeavesWhatIsIgnored(t *testing.T) {
	t.Parallel()
	ignored := strings.Replace(unversioned, "message Paid", "// idem:ignore IDEM_KEY_VERSION_MISSING a test\nmessage Paid", 1)
	dir := lintDir(t, "paid.proto", ignored)
	_, stderr, code := invoke(t, "lint", "--fix", dir)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, ignored, read(t, dir, "paid.proto"))
}

func TestFixIsRefused(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"exclude each other":         {"lint", "--fix", "--write-baseline", "--baseline", "b.json"},
		"has no files to mend":       {"lint", "--diff", "-"},
		"unknown flag: --fixx":       {"lint", "--fixx"},
		"there is no .proto file in": {"lint", "--fix", t.TempDir()},
	} {
		stdout, stderr, code := invoke(t, args...)
		assert.Equal(t, exitUsage, code, args)
		assert.Contains(t, stderr, want)
		assert.Empty(t, stdout)
	}
}
