package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBackoffShowsTheSpecsExample(t *testing.T) {
	t.Parallel()
	stdout, _, code := invoke(t, "backoff", "order-8317", "--max", "60s", "--jitter", "20ms", "--max-retry", "7")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, `  retry  base ms  jitter ms  delay ms      delay  since the first failure
      0     1000          5      1005     1.005s                   1.005s
      1     2000         17      2017     2.017s                   3.022s
      2     4000         12      4012     4.012s                   7.034s
      3     8000          9      8009     8.009s                  15.043s
      4    16000          7     16007    16.007s                   31.05s
      5    32000         10     32010     32.01s                 1m 3.06s
      6    60000          1     60001  1m 0.001s                2m 3.061s
then the message is dead-lettered (max_retry 7)
`, stdout)
}

func TestBackoffAsJSON(t *testing.T) {
	t.Parallel()
	stdout, _, code := invoke(t, "backoff", "k", "--schedule", "10s,30s", "--jitter", "0", "--max-retry", "3", "--retry-after", "20s", "--json")
	assert.Equal(t, exitOK, code)
	var table delays
	require.NoError(t, json.Unmarshal([]byte(stdout), &table))
	assert.Equal(t, []delayOfNext{{0, 20000, 0, 20000, 20000}, {1, 30000, 0, 30000, 50000}, {2, 30000, 0, 30000, 80000}}, table.Delays)

	stdout, _, _ = invoke(t, "backoff", "k", "--max-retry", "0", "--json")
	assert.Contains(t, stdout, `"delays": []`)
	stdout, _, _ = invoke(t, "backoff", "k", "--max-retry", "0")
	assert.Equal(t, "no retry: the message is dead-lettered when it fails for the first time (max_retry 0)\n", stdout)
}

func TestBackoffOfWhatIsNoKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "a b", "é"} {
		_, stderr, code := invoke(t, "backoff", key)
		assert.Equal(t, exitNo, code)
		assert.Contains(t, stderr, "KEY_SYNTAX")
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		0: "0s", 5: "0.005s", 1500: "1.5s", 60000: "1m", 3600000: "1h", 90061001: "1d 1h 1m 1.001s",
	} {
		assert.Equal(t, want, span(ms))
	}
}
