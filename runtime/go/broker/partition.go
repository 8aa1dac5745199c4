package broker

import (
	"unsafe"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// emptyKeyHash is murmur2 of no bytes, made positive. The spec gives an empty biz key no place (KEY_EMPTY);
// Kafka gives an empty record key one, and what is forwarded may have any key.
const emptyKeyHash = 275646681

// PartitionOf is the partition of n that Kafka's own producers choose for a record of this key; -1 where
// key is nil, for any, or n is below 1. (HASH-020)
func PartitionOf(key []byte, n int32) int32 {
	if key == nil || n < 1 {
		return -1
	}
	if len(key) == 0 {
		return emptyKeyHash % n
	}
	// The core hashes strings; the bytes do not change meanwhile, and it keeps none of them.
	p, err := idem.KafkaPartition(unsafe.String(&key[0], len(key)), n)
	if err != nil {
		return -1
	}
	return p
}
