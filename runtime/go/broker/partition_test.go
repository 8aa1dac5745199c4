package broker_test

import (
	"fmt"
	"testing"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// kafka-go's port of the Java partitioner is the other opinion, an empty key included.
func TestPartitionIsTheOneOfStockProducers(t *testing.T) {
	t.Parallel()
	balancer := kafka.Murmur2Balancer{}
	partitions := make([]int, 12)
	for i := range partitions {
		partitions[i] = i
	}
	for i := range 2000 {
		key := []byte(fmt.Sprintf("order-%d", i*i))
		if i == 0 {
			key = []byte{}
		}
		want := balancer.Balance(kafka.Message{Key: key}, partitions...)
		if got := broker.PartitionOf(key, 12); got != int32(want) {
			t.Fatalf("partition of %q is %d, Kafka's %d", key, got, want)
		}
	}
	if got := broker.PartitionOf(nil, 12); got != -1 {
		t.Errorf("partition without a key is %d, want -1", got)
	}
}
