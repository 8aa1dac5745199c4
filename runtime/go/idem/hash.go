package idem

import "github.com/cespare/xxhash/v2"

// Hash is XXH64 with seed 0 over the bytes of key. It routes, and is never the identity: dedup
// compares whole keys. (HASH-001)
func Hash(key string) uint64 { return xxhash.Sum64String(key) }

// HashBytes is Hash over a slice.
func HashBytes(key []byte) uint64 { return xxhash.Sum64(key) }

// AppendHash appends a hash as 16 lower-case hex digits, most significant first.
func AppendHash(dst []byte, h uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, lowerHex[h>>uint(shift)&15])
	}
	return dst
}

// Shard is the shard of a key among n: its hash, unsigned, mod n. Errors: CodePartitionCount where n is
// below 1, then CodeKeyEmpty. (HASH-010, HASH-012)
func Shard(key string, n int32) (int32, error) {
	if err := checkRoute(key, n); err != nil {
		return 0, err
	}
	return ShardOf(Hash(key), n), nil
}

// ShardOf is the shard of a hash among n, which is at least 1.
func ShardOf(h uint64, n int32) int32 { return int32(h % uint64(n)) }

// Lane is the lane of a key among n inside a shard: the upper half of its hash mod n, so that lanes
// do not follow shards. Errors as in Shard. (HASH-011)
func Lane(key string, n int32) (int32, error) {
	if err := checkRoute(key, n); err != nil {
		return 0, err
	}
	return LaneOf(Hash(key), n), nil
}

// LaneOf is the lane of a hash among n, which is at least 1.
func LaneOf(h uint64, n int32) int32 { return int32((h >> 32) % uint64(n)) }

func checkRoute(key string, n int32) error {
	if n < 1 {
		return rule(CodePartitionCount, "the count is outside 1 to 2147483647")
	}
	if key == "" {
		return rule(CodeKeyEmpty, "a key of no bytes has no place")
	}
	return nil
}
