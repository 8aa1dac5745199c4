//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// untouched waits until no test that kills and pauses the brokers of the cluster runs, and keeps others from beginning:
// the lock is that of runtime/go/internal/realtest.
func untouched(t *testing.T) {
	t.Helper()
	path := filepath.Join("..", "..", ".tools", "services", "kafka-cluster.test-lock")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	t.Cleanup(func() { _ = f.Close() })
}

func TestReplicasOfACluster(t *testing.T) {
	c := onCluster(t, "KAFKA_CLUSTER_BROKERS", "kafka-cluster")
	untouched(t)
	for name, k := range map[string]struct {
		id       string
		replicas int
		least    string
		status   Status
		found    string
	}{
		"three":                {"TOPIC_REPLICATION", 3, "2", OK, "3 replicas"},
		"one":                  {"TOPIC_REPLICATION", 1, "1", Error, "1 replica"},
		"two of three in sync": {"TOPIC_MIN_INSYNC", 3, "2", OK, "2 of 3"},
		"one of three in sync": {"TOPIC_MIN_INSYNC", 3, "1", Error, "it is 1, with 3 replicas"},
		"all in sync":          {"TOPIC_MIN_INSYNC", 3, "3", Warning, "as many as there are replicas"},
		"one of two":           {"TOPIC_MIN_INSYNC", 2, "1", Warning, "it is 1, with 2 replicas"},
		"more than there are":  {"TOPIC_MIN_INSYNC", 2, "3", Error, "it is 3, and there are 2 replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			topic := named("idem-doctor")
			c.topic(t, topic, 2, k.replicas, map[string]string{"min.insync.replicas": k.least})
			expect(t, c.look(t, Kafka{Topics: []string{topic}}, nil), "topic "+topic, k.id, k.status, k.found)
		})
	}
}
