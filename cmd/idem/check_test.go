package main

import (
	"bytes"
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
)

const checkSchema = `syntax = "proto3";
package shop.v1;
import "idem/v1/options.proto";
message PaymentSucceeded {
  option (idem.v1.message) = {idempotency_key: "pay:v1:{payment_id}" biz_key: "{order_id}"};
  string payment_id = 1;
  string order_id = 2;
}
`

// checking is a directory with a schema.
func checking(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.proto"), []byte(checkSchema), 0o600))
	return dir
}

// checkIn runs `idem check` with standard input.
func checkIn(ctx context.Context, in string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(ctx, append([]string{"check"}, args...), streams{in: strings.NewReader(in), out: &out, err: &errs})
	return out.String(), errs.String(), code
}

const soundLine = `{"headers":{"event_type":"pay","idem_spec":"1","idempotency_key":"pay:v1:p","biz_key":"o"},"value":{"payment_id":"p","order_id":"o"}}` + "\n"

func TestCheckFindsNothingInSoundMessages(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := checkIn(t.Context(), soundLine+soundLine, "--schema", checking(t), "-")
	require.Equal(t, exitOK, code, stderr)
	assert.Empty(t, stdout)
	for _, want := range []string{"2 messages", "1 idempotency keys", "1 duplicates by key", "idem: no findings in 2 messages"} {
		assert.Contains(t, stderr, want)
	}
}

func TestCheckReportsFindingsWithTheirLines(t *testing.T) {
	t.Parallel()
	dir := checking(t)
	file := filepath.Join(dir, "m.ndjson")
	require.NoError(t, os.WriteFile(file, []byte(soundLine+strings.Replace(soundLine, "pay:v1:p", "pay:v1:q", 1)), 0o600))
	stdout, stderr, code := checkIn(t.Context(), "", "--schema", dir, file)
	require.Equal(t, exitNo, code, stderr)
	assert.Contains(t, stdout, file+`:2: error: IDEM_HEADER_KEY_DIFFERS: the header idempotency_key is "pay:v1:q", and the payload gives "pay:v1:p"`)
	assert.Contains(t, stdout, file+":2: error: IDEM_KEY_REGENERATED")
	assert.Contains(t, stderr, "1 IDEM_HEADER_KEY_DIFFERS")
}

func TestCheckGoesOnBehindALineThatIsNoMessage(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := checkIn(t.Context(), soundLine+"{x\n"+soundLine, "--schema", checking(t), "-")
	require.Equal(t, exitNo, code, stderr)
	assert.Equal(t, "standard input:2: error: IDEM_PAYLOAD_UNREADABLE: the line is no message: at byte 1: it is no JSON of a message: write the line as idem check --help says\n", stdout)
	assert.Contains(t, stderr, "3 messages")
	assert.Contains(t, stderr, "1 lines that are no message, and are judged no further")
	assert.Contains(t, stderr, "1 duplicates by key")
}

func TestCheckShowsNoMoreFindingsThanItIsTold(t *testing.T) {
	t.Parallel()
	bad := strings.Repeat(`{"headers":{"event_type":"none"},"value":{}}`+"\n", 10)
	stdout, stderr, code := checkIn(t.Context(), bad, "--schema", checking(t), "--max-findings", "3", "-")
	require.Equal(t, exitNo, code, stderr)
	assert.Equal(t, 3, strings.Count(stdout, "\n"))
	assert.Contains(t, stderr, "27 findings more than --max-findings")
}

func TestCheckDropsWhatTheBaselineHas(t *testing.T) {
	t.Parallel()
	dir := checking(t)
	baseline := filepath.Join(dir, "baseline.json")
	bad := strings.Repeat(`{"headers":{"event_type":"none"},"value":{}}`+"\n", 10)
	args := []string{"--schema", dir, "--max-findings", "1", "--baseline", baseline}
	_, stderr, code := checkIn(t.Context(), bad, append(args, "--write-baseline", "-")...)
	require.Equal(t, exitOK, code, stderr)
	_, stderr, code = checkIn(t.Context(), bad, append(args, "-")...)
	require.Equal(t, exitOK, code, stderr)
	stdout, _, code := checkIn(t.Context(), bad+`{"headers":{"event_type":"other"},"value":{}}`, append(args, "-")...)
	require.Equal(t, exitNo, code)
	assert.Contains(t, stdout, `the event type "other"`)
}

