package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// server is the variable of a real server.
func server(t *testing.T, variable, service string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" && os.Getenv("IDEM_TEST_REAL") == "1" {
		t.Fatalf("%s is not set, and IDEM_TEST_REAL=1", variable)
	}
	if value == "" {
		t.Skipf(`%s is not set: scripts/services start %s && eval "$(scripts/services env)"`, variable, service)
	}
	return value
}

// named is a name that nobody else has.
func named(prefix string) string {
	return fmt.Sprintf("%s-%d-%d", prefix, time.Now().UnixNano(), names.Add(1))
}

var names atomic.Int64

// with are the results of a check of a place, whatever their status.
func with(results []Result, place, id string) (of []Result) {
	for _, r := range results {
		if r.ID == id && (place == "" || r.Place == place) {
			of = append(of, r)
		}
	}
	return of
}

// expect asks for the worst result of a check of a place.
func expect(t *testing.T, results []Result, place, id string, status Status, found string) {
	t.Helper()
	expected.Store(fmt.Sprint(id, status), true)
	of := with(results, place, id)
	if !assert.NotEmpty(t, of, "%s of %s was not run", id, place) {
		return
	}
	worst := slices.MaxFunc(of, func(a, b Result) int { return int(a.Status - b.Status) })
	assert.Equal(t, status.String(), worst.Status.String(), "%s of %s: %+v", id, place, of)
	var all []string
	for _, r := range of {
		if r.Status == status {
			all = append(all, r.Found)
		}
		if r.Status >= Unknown {
			assert.NotEmpty(t, r.Mend, "%s has no way out", id)
		}
	}
	assert.Contains(t, strings.Join(all, "\n"), found, "%s of %s", id, place)
}

// cluster is a Kafka for a test.
type testCluster struct {
	*kafka.Broker
	brokers []string
	client  *kafkago.Client
}

func onCluster(t *testing.T, variable, service string) *testCluster {
	t.Helper()
	brokers := strings.Split(server(t, variable, service), ",")
	b, err := kafka.Open(kafka.Config{Brokers: brokers})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return &testCluster{b, brokers, &kafkago.Client{Addr: kafkago.TCP(brokers...)}}
}

// topic makes a topic, and removes it behind the test.
func (c *testCluster) topic(t *testing.T, name string, partitions, replicas int, config map[string]string) {
	t.Helper()
	topic := kafkago.TopicConfig{Topic: name, NumPartitions: partitions, ReplicationFactor: replicas}
	for k, v := range config {
		topic.ConfigEntries = append(topic.ConfigEntries, kafkago.ConfigEntry{ConfigName: k, ConfigValue: v})
	}
	answer, err := c.client.CreateTopics(t.Context(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{topic}})
	require.NoError(t, err)
	require.NoError(t, answer.Errors[name])
	t.Cleanup(func() {
		_, _ = c.client.DeleteTopics(context.Background(), &kafkago.DeleteTopicsRequest{Topics: []string{name}})
	})
	require.Eventually(t, func() bool { _, err := c.Partitions(t.Context(), name); return err == nil }, 20*time.Second, 20*time.Millisecond)
}

// write writes a message with a producer's time.
func (c *testCluster) write(t *testing.T, topic string, at time.Time) {
	t.Helper()
	answer, err := c.client.Produce(t.Context(), &kafkago.ProduceRequest{Topic: topic, RequiredAcks: kafkago.RequireAll,
		Records: kafkago.NewRecordReader(kafkago.Record{Time: at, Value: kafkago.NewBytes([]byte("x"))})})
	require.NoError(t, err)
	require.NoError(t, answer.Error)
}

func (c *testCluster) look(t *testing.T, k Kafka, timing *Timing) []Result {
	t.Helper()
	k.Broker, k.Brokers = c.Broker, c.brokers
	if timing == nil {
		timing = NewTiming(0, 0, 0)
	}
	results, err := LookAtKafka(t.Context(), k, timing)
	require.NoError(t, err)
	return results
}
