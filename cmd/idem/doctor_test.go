package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/doctor"
)

// nowhere is an environment that names no server.
func nowhere(t *testing.T) {
	t.Helper()
	for _, name := range []string{"IDEM_CONFIG", "IDEM_CONTEXT", "IDEM_DSN", "DATABASE_URL", "IDEM_BROKERS", "KAFKA_BROKERS", "IDEM_REDIS", "REDIS_URL"} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
}

func TestDoctorSaysWhatIsMissing(t *testing.T) {
	nowhere(t)
	for args, want := range map[string]string{
		"":                                    "nothing to look at: say --context, --brokers, --dsn or --redis",
		"--group payments":                    "no --brokers",
		"--topic orders":                      "no --brokers",
		"--group = --brokers k:1":             "it is GROUP or GROUP=SCOPE",
		"--group g= --brokers k:1":            "it is GROUP or GROUP=SCOPE",
		"--output xml":                        "it is table or json",
		"--p99 -1s":                           "are more than 0",
		"--context prod":                      `no context "prod"`,
		"--brokers k:1 --schema /nonexistent": "--schema: ",
		"x":                                   `"x" is one argument too many`,
	} {
		stdout, stderr, code := invoke(t, append([]string{"doctor"}, strings.Fields(args)...)...)
		assert.Equal(t, exitUsage, code, args)
		assert.Contains(t, stderr, want, args)
		assert.Empty(t, stdout, args)
	}
}

func TestDoctorOfWhatDoesNotAnswer(t *testing.T) {
	nowhere(t)
	stdout, _, code := invoke(t, "doctor", "--dsn", "postgres://u:hunter2@127.0.0.1:1/x", "--brokers", "127.0.0.1:1", "--redis", "redis://u:hunter2@127.0.0.1:1/0")
	assert.Equal(t, exitUsage, code)
	for _, place := range []string{"store postgres://127.0.0.1:1/x\n", "kafka\n", "redis\n"} {
		assert.Contains(t, stdout, place)
	}
	assert.Contains(t, stdout, "3 errors, 2 not looked at")
	assert.NotContains(t, stdout, "hunter2")

	stdout, _, code = invoke(t, "doctor", "--dsn", "sqlite:orders.db", "--p99", "1s")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "a SQLite file is one machine's")
	_, _, code = invoke(t, "doctor", "--dsn", "sqlite:orders.db", "--p99", "1s", "--strict")
	assert.Equal(t, exitNo, code, "what was not looked at is not healthy")
}

// One look at all services, from a context whose store names the group.
func TestDoctorLooksAtAContext(t *testing.T) {
	brokers := kafkaBrokers(t)
	topic := "idem-cli-" + strings.ReplaceAll(time.Now().Format("150405.000000"), ".", "")
	withTopic(t, brokers, topic, 2)
	group := topic + "-g"
	dsn := operated(t, `INSERT INTO idem_record (fence, created_at, updated_at, expires_at, state, attempts, scope, key)
		SELECT 1, now() - interval '1 s', now(), now() + interval '10 days', 2, 1, '`+group+`', 'k' || i FROM generate_series(1, 200) i`)
	commitAt(t, brokers, group, topic)
	nowhere(t)
	config, err := os.UserConfigDir()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(config, "idem"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(config, "idem", "config.yaml"), []byte("contexts:\n  prod:\n    brokers: ["+brokers+"]\n    stores: {shop: \""+dsn+"\"}\n"), 0o600))

	stdout, stderr, code := invoke(t, "doctor", "--context", "prod", "--all")
	assert.Equal(t, exitNo, code, stderr)
	for _, want := range []string{
		"store shop\n", "topic " + topic + "\n", "topic " + topic + ".retry." + group + "\n", "group " + group + "\n", "producers\n", "timing\n",
		"  error    TOPIC_REPLICATION: 1 replica",
		"           mend: kafka-topics.sh --bootstrap-server " + brokers + " --create --topic ",
		"  ok       TOPIC_RETENTION_DEDUP: 7d, and dedup records 10d (200 records of store shop)",
		"  ok       TIMING_LEASE: the lease is 30s (the default), and the handler's P99 1s (an estimate",
	} {
		assert.Contains(t, stdout, want)
	}
	stdout, _, code = invoke(t, "doctor", "--context", "prod", "-o", "json")
	assert.Equal(t, exitNo, code)
	found := map[string]bool{}
	for _, o := range objects(t, stdout) {
		assert.NotEqual(t, "ok", o["status"])
		assert.NotEmpty(t, o["why"])
		found[o["check"].(string)+" "+o["status"].(string)] = true
	}
	assert.True(t, found["TOPIC_REPLICATION error"] && found["PRODUCER_SETTINGS note"], found)
}

