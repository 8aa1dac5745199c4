package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// lived are the traces of the key k-1, and of others, in the tables of a service.
const lived = `INSERT INTO idem_record (scope, key, state, fence, attempts, created_at, updated_at, expires_at) VALUES
		('payments', 'k-1', 3, 2, 1, '2026-03-01 12:00Z', '2026-03-01 12:00:05Z', now() + interval '14 days'),
		('mail', 'k-1', 2, 1, 1, '2026-03-01 12:00:02Z', '2026-03-01 12:00:03Z', now() + interval '14 days'),
		('mail', 'k-2', 2, 1, 1, '2026-03-01 12:00:02Z', '2026-03-01 12:00:03Z', now() + interval '14 days');
	INSERT INTO msg_retry (next_retry_time, created_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
		source_topic, status, action, reason, topic, headers)
	SELECT '2026-03-01 13:00Z', '2026-03-01 12:00:05Z', i, 0, 0, 1, 0, 'payments', 'k-' || i, 'orders', 'PENDING', 'RETRY', 'BANK_DOWN', 'orders.retry.payments',
		'[["traceparent","00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]]' FROM generate_series(1, 2) i;
	INSERT INTO dead_letter (created_at, redriven_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
		source_topic, outcome, reason, topic, headers)
	SELECT '2026-03-01 12:30Z', '2026-03-01 12:40Z', i, 0, 0, 5, 0, 'payments', 'k-' || i, 'orders', 'NON_RETRYABLE', E'NO_RATE: \x1b[2J', 'orders', '[]'
	FROM generate_series(1, 2) i;
	INSERT INTO dead_letter (created_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key,
		source_topic, outcome, reason, topic, headers)
	VALUES ('2026-03-01 12:31Z', 9, 0, 0, 0, 0, 'payments', 'k-1', 'orders', 'KEY_REUSED', 'KEY_REUSED: its fingerprint is another', 'orders', '[]');
	INSERT INTO outbox (created_at, next_at, topic, headers, message_key, attempts, last_error) VALUES
		('2026-03-01 11:59Z', now(), 'orders', '[["idempotency_key","k-1"]]', 'o-1', 3, 'broker away'),
		('2026-03-01 11:59Z', now(), 'orders', '[["idempotency_key","k-11"],["note","k-1"]]', 'o-1', 0, '');
	INSERT INTO idem_operation (begun_at, ended_at, changed, operator, command, reason, target) VALUES
		('2026-03-01 12:39Z', '2026-03-01 12:41Z', 10, 'ana@ops', 'dlq redrive', 'rates are loaded', 'scope=payments'),
		('2026-03-01 12:50Z', '2026-03-01 12:50Z', 0, 'ana@ops', 'dlq redrive', 'again', 'scope=payments'),
		('2026-03-01 12:51Z', NULL, 0, 'bob@ops', 'dedup release', 'node 7', 'scope=payments keys k-0 k-1'),
		('2026-03-01 12:52Z', NULL, 0, 'bob@ops', 'dedup release', 'node 7', 'scope=payments keys k-2'),
		('2026-03-01 12:53Z', '2026-03-01 12:53Z', 1, 'bob@ops', 'retry now', 'bank is back', 'ids 1'),
		('2026-03-01 12:54Z', '2026-03-01 12:54Z', 1, 'bob@ops', 'retry now', 'bank is back', 'ids 2')`

