package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// log is what a command that stays says, an object a line.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// find waits for a line, and gives a field of it.
func (l *log) find(t *testing.T, message, field string) (value any) {
	t.Helper()
	require.Eventually(t, func() bool {
		for line := range strings.Lines(l.String()) {
			var o map[string]any
			if json.Unmarshal([]byte(line), &o) == nil && o["msg"] == message {
				value = o[field]
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond, "%s: %s", message, l)
	return value
}

// work runs `idem worker` until stop is called, which gives its exit code.
func work(t *testing.T, args ...string) (said *log, stop func() int) {
	t.Helper()
	said = &log{}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"worker", "--log-format", "json"}, args...), streams{in: strings.NewReader(""), out: io.Discard, err: said})
	}()
	stop = sync.OnceValue(func() int { cancel(); return <-code })
	t.Cleanup(func() { stop() })
	return said, stop
}

// due is a retry of payments that is due, and a record behind its retention.
func due(topic string) string {
	return strings.ReplaceAll(waiting, "orders", topic) + `;
	UPDATE msg_retry SET next_retry_time = now() WHERE idempotency_key = 'k-1';
	DELETE FROM msg_retry WHERE idempotency_key <> 'k-1';
	INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at)
	VALUES ('payments', 'old', 2, 1, now() - interval '20 days', now() - interval '20 days', now() - interval '6 days')`
}

func count(t *testing.T, dsn, from string) string {
	t.Helper()
	return query(t, dsn, "SELECT count(*) FROM "+from)[0]
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}

func TestAWorkerServesAllStoresOfAContext(t *testing.T) {
	brokers := kafkaBrokers(t)
	topic := fmt.Sprintf("idem-worker-%d", time.Now().UnixNano())
	withTopic(t, brokers, topic, 1)
	withTopic(t, brokers, topic+".retry.payments", 1)
	payments, orders := operated(t, due(topic)), operated(t)
	userConfig(t, fmt.Sprintf("contexts: {prod: {brokers: [%q], stores: {payments: %q, orders: %q}, write: true}}", brokers, payments, orders))
	_, stderr, code := invoke(t, "worker", "--context", "prod", "--alias", "a=b,b=a")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "retry scheduler: Alias")
	said, stop := work(t, "--context", "prod", "--listen", "127.0.0.1:0")
	url := fmt.Sprintf("http://%s", said.find(t, "listening", "address"))
	require.NoError(t, opened(t, orders).Store(t.Context(), []store.Outgoing{{Topic: topic, MessageKey: []byte("o"), Payload: []byte("p")}}))

	for _, c := range []struct{ dsn, from string }{{payments, "msg_retry"}, {orders, "outbox"}, {payments, "idem_record WHERE key = 'old'"}} {
		assert.Eventually(t, func() bool { return count(t, c.dsn, c.from) == "0" }, 20*time.Second, 50*time.Millisecond, c.from)
	}
	for _, want := range []string{
		fmt.Sprintf("idem_retries_published_total{topic=\"%s.retry.payments\"} 1\n", topic),
		fmt.Sprintf("idem_outbox_sent_total{topic=\"%s\"} 1\n", topic),
		"idem_records_cleaned_total{store=\"payments\"} 1\n",
		"idem_outbox_pending{store=\"orders\"}",
	} {
		assert.EventuallyWithT(t, func(c *assert.CollectT) {
			_, metrics := get(t, url+"/metrics")
			assert.Contains(c, metrics, want)
		}, 20*time.Second, 50*time.Millisecond)
	}
	status, health := get(t, url+"/healthz")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, health, `"part": "outbox relay"`)
	assert.Equal(t, exitOK, stop())
	assert.Contains(t, said.String(), `"msg":"drained"`)
}

func TestAWorkerDoesWhatIsNamed(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"named":           {"--cleaner"},
		"all but the two": {"--scheduler=false", "--relay=false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := operated(t, due("nowhere"))
			_, stop := work(t, append(args, "--dsn", dsn)...) // and needs no brokers
			assert.Eventually(t, func() bool { return count(t, dsn, "idem_record WHERE key = 'old'") == "0" }, 20*time.Second, 50*time.Millisecond)
			assert.Equal(t, exitOK, stop())
			assert.Equal(t, "1", count(t, dsn, "msg_retry"))
		})
	}
}

func TestAWorkerSaysWhatHindersIt(t *testing.T) {
	dsn := operated(t)
	said, stop := work(t, "--dsn", dsn, "--cleaner", "--listen", "127.0.0.1:0")
	url := fmt.Sprintf("http://%s", said.find(t, "listening", "address"))
	assert.Equal(t, exitOK, stop())
	_, err := http.Get(url + "/healthz")
	require.Error(t, err, "nothing is left of it")

	query(t, dsn, "ALTER TABLE idem_record RENAME TO gone")
	said, stop = work(t, "--dsn", dsn, "--cleaner", "--listen", "127.0.0.1:0")
	url = fmt.Sprintf("http://%s", said.find(t, "listening", "address"))
	assert.Equal(t, "cleaner", said.find(t, "hindered: what is due waits, and nothing is lost; going on", "part"))
	code, health := get(t, url+"/healthz")
	assert.Equal(t, http.StatusOK, code, "not for long")
	assert.Contains(t, health, "idem_record")
	assert.Equal(t, exitOK, stop())
}

func TestAWorkerSaysWhatIsWrong(t *testing.T) {
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_DSN", "DATABASE_URL", "IDEM_BROKERS", "KAFKA_BROKERS"} {
		t.Setenv(name, "")
	}
	userConfig(t, "contexts: {prod: {stores: {payments: \"sqlite:/nonexistent\"}}}")
	nowhere := " --dsn postgres://u:hunter2@127.0.0.1:1/x"
	for _, c := range []struct {
		want, args string
		code       int
	}{
		{"no database: say --context", "", exitUsage},
		{"one argument too many", "scheduler", exitUsage},
		{"there is nothing to run", "--scheduler=false --relay=false --cleaner=false", exitUsage},
		{"it is text or json", "--log-format xml", exitUsage},
		{"--retention 0s", "--retention 0s", exitUsage},
		{"connection refused", nowhere[1:], exitUsage},
		{"the context prod is read-only: `write: true` in", "--context prod", exitNo},
	} {
		stdout, stderr, code := invoke(t, append([]string{"worker"}, strings.Fields(c.args)...)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.NotContains(t, stderr, "hunter2", c.args)
		assert.Empty(t, stdout, c.args)
	}
	file := filepath.Join(t.TempDir(), "empty.db")
	s, err := sqlite.Open(file, sqlite.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	dsn := " --dsn sqlite:" + file
	for _, c := range []struct{ want, args string }{
		{"KAFKA_BROKERS is not set", dsn},
		{"check that Kafka runs at 127.0.0.1:1", "--brokers 127.0.0.1:1" + dsn},
		{"--listen: listen tcp", "--cleaner --listen 256.0.0.1:0" + dsn},
	} {
		_, stderr, code := invoke(t, append([]string{"worker"}, strings.Fields(c.args)...)...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}