// Two services' databases on one server: what is said of the server is said once.
func TestDoctorTellsAServersFaultsOnce(t *testing.T) {
	mail, shop := operated(t, ""), operated(t, "INSERT INTO dead_letter (source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, source_topic, outcome, topic, headers) VALUES (1, 0, 0, 0, 0, 's', 'k', 't', 'RETRYABLE', 't', '[]')")
	nowhere(t)
	userConfig(t, fmt.Sprintf("contexts: {prod: {stores: {mail: %q, shop: %q}}}", mail, shop))
	stdout, stderr, _ := invoke(t, "doctor", "--context", "prod", "--all", "--p99", "1s")
	require.Empty(t, stderr)
	server, own, ok := strings.Cut(stdout[strings.Index(stdout, "server "):], "\n\n")
	require.True(t, ok)
	assert.Regexp(t, `^server 127\.0\.0\.1:\d+: store mail, store shop\n`, server)
	assert.Equal(t, 1, strings.Count(stdout, "STORE_VERSION"), stdout)
	assert.Contains(t, server, "STORE_VERSION: PostgreSQL ")
	assert.NotContains(t, server, "STORE_DEAD_LETTERS")
	assert.Contains(t, own, "store shop\n  ", "what is in a database stays its own")

	stdout, _, _ = invoke(t, "doctor", "--context", "prod", "--all", "--p99", "1s", "-o", "json")
	places := map[string]int{}
	for _, o := range objects(t, stdout) {
		if o["check"] == "STORE_VERSION" {
			assert.Contains(t, o["server"], "127.0.0.1:")
			places[o["place"].(string)]++
		}
	}
	assert.Equal(t, map[string]int{"store mail": 1, "store shop": 1}, places)
}

func TestDoctorCompletesGroups(t *testing.T) {
	dsn := operated(t, "INSERT INTO idem_record (fence, created_at, updated_at, expires_at, state, scope, key) VALUES (1, now(), now(), now(), 2, 'payments', 'k')")
	nowhere(t)
	stdout, _, code := invoke(t, "__completeNoDesc", "doctor", "--dsn", dsn, "--group", "")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "payments\n:4\n", stdout)
}

func TestDoctorListsAndExplainsItsChecks(t *testing.T) {
	nowhere(t)
	list, _, code := invoke(t, "doctor", "--list")
	require.Equal(t, exitOK, code)
	stdout, _, _ := invoke(t, "doctor", "--list", "--output", "json")
	assert.Len(t, objects(t, stdout), len(doctor.Checks()))
	seen := map[string]bool{}
	for _, c := range doctor.Checks() {
		assert.False(t, seen[c.ID], "%s is there twice", c.ID)
		seen[c.ID] = true
		assert.Contains(t, list, c.ID+" ")
		text, _, code := invoke(t, "explain", c.ID)
		assert.Equal(t, exitOK, code, c.ID)
		assert.Contains(t, text, c.Why)
		assert.Regexp(t, `^(Checks that|Says) .*\.$`, c.Purpose, c.ID)
		assert.Regexp(t, `\.$|”\.$`, c.Why, c.ID)
	}
	_, stderr, code := invoke(t, "explain", "TOPIC_REPLICATIONS")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "did you mean TOPIC_REPLICATION?")
}

func TestDoctorTakesTheLongestRetriesOfASchema(t *testing.T) {
	nowhere(t)
	dir, _ := schemaDir(t)
	stdout, _, code := invoke(t, "doctor", "--dsn", "sqlite:x", "--retention", "1s", "--schema", dir+"/proto", "--p99", "100ms")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "the retries and holds of ")
}

// commitAt has a group read a topic from its beginning.
func commitAt(t *testing.T, brokers, group, topic string) {
	t.Helper()
	client := &kafkago.Client{Addr: kafkago.TCP(strings.Split(brokers, ",")...)}
	answer, err := client.OffsetCommit(t.Context(), &kafkago.OffsetCommitRequest{GroupID: group, GenerationID: -1,
		Topics: map[string][]kafkago.OffsetCommit{topic: {{Partition: 0, Offset: 0}}}})
	require.NoError(t, err)
	require.NoError(t, answer.Topics[topic][0].Error)
}