func TestTheLifeOfAKeyInOrder(t *testing.T) {
	t.Parallel()
	dsn := operated(t, lived)
	stdout, stderr, code := invoke(t, "trace", "k-1", "--dsn", dsn)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, `TIME (UTC)               SCOPE     TRACE                             WHAT
2026-03-01 11:59:00.000                                              in the outbox for orders, 3 tries: broker away
2026-03-01 12:00:00.000  payments                                    first claimed
2026-03-01 12:00:02.000  mail                                        first claimed
2026-03-01 12:00:03.000  mail                                        SUCCESS: it had its effect; attempts 1, fence 1
2026-03-01 12:00:05.000  payments                                    FAILED: a later delivery is admitted; attempts 1, fence 2
2026-03-01 12:00:05.000  payments  0af7651916cd43dd8448eb211c80319c  RETRY 1, due at 2026-03-01T13:00:00Z: BANK_DOWN
2026-03-01 12:30:00.000  payments                                    dead letter 1, NON_RETRYABLE: NO_RATE: \u001b[2J
2026-03-01 12:31:00.000  payments                                    dead letter 3, KEY_REUSED: its fingerprint is another
2026-03-01 12:39:00.000                                              dlq redrive by ana@ops, changed 10: rates are loaded
2026-03-01 12:40:00.000  payments                                    dead letter 1 redriven
2026-03-01 12:51:00.000                                              dedup release by bob@ops, changed unknown: node 7
2026-03-01 12:53:00.000                                              retry now by bob@ops, changed 1: bank is back
dead letter 1, redriven at 2026-03-01T12:40:00Z: not claimed yet, by the record: FAILED: a later delivery is admitted
`, stdout)
	stdout, stderr, code = invoke(t, "trace", "k-1", "--dsn", dsn, "--output", "json")
	require.Equal(t, exitOK, code, stderr)
	var kinds []string
	for _, o := range objects(t, stdout) {
		kinds = append(kinds, o["kind"].(string))
		assert.Equal(t, "k-1", o["key"])
	}
	assert.Equal(t, "outbox claimed claimed state state retry dead_letter dead_letter operation redriven operation operation", strings.Join(kinds, " "))
	first := objects(t, stdout)[0]
	assert.Equal(t, "broker away", first["outbox"].(map[string]any)["last_error"])
	_, stderr, code = invoke(t, "trace", "k-3", "--dsn", dsn)
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "nothing is known of k-3")
	assert.NotContains(t, stderr, "was cut")
	for text, want := range map[string]string{
		"o-1":           "; a key is wanted, and no biz key or id: it is in the column KEY of idem dlq ls and idem retry ls, and in the header idempotency_key\n",
		"4711":          "; a key is wanted, and no biz key or id: it is in the column KEY",
		"2":             " is of k-2; delivery to come 2 in ",
		"3":             "nothing is known of a key 3: dead letter 3 in ",
		"paid:v1:p-404": "; --topic looks through Kafka, too\n",
	} {
		_, stderr, code := invoke(t, "trace", text, "--dsn", dsn)
		assert.Equal(t, exitNo, code, text)
		assert.Contains(t, stderr, want, text)
	}
	for _, command := range []string{"trace", "dedup show"} {
		_, stderr, code = invoke(t, append(strings.Fields(command), "payments.succe…", "--dsn", dsn)...)
		assert.Equal(t, exitNo, code)
		assert.Contains(t, stderr, "a key that ends in … was cut: --output json has it whole")
	}
}

func TestTheLifeOfAKeyInASQLiteFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.db")
	s, err := sqlite.Open(file, sqlite.Config{})
	require.NoError(t, err)
	grants, err := s.Claim(t.Context(), []store.Claim{{Scope: "payments", Key: "k", Owner: "o", MaxAttempts: 9, Lease: time.Minute}})
	require.NoError(t, err)
	headers := idem.Headers{{Name: "idempotency_key", Value: []byte("k")}}
	_, err = s.Settle(t.Context(), []store.Settlement{{
		Lease: grants[0].Lease, State: idem.StateFailed, RetryCount: 1,
		Retry: &store.Retry{Scope: "payments", Key: "k", SourceTopic: "orders", Topic: "orders.retry.payments", RetryCount: 1, Action: idem.ActionRetry, Reason: "BANK_DOWN", Headers: headers},
	}})
	require.NoError(t, err)
	require.NoError(t, s.Store(t.Context(), []store.Outgoing{{Topic: "payments", Headers: headers}}))
	_, err = s.BeginOperation(t.Context(), store.Operation{Operator: "ana@ops", Command: "dedup forget", Reason: "r", Target: "scope=payments keys k"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	stdout, stderr, code := invoke(t, "trace", "k", "--dsn", "sqlite:"+file)
	require.Equal(t, exitOK, code, stderr)
	for _, want := range []string{"first claimed", "FAILED: ", "RETRY 1, ", "in the outbox for payments", "dedup forget by ana@ops, changed unknown: r"} {
		assert.Contains(t, stdout, want)
	}
	stdout, stderr, code = invoke(t, "retry", "ls", "--dsn", "sqlite:"+file, "--reject-reason", "BANK_DOWN")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "BANK_DOWN")
	stdout, stderr, code = invoke(t, "dedup", "show", "k", "--dsn", "sqlite:"+file)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "FAILED")
	stdout, stderr, code = invoke(t, "operations", "--dsn", "sqlite:"+file)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "ana@ops   dedup forget  unknown  scope=payments keys k  r")
}

