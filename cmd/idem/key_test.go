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
		"version: v2\n":                       `idem.yaml:1:1: the version is "v2"`,
		"version: v1\n":                       "names no schema",
		"version: v1\nscheme: x\n":            `idem.yaml:2:1: there is no key "scheme" here; did you mean schema?`,
		"version: v1\nschema: x\nlint: [a]\n": "idem.yaml:3:7: there are no keys here: the keys are baseline, except, ",
		"":                                    "is empty",
		"- version\n":                         "idem.yaml:1:1: there are no keys here",
		"version: v1\nschema: [a]\n":          "idem.yaml:2:9: there is more than one value here",
		"version: v1\nversion: v1\n":          `idem.yaml:2:1: the key "version" is here twice`,
		"version: v1\n schema: x\n":           "is no YAML: ",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "idem.yaml"), []byte(text), 0o600))
		_, stderr, code := invoke(t, "key", "--type", "shop.v1.Paid")
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, stderr, want)
		assert.NotContains(t, stderr, "main.")
	}
}

func TestKeyLooksForTheConfigurationAbove(t *testing.T) {
	dir, payload := schemaDir(t)
	below := filepath.Join(dir, "services", "orders")
	require.NoError(t, os.MkdirAll(below, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "idem.yaml"), []byte("version: v1\nschema: proto\n"), 0o600))
	t.Chdir(below)
	stdout, stderr, code := invoke(t, "key", "--type", "shop.v1.Paid", "--of", "biz_key", payload)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "o-17\n", stdout)

	require.NoError(t, os.Mkdir(filepath.Join(dir, "services", ".git"), 0o755))
	_, stderr, code = invoke(t, "key", "--type", "shop.v1.Paid", payload)
	assert.Equal(t, exitUsage, code, "another repository's is not this one's")
	assert.Contains(t, stderr, "no idem.yaml here or above")
}

func TestKeyShowsTheRowThatFails(t *testing.T) {
	t.Parallel()
	dir, _ := schemaDir(t)
	payload := filepath.Join(dir, "p.json")
	key := func(text string, args ...string) (string, string) {
		require.NoError(t, os.WriteFile(payload, []byte(text), 0o600))
		stdout, stderr, code := invoke(t, append([]string{"key", "--schema", filepath.Join(dir, "proto"), "--type", "shop.v1.Paid", payload}, args...)...)
		assert.Equal(t, exitNo, code)
		return stdout, stderr
	}
	stdout, stderr := key(`{"amount":{"currencyCode":"eur","units":"10"}}`, "--explain", "--of", "fingerprint")
	assert.Contains(t, stdout, `currency_code:eur`)
	assert.Contains(t, stdout, "MONEY_")
	assert.Contains(t, stderr, "idem: amount: MONEY_")

	stdout, _ = key(`{"card":"4111"}`, "--json")
	var out explained
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	last := out.Segments[len(out.Segments)-1]
	assert.Equal(t, []string{"{payment_id}", `""`, "KEY_COMPONENT_MISSING"}, []string{last.Segment, last.Value, last.Error})

	stdout, _ = key(`{"paymentId":"p"}`, "--explain")
	assert.Regexp(t, `\{card\} .*\(redacted\) +- +KEY_COMPONENT_MISSING`, stdout)
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

func TestKeyOutlivesAMapWithKeysOfAnotherType(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.proto"), []byte(`syntax = "proto3"; package a.v1; import "idem/v1/options.proto";
		message Sent { option (idem.v1.message).idempotency_key = "a.sent:v1:{id}"; string id = 1; map<string, Sent> by_name = 2; }`), 0o600))
	payload := filepath.Join(dir, "p.binpb")
	require.NoError(t, os.WriteFile(payload, []byte("\x0a\x01x\x12\x05\x0a\x01y\x08\x01"), 0o600)) // a key that is text, and then one that is a number
	_, stderr, code := invoke(t, "key", "--schema", dir, "--type", "a.v1.Sent", payload)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "the key of a map's entry is of another type")
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
	unimported := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(unimported, "a.proto"), []byte(strings.ReplaceAll(testProto, "import \"idem/v1/options.proto\";", "")), 0o600))
	void := filepath.Join(dir, "void.binpb")
	require.NoError(t, os.WriteFile(void, nil, 0o600))
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
		{exitUsage, `has to say: import "idem/v1/options.proto";`, []string{"--schema", unimported, "--type", "shop.v1.Paid", payload}},
		{exitNo, "the payload is empty", []string{"--schema", proto, "--type", "shop.v1.Paid"}},
		{exitNo, "The payload is empty", []string{"--schema", proto, "--type", "shop.v1.Paid", void}},
		{exitNo, "say --format binary", []string{"--schema", proto, "--type", "shop.v1.Paid", "--format", "json", filepath.Join(proto, "shop/v1/shop.proto")}},
		{exitNo, "say --format json", []string{"--schema", proto, "--type", "shop.v1.Paid", "--format", "binary", payload}},
		{exitNo, "payment_id: KEY_COMPONENT_MISSING", []string{"--schema", proto, "--type", "shop.v1.Paid", bad}},
		{exitNo, "KEY_TOO_LONG", []string{"--schema", proto, "--type", "shop.v1.Paid", long}},
	} {
		stdout, stderr, code := invoke(t, append([]string{"key"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		assert.Contains(t, stderr, c.want)
		assert.Empty(t, stdout)
	}
}
