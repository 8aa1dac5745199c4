package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store"
)

// deadOnTopic makes a topic's retry and dead-letter topics for payments, with 12 dead letters in the latter: even ones of
// NO_RATE, odd ones of BAD, but the last, which is TOO_OLD.
func deadOnTopic(t *testing.T) (brokers, dlq, retry string, b *kafka.Broker) {
	t.Helper()
	brokers = kafkaBrokers(t)
	origin := fmt.Sprintf("idem-dead-%d", time.Now().UnixNano())
	b = withTopic(t, brokers, origin, 1)
	dlq, retry = broker.DeadLetterTopic(origin, "payments"), broker.RetryTopic(origin, "payments")
	for _, name := range []string{dlq, retry} {
		_, err := b.CreateTopic(t.Context(), name, 2, 0)
		require.NoError(t, err)
		t.Cleanup(func() { deleteTopic(t, brokers, name) })
	}
	var letters []broker.Message
	for i := range 12 {
		reason := []string{"NO_RATE: EUR", "BAD"}[i%2]
		if i == 11 {
			reason = "TOO_OLD"
		}
		key := fmt.Sprintf("k-%d", i)
		letters = append(letters, broker.Message{Topic: dlq, Key: []byte(key), Value: []byte{}, Headers: idem.Headers{
			{Name: "idempotency_key", Value: []byte(key)}, {Name: "event_type", Value: []byte("orders.created")}, {Name: "topic", Value: []byte(origin)},
			{Name: "retry_count", Value: []byte("5")}, {Name: "max_retry", Value: []byte("5")}, {Name: "target_scope", Value: []byte("payments")},
			{Name: "reject_reason", Value: []byte(reason)}}})
	}
	require.Nil(t, b.Publish(t.Context(), letters))
	return brokers, dlq, retry, b
}

func deleteTopic(t *testing.T, brokers, name string) {
	t.Helper()
	client := &kafkago.Client{Addr: kafkago.TCP(strings.Split(brokers, ",")...)}
	_, _ = client.DeleteTopics(context.Background(), &kafkago.DeleteTopicsRequest{Topics: []string{name}})
}

func TestDeadLettersOfATopicAreListedAndShown(t *testing.T) {
	brokers, dlq, _, _ := deadOnTopic(t)
	t.Setenv("IDEM_DSN", "")
	t.Setenv("DATABASE_URL", "")
	place := []string{"--topic", dlq, "--brokers", brokers}
	for args, want := range map[string]int{
		"": 12, "--scope payments": 12, "--event-type orders.created": 12, "--key k-3": 1, "--reject-reason NO_RATE": 6, "--since 1h": 12, "--until 1h": 0, "--limit 5": 5,
	} {
		stdout, stderr, code := invoke(t, append(append([]string{"dlq", "ls", "-o", "json"}, place...), strings.Fields(args)...)...)
		require.Equal(t, exitOK, code, stderr)
		assert.Len(t, objects(t, stdout), want, args)
		assert.Contains(t, stderr, "without the service's database")
	}
	_, stderr, code := invoke(t, append([]string{"dlq", "ls", "--reject-reason", "NO_RAT"}, place...)...)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stderr, "no dead letters: none has the reason NO_RAT; did you mean NO_RATE?\n")
	stdout, stderr, code := invoke(t, append([]string{"dlq", "ls", "--key", "k-3"}, place...)...)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "BAD")
	assert.NotContains(t, stdout, "OUTCOME")
	id := strings.Fields(strings.Split(stdout, "\n")[1])[0]

	stdout, stderr, code = invoke(t, append([]string{"dlq", "show", id}, place...)...)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "id          "+id)
	assert.Contains(t, stdout, "reject_reason: BAD")
	assert.NotContains(t, stdout, "outcome")
	stdout, stderr, code = invoke(t, append([]string{"dlq", "show", id, "-o", "json"}, place...)...)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, id, objects(t, stdout)[0]["id"])
	for _, nowhere := range []string{"0/4711", "9/0"} {
		_, stderr, code = invoke(t, append([]string{"dlq", "show", nowhere}, place...)...)
		assert.Equal(t, exitNo, code)
		assert.Contains(t, stderr, "there is no dead letter "+nowhere)
	}
	_, stderr, code = invoke(t, "dlq", "ls", "--topic", "nobody.dlq.made", "--brokers", brokers)
	assert.Equal(t, exitNo, code, stderr)
}

