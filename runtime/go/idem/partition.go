package idem

// KafkaPartition is the partition that Kafka's own Java producer chooses for a record of this key:
// murmur2, made positive, mod n. key is the biz_key. Errors as in Shard.
// (HASH-020)
func KafkaPartition(key string, n int32) (int32, error) {
	if err := checkRoute(key, n); err != nil {
		return 0, err
	}
	return int32(murmur2(key)&0x7fffffff) % n, nil
}

// murmur2 is the 32-bit hash of org.apache.kafka.common.utils.Utils, which never changes: keyed
// records would move.
func murmur2(key string) uint32 {
	const (
		seed = 0x9747b28c
		m    = 0x5bd1e995
		r    = 24
	)
	h := uint32(seed) ^ uint32(len(key))
	i := 0
	for ; i+4 <= len(key); i += 4 {
		k := uint32(key[i]) | uint32(key[i+1])<<8 | uint32(key[i+2])<<16 | uint32(key[i+3])<<24
		k *= m
		k ^= k >> r
		k *= m
		h *= m
		h ^= k
	}
	switch len(key) - i {
	case 3:
		h ^= uint32(key[i+2]) << 16
		fallthrough
	case 2:
		h ^= uint32(key[i+1]) << 8
		fallthrough
	case 1:
		h ^= uint32(key[i])
		h *= m
	}
	h ^= h >> 13
	h *= m
	h ^= h >> 15
	return h
}
