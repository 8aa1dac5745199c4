package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTopicCreateMakesWhatIsMissingAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	brokers := kafkaBrokers(t)
	topic := fmt.Sprintf("idem-create-%d", time.Now().UnixNano())
	withTopic(t, brokers, topic, 3)
	stdout, stderr, code := invoke(t, "topic", "create", topic, "--group", "mail", "--partitions", "5", "--dead-letters", "--brokers", brokers)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, strings.ReplaceAll(`is there  T, partitions 3
created   T.retry.mail, partitions 3
created   T.dlq.mail, partitions 3
`, "T", topic), stdout)
	stdout, stderr, code = invoke(t, "topic", "create", topic, "--group", "mail", "--brokers", brokers)
	require.Equal(t, exitOK, code, stderr)
	assert.NotContains(t, stdout, "created")
	stdout, _, _ = invoke(t, "doctor", "--topic", topic, "--group", "idem-nobody=mail", "--brokers", brokers, "--all")
	assert.Contains(t, stdout, "1064972, and "+topic+" has 1048588")
}

func TestTopicCreateSaysWhatIsWrong(t *testing.T) {
	t.Setenv("KAFKA_BROKERS", "")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"TOPIC is missing", nil},
		{"--partitions is at least 1", []string{"orders", "--partitions", "0"}},
		{"249", []string{"orders", "--group", strings.Repeat("g", 249)}},
		{"KAFKA_BROKERS is not set", []string{"orders"}},
		{"check that Kafka runs at 127.0.0.1:1", []string{"orders", "--brokers", "127.0.0.1:1"}},
	} {
		stdout, stderr, code := invoke(t, append([]string{"topic", "create"}, c.args...)...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Empty(t, stdout, c.args)
	}
}
