package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planTexts are answers without a cluster.
const planTexts = "testdata/topic_plan"

func TestTopicPlanPrintsWhatAServiceNeeds(t *testing.T) {
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_BROKERS", "KAFKA_BROKERS"} {
		t.Setenv(name, "")
	}
	schema := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(schema, "shop.proto"), []byte(`syntax = "proto3";
package shop.v1;
import "idem/v1/options.proto";
message PaymentSucceeded {
  option (idem.v1.message) = {
    idempotency_key: "payments.succeeded:v1:{payment_id}"
    retry: { max_retry: 10 backoff_base_seconds: 86400 backoff_max_seconds: 86400 backoff_jitter_ms: 1000 }
  };
  string payment_id = 1;
}
`), 0o600))
	service := []string{"orders", "--group", "payments=billing", "--produces", "paid", "--principal", "User:CN=payments,O=${shop}", "--replicas", "3"}
	for name, args := range map[string][]string{
		"plain.sh":      {"orders", "--group", "payments"},
		"service.sh":    append(service, "--dead-letters", "--operator", "User:ops", "--command-config", "admin client.properties"),
		"service.tf":    append(service, "--output", "terraform"),
		"service.jsonl": append(service, "-o", "json"),
		"producer.sh":   {"--produces", "paid", "--principal", "User:orders"},
		"long.sh":       {"orders", "--group", "payments", "--schema", schema},
	} {
		stdout, stderr, code := invoke(t, append([]string{"topic", "plan"}, args...)...)
		require.Equal(t, exitOK, code, stderr)
		file := filepath.Join(planTexts, name)
		if os.Getenv("UPDATE_GOLDEN") == "1" {
			require.NoError(t, os.MkdirAll(planTexts, 0o755))
			require.NoError(t, os.WriteFile(file, []byte(stdout), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "UPDATE_GOLDEN=1 go test makes it")
		assert.Equal(t, string(want), stdout, name)
		assert.Equal(t, name == "long.sh", strings.Contains(stderr, "keep dedup records for longer"), stderr)
		assert.Equal(t, name == "plain.sh" || name == "long.sh", strings.Contains(stderr, "no --principal"), stderr)
	}
}

// A group may have any name, and a shell would run what is behind its ; as a command.
func TestNamesOfGroupsAreWordsOfTheShell(t *testing.T) {
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_BROKERS", "KAFKA_BROKERS"} {
		t.Setenv(name, "")
	}
	stdout, stderr, code := invoke(t, "topic", "plan", "orders", "--group", "pay; reboot=s", "--principal", "User:p")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, " --operation Read --group 'pay; reboot'\n")
}

func TestTopicPlanSaysWhatIsWrong(t *testing.T) {
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_BROKERS", "KAFKA_BROKERS"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no TOPIC, and no --produces", nil},
		{"no --group", []string{"orders"}},
		{"it is commands, terraform or json", []string{"orders", "--group", "g", "-o", "hcl"}},
		{"it is GROUP or GROUP=SCOPE", []string{"orders", "--group", "g="}},
		{"as in User:payments", []string{"orders", "--group", "g", "--principal", "payments"}},
		{"as in User:payments", []string{"orders", "--group", "g", "--operator", "User:"}},
		{"--partitions is at least 1", []string{"orders", "--group", "g", "--partitions", "0"}},
		{"it is at least 1h", []string{"orders", "--group", "g", "--dead-letter-retention", "1m"}},
		{"249", []string{"orders", "--group", strings.Repeat("g", 249)}},
		{"a name has letters", []string{"orders;rm", "--group", "g"}},
		{"--schema", []string{"orders", "--group", "g", "--schema", "/nonexistent"}},
		{"--check compares with a cluster", []string{"orders", "--group", "g", "--check"}},
		{"check that Kafka runs at 127.0.0.1:1", []string{"orders", "--group", "g", "--brokers", "127.0.0.1:1"}},
	} {
		stdout, stderr, code := invoke(t, append([]string{"topic", "plan"}, c.args...)...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Empty(t, stdout, c.args)
	}
}
