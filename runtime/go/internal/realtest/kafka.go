package realtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// Kafka is the addresses of KAFKA_BROKERS.
func Kafka(t testing.TB) []string {
	t.Helper()
	return strings.Split(need(t, "KAFKA_BROKERS", "kafka"), ",")
}

// KafkaCluster is the addresses of three brokers that this test alone may kill, pause and restart by
// Services; when it is over they are brought back.
func KafkaCluster(t testing.TB) []string {
	t.Helper()
	brokers := strings.Split(need(t, "KAFKA_CLUSTER_BROKERS", "kafka-cluster"), ",")
	exclusive(t, "kafka-cluster")
	t.Cleanup(func() {
		for _, node := range []string{"kafka-cluster:1", "kafka-cluster:2", "kafka-cluster:3"} {
			Services(t, "resume", node)
		}
		Services(t, "start", "kafka-cluster")
	})
	return brokers
}

// Secured is a listener of Kafka that asks for more than an address.
type Secured struct {
	Brokers        []string
	User, Password string      // of SASL; PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 alike
	TLS            *tls.Config // of TLS
}

// KafkaSASL is the listener of KAFKA_SASL_BROKERS, without TLS.
func KafkaSASL(t testing.TB) Secured {
	t.Helper()
	return Secured{
		Brokers:  strings.Split(need(t, "KAFKA_SASL_BROKERS", "kafka"), ","),
		User:     need(t, "KAFKA_SASL_USER", "kafka"),
		Password: need(t, "KAFKA_SASL_PASSWORD", "kafka"),
	}
}

// KafkaTLS is the listener of KAFKA_TLS_BROKERS, whose certificate KAFKA_CA has signed.
func KafkaTLS(t testing.TB) Secured {
	t.Helper()
	brokers := strings.Split(need(t, "KAFKA_TLS_BROKERS", "kafka"), ",")
	pem, err := os.ReadFile(need(t, "KAFKA_CA", "kafka"))
	if err != nil {
		t.Fatalf("KAFKA_CA: %v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("KAFKA_CA: no certificate in it")
	}
	return Secured{Brokers: brokers, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
}

// Topic makes a topic that no other test has, on as many replicas as the brokers keep by default, waits
// until each partition has a leader, and gives its name. It is deleted when the test is over.
func Topic(t testing.TB, brokers []string, partitions int) string {
	t.Helper()
	name := "idem-test-" + unique()
	CreateTopic(t, brokers, name, partitions)
	return name
}

// CreateTopic is Topic with a name that the test chooses, such as that of a retry topic.
func CreateTopic(t testing.TB, brokers []string, name string, partitions int) {
	t.Helper()
	transport := &kafka.Transport{MetadataTTL: 100 * time.Millisecond}
	c := &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: 30 * time.Second, Transport: transport}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		answer, err := c.CreateTopics(ctx, &kafka.CreateTopicsRequest{
			Topics: []kafka.TopicConfig{{Topic: name, NumPartitions: partitions, ReplicationFactor: -1}}})
		if err == nil {
			err = answer.Errors[name]
		}
		if err == nil || errors.Is(err, kafka.TopicAlreadyExists) {
			break
		}
		// A broker that was just started knows no controller.
		if ctx.Err() != nil || !errors.Is(err, kafka.BrokerNotAvailable) {
			t.Fatalf("create topic %s: %v", name, err)
		}
		transport.CloseIdleConnections()
		time.Sleep(100 * time.Millisecond)
	}
	for !led(ctx, c, name, partitions) {
		if ctx.Err() != nil {
			t.Fatalf("topic %s has partitions without a leader", name)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		answer, err := c.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{name}})
		if err == nil {
			err = answer.Errors[name]
		}
		// A topic left behind harms nobody, and the broker may be down by now.
		if err != nil && !errors.Is(err, kafka.UnknownTopicOrPartition) {
			t.Logf("delete topic %s: %v", name, err)
		}
		transport.CloseIdleConnections()
	})
}

// led says that each partition's leader takes requests, which is later than others know of it.
func led(ctx context.Context, c *kafka.Client, topic string, partitions int) bool {
	answer, err := c.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil || len(answer.Topics) != 1 || answer.Topics[0].Error != nil || len(answer.Topics[0].Partitions) != partitions {
		return false
	}
	request := &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{}}
	for i := range partitions {
		request.Topics[topic] = append(request.Topics[topic], kafka.LastOffsetOf(i))
	}
	offsets, err := c.ListOffsets(ctx, request)
	if err != nil || len(offsets.Topics[topic]) != partitions {
		return false
	}
	for _, p := range offsets.Topics[topic] {
		if p.Error != nil {
			return false
		}
	}
	return true
}