func TestDeadLettersOfATopicAreRedriven(t *testing.T) {
	t.Parallel()
	brokers, dlq, retry, b := deadOnTopic(t)
	dsn := operated(t)
	redrive := func(args ...string) (string, string, int) {
		return invoke(t, append([]string{"dlq", "redrive", "--topic", dlq, "--brokers", brokers, "--dsn", dsn}, args...)...)
	}
	stdout, stderr, code := redrive("--reject-reason", "NO_RATE", "--dry-run")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, 7, strings.Count(stdout, "\n"), "with the head")
	assert.Contains(t, stderr, "6 would be redriven")
	_, stderr, code = redrive("--all", "--reason", "r", "--yes", "--max", "3")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "at least 4 dead letters are selected, and --max is 3")
	_, stderr, code = redrive("--all", "--reason", "r")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "nobody is there to confirm")
	assert.Zero(t, messagesIn(t, b, retry))

	stdout, stderr, code = redrive("--reject-reason", "NO_RATE", "--reason", "the rates are loaded", "--yes")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "redriven 6;")
	assert.Equal(t, int64(6), messagesIn(t, b, retry))
	operation := query(t, dsn, "SELECT command || ' ' || target || ' ' || changed || ' ' || reason FROM idem_operation")
	require.Len(t, operation, 1)
	assert.Contains(t, operation[0], "dlq redrive topic "+dlq+" reject-reason=NO_RATE name=")
	assert.Contains(t, operation[0], " 6 the rates are loaded")

	// What succeeded since does not wait any more.
	records := opened(t, dsn)
	grants, err := records.Claim(t.Context(), []store.Claim{{Scope: "payments", Key: "k-1", Owner: "o", MaxAttempts: 9, Lease: time.Minute}})
	require.NoError(t, err)
	_, err = records.Settle(t.Context(), []store.Settlement{{State: idem.StateSuccess, Lease: grants[0].Lease}})
	require.NoError(t, err)
	stdout, stderr, code = invoke(t, "dlq", "ls", "--topic", dlq, "--brokers", brokers, "--dsn", dsn, "--reject-reason", "BAD", "-o", "json")
	require.Equal(t, exitOK, code, stderr)
	assert.Len(t, objects(t, stdout), 4)
	_, stderr, code = redrive("--key", "k-11", "--reason", "r", "--yes")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "1 are TOO_OLD and stay")
	stdout, stderr, code = redrive("--key", "k-11", "--reason", "r", "--yes", "--allow-second-effect", "-o", "json")
	require.Equal(t, exitOK, code, stderr)
	assert.InDelta(t, 1, objects(t, stdout)[0]["redriven"], 0)
}