func TestTheMessagesOfAKeyOnKafka(t *testing.T) {
	t.Parallel()
	brokers := kafkaBrokers(t)
	dsn := operated(t, `INSERT INTO idem_record (scope, key, state, fence, created_at, updated_at, expires_at) VALUES ('mail', 'k-1', 2, 1, now(), now(), now())`)
	topic := fmt.Sprintf("idem-trace-%d", time.Now().UnixNano())
	b := withTopic(t, brokers, topic, 3)
	retry := broker.RetryTopic(topic, "mail")
	withTopic(t, brokers, retry, 1)
	message := func(topic, bizKey, key, count string) broker.Message {
		return broker.Message{Topic: topic, Key: []byte(bizKey), Value: []byte("x"), Headers: idem.Headers{
			{Name: "Idempotency_Key", Value: []byte(key)}, {Name: "event_id", Value: []byte("e-" + count)}, {Name: "retry_count", Value: []byte(count)},
			{Name: "traceparent", Value: []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")},
		}}
	}
	require.Nil(t, b.Publish(t.Context(), []broker.Message{message(topic, "o-1", "k-1", "0"), message(topic, "o-1", "k-2", "0")}))
	require.Nil(t, b.Publish(t.Context(), []broker.Message{message(retry, "o-1", "k-1", "1"), message(topic, "o-2", "k-1", "2")}))
	trace := func(args ...string) ([]map[string]any, string) {
		args = append([]string{"trace", "k-1", "--dsn", dsn, "--brokers", brokers, "--topic", topic, "--output", "json"}, args...)
		stdout, stderr, code := invoke(t, args...)
		require.Equal(t, exitOK, code, stderr)
		var messages []map[string]any
		for _, o := range objects(t, stdout) {
			if o["kind"] == "message" {
				assert.Equal(t, "0af7651916cd43dd8448eb211c80319c", o["trace_id"])
				messages = append(messages, o["message"].(map[string]any))
			}
		}
		return messages, stderr
	}
	all, _ := trace()
	require.Len(t, all, 3)
	assert.Equal(t, topic, all[0]["topic"])
	assert.Equal(t, "e-0", all[0]["event_id"])
	assert.Equal(t, "o-1", all[0]["biz_key"])
	found, _ := trace("--biz-key", "o-1")
	assert.Len(t, found, countBizKeys(t, "o-1", all))
	none, _ := trace("--since", "2100-01-01T00:00:00Z")
	assert.Empty(t, none)
	_, stderr := trace("--max-messages", "1")
	assert.Contains(t, stderr, "which is --max-messages")
}

// countBizKeys is how many messages of three partitions are in that of a biz key.
func countBizKeys(t *testing.T, bizKey string, messages []map[string]any) (n int) {
	t.Helper()
	want, err := idem.KafkaPartition(bizKey, 3)
	require.NoError(t, err)
	for _, m := range messages {
		if m["partition"] == float64(want) {
			n++
		}
	}
	return n
}

func TestTraceSaysWhatCannotBeMeant(t *testing.T) {
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_DSN", "DATABASE_URL", "KAFKA_BROKERS", "IDEM_BROKERS"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct{ want, args string }{
		{"KEY is missing", "trace"},
		{"no database", "trace k"},
		{"name a topic", "trace k --biz-key o-1"},
		{"--max-messages 0", "trace k --topic t --max-messages 0"},
		{"--since", "trace k --topic t --since x"},
		{"no --brokers", "trace k --topic t"},
		{"check that Kafka runs at 127.0.0.1:1", "trace k --topic t --brokers 127.0.0.1:1"},
		{"--limit 0", "operations --limit 0"},
	} {
		stdout, stderr, code := invoke(t, strings.Fields(c.args)...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Empty(t, stdout, c.args)
	}
}