func TestCheckReadsBinaryFilesWithTheirTypeSaid(t *testing.T) {
	t.Parallel()
	dir := checking(t)
	for name, data := range map[string]string{"one.binpb": "\x0a\x01p", "two.json": `{"paymentId":"p"}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
		stdout, stderr, code := checkIn(t.Context(), "", "--schema", dir, "--type", "shop.v1.PaymentSucceeded", filepath.Join(dir, name))
		require.Equal(t, exitNo, code, stderr)
		assert.Equal(t, 1, strings.Count(stdout, "\n"), stdout)
		assert.Contains(t, stdout, "has no biz key: the field order_id is not set")
	}
}

func TestCheckShowsWhatItFoundBeforeAnInputThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := checking(t)
	cut := filepath.Join(dir, "cut.binpb")
	require.NoError(t, os.WriteFile(cut, []byte("\x03\x0a\x01p\x7f"), 0o600))
	baseline := filepath.Join(dir, "baseline.json")
	args := []string{"--schema", dir, "--delimited", "--type", "shop.v1.PaymentSucceeded", cut}
	for format, want := range map[string]string{"text": cut + ":1: error: IDEM_", "json": `"version"`} {
		stdout, stderr, code := checkIn(t.Context(), "", append(args, "--format", format)...)
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, stdout, want)
		assert.Contains(t, stdout, "has no biz key")
		assert.Contains(t, stderr, "1 messages")
		assert.Contains(t, stderr, "is cut off: message 2 at byte 4 has 127 bytes, and 0 are there")
	}
	stdout, _, code := checkIn(t.Context(), "", append(args, "--baseline", baseline, "--write-baseline")...)
	assert.Equal(t, exitUsage, code)
	assert.Empty(t, stdout)
	assert.NoFileExists(t, baseline)
}

func TestCheckSaysWhatCannotBeRead(t *testing.T) {
	t.Setenv("KAFKA_BROKERS", "")
	dir := checking(t)
	cut := filepath.Join(dir, "cut.binpb")
	require.NoError(t, os.WriteFile(cut, []byte("\x03\x0a\x01p\x7f"), 0o600))
	broken := filepath.Join(t.TempDir(), "broken.proto")
	require.NoError(t, os.WriteFile(broken, []byte("message"), 0o600))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"nothing to check", []string{"--schema", dir}},
		{"no --type: a payload without headers", []string{"--schema", dir, cut}},
		{"--type shop.v1.PaymentSucceded: the messages with option", []string{"--schema", dir, "--type", "shop.v1.PaymentSucceded", cut}},
		{"no such file", []string{"--schema", dir, "none.ndjson"}},
		{"what is in it is told by its name", []string{"--schema", dir, filepath.Join(dir, "shop.proto")}},
		{"does not compile", []string{"--schema", filepath.Dir(broken), "-"}},
		{"--payload xml", []string{"--schema", dir, "--payload", "xml", "-"}},
		{"--max-findings 0: it is at least 1", []string{"--schema", dir, "--max-findings", "0", "-"}},
		{"--partitions -1: it is at least 1", []string{"--schema", dir, "--partitions", "-1", "-"}},
		{"--memory 1KiB: it is at least 1MiB: with less,", []string{"--schema", dir, "--memory", "1KiB", "-"}},
		{"is no size", []string{"--schema", dir, "--memory", "much", "-"}},
		{"go with --topic", []string{"--schema", dir, "--follow", "-"}},
		{"read one of them", []string{"--schema", dir, "--topic", "t", "-"}},
		{"it is how long ago", []string{"--schema", dir, "--topic", "t", "--since", "yesterday"}},
		{"--follow has no end", []string{"--schema", dir, "--topic", "t", "--follow", "--until", "1h"}},
		{"no --kafka-brokers, and KAFKA_BROKERS is not set", []string{"--schema", dir, "--topic", "t"}},
		{"check that Kafka runs at 127.0.0.1:1", []string{"--schema", dir, "--topic", "t", "--kafka-brokers", "127.0.0.1:1"}},
	} {
		stdout, stderr, code := checkIn(t.Context(), soundLine, c.args...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Empty(t, stdout, c.args)
	}
}

// published makes a topic with a sound message twice and one in each wrong way, beside the 20 without headers
// of withTopic.
func published(t *testing.T, brokers string) string {
	t.Helper()
	topic := fmt.Sprintf("idem-check-%d", time.Now().UnixNano())
	b := withTopic(t, brokers, topic, 3)
	headers := func(key string) idem.Headers {
		return idem.Headers{
			{Name: "idempotency_key", Value: []byte(key)}, {Name: "event_type", Value: []byte("pay")},
			{Name: "biz_key", Value: []byte("o")}, {Name: "idem_spec", Value: []byte("1")},
		}
	}
	value := []byte("\x0a\x01p\x12\x01o")
	for _, err := range b.Publish(t.Context(), []broker.Message{
		{Topic: topic, Key: []byte("o"), Value: value, Headers: headers("pay:v1:p")},
		{Topic: topic, Key: []byte("o"), Value: value, Headers: headers("pay:v1:p")},
		{Topic: topic, Key: []byte("o"), Value: value, Headers: headers("pay:v1:other")},
		{Topic: topic, Key: []byte("p"), Value: value[:4], Headers: headers("pay:v1:p")},
	}) {
		require.NoError(t, err)
	}
	return topic
}

func TestCheckReadsATopic(t *testing.T) {
	t.Parallel()
	brokers := kafkaBrokers(t)
	topic := published(t, brokers)
	stdout, stderr, code := checkIn(t.Context(), "", "--schema", checking(t), "--kafka-brokers", brokers, "--topic", topic, "--since", "1h")
	require.Equal(t, exitNo, code, stderr)
	for _, want := range []string{
		"error: IDEM_HEADER_KEY_DIFFERS", "error: IDEM_KEY_REGENERATED", "error: IDEM_PAYLOAD_UNREADABLE", "error: IDEM_RECORD_KEY_DIFFERS", topic + "/", "@0: error",
	} {
		assert.Contains(t, stdout, want)
	}
	assert.NotContains(t, stdout, "IDEM_RECORD_PARTITION_WRONG")
	assert.Contains(t, stderr, "24 messages")
	assert.Contains(t, stderr, "2 duplicates by key")
}

func TestCheckOfATopicThatIsNotThereSaysSo(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := checkIn(t.Context(), "", "--schema", checking(t), "--kafka-brokers", kafkaBrokers(t), "--topic", "idem-check-none")
	assert.Equal(t, exitUsage, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "topic idem-check-none: ")
	assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
}

// The end of --follow is an interruption, and then there is a summary all the same.
func TestCheckFollowsATopicUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	brokers := kafkaBrokers(t)
	topic := published(t, brokers)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stdout, stderr, code := checkIn(ctx, "", "--schema", checking(t), "--kafka-brokers", brokers, "--topic", topic, "--follow")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "IDEM_KEY_REGENERATED")
	assert.Contains(t, stderr, "24 messages")
}

func TestCheckFollowsPartitionsThatAreAdded(t *testing.T) {
	t.Parallel()
	brokers := kafkaBrokers(t)
	topic := fmt.Sprintf("idem-check-%d", time.Now().UnixNano())
	b := withTopic(t, brokers, topic, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"check", "--schema", checking(t), "--kafka-brokers", brokers, "--topic", topic, "--follow"}, streams{in: strings.NewReader(""), out: &out, err: &out})
	}()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), topic+"/0@19: ") }, 30*time.Second, 20*time.Millisecond, out.String)

	client := &kafkago.Client{Addr: kafkago.TCP(strings.Split(brokers, ",")...)}
	answer, err := client.CreatePartitions(t.Context(), &kafkago.CreatePartitionsRequest{Topics: []kafkago.TopicPartitionsConfig{{Name: topic, Count: 4}}})
	require.NoError(t, err)
	require.NoError(t, answer.Errors[topic])
	require.Eventually(t, func() bool {
		counts, err := b.Partitions(t.Context(), topic)
		return err == nil && counts[topic] == 4
	}, 30*time.Second, 20*time.Millisecond)
	var messages []broker.Message
	for i := range 20 {
		messages = append(messages, broker.Message{Topic: topic, Key: fmt.Append(nil, i), Value: []byte("added")})
	}
	require.Nil(t, b.Publish(t.Context(), messages))
	for p := range 4 {
		at := fmt.Sprintf("%s/%d@", topic, p)
		require.Eventually(t, func() bool { return strings.Contains(out.String(), at) }, 30*time.Second, 20*time.Millisecond, "partition %d is not read", p)
	}
	cancel()
	assert.Equal(t, exitNo, <-ended)
	assert.Contains(t, out.String(), "40 messages")
}

func TestCheckReadsATopicOverTLSAndWithSASL(t *testing.T) {
	topic := published(t, kafkaBrokers(t))
	t.Setenv("KAFKA_PASSWORD", os.Getenv("KAFKA_SASL_PASSWORD"))
	for name, args := range map[string][]string{
		"KAFKA_TLS_BROKERS":  {"--ca", os.Getenv("KAFKA_CA")},
		"KAFKA_SASL_BROKERS": {"--sasl", "SCRAM-SHA-512", "--user", os.Getenv("KAFKA_SASL_USER")},
	} {
		brokers := os.Getenv(name)
		if brokers == "" {
			t.Skip(name + " is not set")
		}
		args = append([]string{"--schema", checking(t), "--kafka-brokers", brokers, "--topic", topic}, args...)
		_, stderr, code := checkIn(t.Context(), "", args...)
		assert.Equal(t, exitNo, code, stderr)
		assert.Contains(t, stderr, "24 messages")
	}
}
