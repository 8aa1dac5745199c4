package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testProto = `syntax = "proto3";
package shop.v1;
import "google/type/money.proto";
import "idem/v1/options.proto";
message Paid {
  option (idem.v1.message) = {
    idempotency_key: "payments.paid:v1:{payment_id}:{card}:{note}"
    biz_key: "{order_id}"
    fingerprint: "{amount}:{state}"
  };
  string payment_id = 1;
  string order_id = 2;
  google.type.Money amount = 3;
  string card = 4 [debug_redact = true, (idem.v1.field).digest = DIGEST_SHA256];
  optional string note = 5 [(idem.v1.field).missing = MISSING_ALLOW];
  State state = 6 [(idem.v1.field).missing = MISSING_ALLOW];
}
enum State { STATE_UNSPECIFIED = 0; STATE_PAID = 1; }
message Plain { string id = 1; }
`

const testPayload = `{"paymentId":"p/17","orderId":"o-17","amount":{"currencyCode":"EUR","units":"10","nanos":500000000},"card":"4111","state":"STATE_PAID"}`

// schemaDir makes a directory with a schema, and the payload beside it.
func schemaDir(t *testing.T) (dir, payload string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "proto", "shop", "v1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "proto", "shop", "v1", "shop.proto"), []byte(testProto), 0o600))
	payload = filepath.Join(dir, "paid.json")
	require.NoError(t, os.WriteFile(payload, []byte(testPayload), 0o600))
	return dir, payload
}

func TestKeyRendersEachTemplate(t *testing.T) {
	t.Parallel()
	dir, payload := schemaDir(t)
	for of, want := range map[string]string{
		"idempotency_key": `^payments\.paid:v1:p%2F17:[0-9a-f]{32}:~\n$`,
		"biz_key":         `^o-17\n$`,
		"fingerprint":     `^[0-9a-f]{8}-[0-9a-f]{16}\n$`,
	} {
		stdout, stderr, code := invoke(t, "key", "--schema", filepath.Join(dir, "proto"), "--type", "shop.v1.Paid", "--of", of, payload)
		assert.Equal(t, exitOK, code, stderr)
		assert.Regexp(t, want, stdout)
	}
}

func TestKeyExplainsAndHidesWhatIsRedacted(t *testing.T) {
	t.Parallel()
	dir, payload := schemaDir(t)
	args := []string{"key", "--schema", filepath.Join(dir, "proto"), "--type", "shop.v1.Paid", payload}
	for _, flag := range []string{"--explain", "--json"} {
		stdout, stderr, code := invoke(t, append(args, flag)...)
		assert.Equal(t, exitOK, code, stderr)
		assert.Contains(t, stdout, "p%2F17")
		assert.NotContains(t, stdout, "4111")
	}
	stdout, _, _ := invoke(t, append(args, "--explain", "--of", "fingerprint")...)
	assert.Contains(t, stdout, "EUR10.5")
	assert.Contains(t, stdout, "STATE_PAID (1)")

	stdout, _, _ = invoke(t, append(args, "--json")...)
	var out explained
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	assert.Len(t, out.Segments, 5)
	assert.True(t, out.Segments[4].Absent)
	assert.NotEmpty(t, out.Text)
}

func TestKeyReadsStandardInputAndTheConfiguration(t *testing.T) {
	dir, _ := schemaDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "idem.yaml"), []byte("version: v1\nschema: proto\n"), 0o600))
	t.Chdir(dir)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"key", "--type", "shop.v1.Paid", "--of", "biz_key"}, streams{in: strings.NewReader(testPayload), out: &out, err: &errs})
	assert.Equal(t, exitOK, code, errs.String())
	assert.Equal(t, "o-17\n", out.String())

	for text, want := range map[string]string{
		"version: v2\n":                       `version "v2"`,
		"version: v1\n":                       "names no schema",
		"version: v1\nschema: x\nlint: [a]\n": "lint",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "idem.yaml"), []byte(text), 0o600))
		_, stderr, code := invoke(t, "key", "--type", "shop.v1.Paid")
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, stderr, want)
	}
}

func TestKeyReadsAnImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, code := invoke(t, "conformance", "export", dir)
	require.Equal(t, exitOK, code)
	payload := filepath.Join(dir, "p.json")
	require.NoError(t, os.WriteFile(payload, []byte(`{"paymentId":"p/17"}`), 0o600))
	stdout, stderr, code := invoke(t, "key", "--schema", filepath.Join(dir, "descriptors.binpb"), "--type", "idem.conformance.v1.PaymentSucceeded", payload)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "payments.payment_success:v1:p%2F17\n", stdout)
}

func TestKeySaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir, payload := schemaDir(t)
	proto := filepath.Join(dir, "proto")
	empty, broken, refused := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "a.proto"), []byte("syntax = \"proto3\";\nmessage {"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(refused, "a.proto"), []byte(strings.ReplaceAll(testProto, "{order_id}", "{order}")), 0o600))
	bad := filepath.Join(dir, "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"paymentId":""}`), 0o600))
	long := filepath.Join(dir, "long.json")
	require.NoError(t, os.WriteFile(long, []byte(`{"card":"1","paymentId":"`+strings.Repeat("x", 1100)+`"}`), 0o600))

	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "no --type", []string{payload}},
		{exitUsage, "no --schema", []string{"--type", "shop.v1.Paid", payload}},
		{exitUsage, "no such file", []string{"--schema", dir + "/nothing", "--type", "shop.v1.Paid", payload}},
		{exitUsage, "no .proto file", []string{"--schema", empty, "--type", "shop.v1.Paid", payload}},
		{exitUsage, "a.proto:2", []string{"--schema", broken, "--type", "shop.v1.Paid", payload}},
		{exitUsage, "order", []string{"--schema", refused, "--type", "shop.v1.Paid", payload}},
		{exitUsage, "name the directory", []string{"--schema", filepath.Join(proto, "shop/v1/shop.proto"), "--type", "shop.v1.Paid", payload}},
		{exitUsage, "is no image", []string{"--schema", payload, "--type", "shop.v1.Paid", payload}},
		{exitUsage, "are shop.v1.Paid", []string{"--schema", proto, "--type", "shop.v1.Plain", payload}},
		{exitUsage, "--of key", []string{"--schema", proto, "--type", "shop.v1.Paid", "--of", "key", payload}},
		{exitUsage, "--format xml", []string{"--schema", proto, "--type", "shop.v1.Paid", "--format", "xml", payload}},
		{exitUsage, "read the payload", []string{"--schema", proto, "--type", "shop.v1.Paid", "nothing.json"}},
		{exitNo, "has no idempotency_key_previous", []string{"--schema", proto, "--type", "shop.v1.Paid", "--of", "idempotency_key_previous", payload}},
		{exitNo, "protobuf's bytes", []string{"--schema", proto, "--type", "shop.v1.Paid", "--format", "binary", payload}},
		{exitNo, "payment_id: KEY_COMPONENT_MISSING", []string{"--schema", proto, "--type", "shop.v1.Paid", bad}},
		{exitNo, "KEY_TOO_LONG", []string{"--schema", proto, "--type", "shop.v1.Paid", long}},
	} {
		stdout, stderr, code := invoke(t, append([]string{"key"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		assert.Contains(t, stderr, c.want)
		assert.Empty(t, stdout)
	}
}