func TestDeadLettersOfATopicAreRedrivenByTheirPlaces(t *testing.T) {
	t.Parallel()
	brokers, dlq, retry, b := deadOnTopic(t)
	dsn := operated(t)
	stdout, stderr, code := invoke(t, "dlq", "ls", "--topic", dlq, "--brokers", brokers, "--dsn", dsn, "-o", "json")
	require.Equal(t, exitOK, code, stderr)
	place := map[string]string{}
	for _, o := range objects(t, stdout) {
		place[o["key"].(string)] = o["id"].(string)
	}
	redrive := func(args ...string) (string, string, int) {
		return invoke(t, append([]string{"dlq", "redrive", "--topic", dlq, "--brokers", brokers, "--dsn", dsn, "--reason", "r", "--yes"}, args...)...)
	}
	_, stderr, code = redrive(place["k-1"], "0/4711")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "there is no dead letter 0/4711 in "+dlq+": nothing was changed")
	_, stderr, code = redrive(place["k-11"])
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "1 are TOO_OLD and stay")
	assert.Zero(t, messagesIn(t, b, retry))

	// What had another life since is told, and skipped.
	grants, err := opened(t, dsn).Claim(t.Context(), []store.Claim{{Scope: "payments", Key: "k-1", Owner: "o", RedriveCount: 1, MaxAttempts: 9, Lease: time.Minute}})
	require.NoError(t, err)
	require.Equal(t, idem.AdmitProceed, grants[0].Kind)
	stdout, stderr, code = redrive(place["k-1"], place["k-2"], place["k-3"], place["k-2"])
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "redriven 2; skipped 1 (redriven or dropped already), refused 0 (TOO_OLD), failed 0\n", stdout)
	assert.Equal(t, "redriven or succeeded already, and skipped: "+place["k-1"]+"\n", stderr)
	_, stderr, code = redrive(place["k-1"])
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stderr, "nothing is left to do")

	repaired := filepath.Join(t.TempDir(), "repaired")
	require.NoError(t, os.WriteFile(repaired, []byte("repaired"), 0o600))
	stdout, _, _ = redrive(place["k-4"], "--payload", repaired, "--dry-run")
	assert.Regexp(t, `(?s)^ID .*\n`+place["k-4"]+` .*\nthe payload is repaired: 0 bytes, sha256 \S+, become 8 bytes, sha256 `, stdout)
	stdout, _, _ = redrive(place["k-4"], "--payload", repaired, "--dry-run", "-o", "json")
	assert.Equal(t, place["k-4"], objects(t, stdout)[0]["id"])
	assert.InDelta(t, 8, objects(t, stdout)[0]["repair"].(map[string]any)["payload_bytes"], 0)
	_, stderr, code = redrive(place["k-4"], "--payload", repaired)
	require.Equal(t, exitOK, code, stderr)
	payloads := map[string]string{}
	spans, err := b.Spans(t.Context(), retry, time.Time{}, time.Time{})
	require.NoError(t, err)
	for _, s := range spans {
		if s.From < s.To {
			batch, _, err := b.Scan(t.Context(), s.TopicPartition, s.From, 1<<20)
			require.NoError(t, err)
			for _, m := range batch.Messages {
				payloads[header(m.Headers, idem.IdempotencyKey)] = string(m.Value)
			}
		}
	}
	assert.Equal(t, map[string]string{"k-2": "", "k-3": "", "k-4": "repaired"}, payloads)
	targets := query(t, dsn, "SELECT target FROM idem_operation ORDER BY id")
	require.Len(t, targets, 2)
	assert.Contains(t, targets[1], "topic "+dlq+" ids "+place["k-4"]+" name=")
	assert.Contains(t, targets[1], " payload replaced")
}

func messagesIn(t *testing.T, b *kafka.Broker, topic string) (n int64) {
	t.Helper()
	spans, err := b.Spans(t.Context(), topic, time.Time{}, time.Time{})
	require.NoError(t, err)
	for _, s := range spans {
		n += s.To - s.From
	}
	return n
}

func TestDeadLettersOfATopicSayWhatIsWrong(t *testing.T) {
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_DSN", "DATABASE_URL", "IDEM_BROKERS", "KAFKA_BROKERS"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct{ want, args string }{
		{"no --brokers", "dlq ls --topic orders.dlq.payments"},
		{"a topic of dead letters is TOPIC.dlq.SCOPE", "dlq ls --topic orders"},
		{"a topic of dead letters is TOPIC.dlq.SCOPE", "dlq ls --topic orders.dlq."},
		{"a topic of dead letters is TOPIC.dlq.SCOPE", "dlq ls --topic orders.dlq.payments --scope mail"},
		{"a topic does not keep the outcome", "dlq ls --topic orders.dlq.payments --outcome TOO_OLD"},
		{"--until goes on in a topic", "dlq ls --topic orders.dlq.payments --after 3"},
		{"it is table or json", "dlq ls --topic orders.dlq.payments -o xml"},
		{"PARTITION/OFFSET", "dlq show 17 --topic orders.dlq.payments"},
		{"PARTITION/OFFSET", "dlq redrive 17 --topic orders.dlq.payments --reason r"},
		{"ids and a filter", "dlq redrive 0/1 --key k --topic orders.dlq.payments --reason r"},
		{"--payload is for one dead letter", "dlq redrive --all --topic orders.dlq.payments --reason r --payload p"},
		{"nothing is selected", "dlq redrive --topic orders.dlq.payments --reason r"},
		{"no --reason", "dlq redrive --all --topic orders.dlq.payments"},
		{"no database", "dlq redrive --all --topic orders.dlq.payments --reason r"},
		{"--name goes with --topic", "dlq redrive --all --name n --reason r"},
	} {
		stdout, stderr, code := invoke(t, strings.Fields(c.args)...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Empty(t, stdout, c.args)
	}
}
