package idem_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func TestHashIsXXH64InSixteenDigits(t *testing.T) {
	t.Parallel()
	for n := 0; n < 100; n++ {
		key := strings.Repeat("k", n)
		got := string(idem.AppendHash(nil, idem.Hash(key)))
		if w := fmt.Sprintf("%016x", xxhash.Sum64String(key)); got != w {
			t.Errorf("%d bytes: got %s, want %s", n, got, w)
		}
		if idem.Hash(key) != idem.HashBytes([]byte(key)) {
			t.Errorf("%d bytes: text and bytes differ", n)
		}
	}
	if got := string(idem.AppendHash(nil, idem.Hash("order-8317"))); got != "0009840d8e32d5ea" {
		t.Errorf("leading zeros: got %s", got)
	}
}

func TestShardAndLaneAreUnsigned(t *testing.T) {
	t.Parallel()
	for _, h := range []uint64{0, 1, 1 << 31, 1 << 53, 1<<53 + 1, 1 << 63, 1<<63 + 1, math.MaxUint64} {
		for _, n := range []int32{1, 2, 3, 10, 12, 1000, math.MaxInt32} {
			exact, count := new(big.Int).SetUint64(h), big.NewInt(int64(n))
			if got, w := idem.ShardOf(h, n), new(big.Int).Mod(exact, count); int64(got) != w.Int64() {
				t.Errorf("shard of %x among %d: got %d, want %d", h, n, got, w)
			}
			upper := new(big.Int).Rsh(exact, 32)
			if got, w := idem.LaneOf(h, n), new(big.Int).Mod(upper, count); int64(got) != w.Int64() {
				t.Errorf("lane of %x among %d: got %d, want %d", h, n, got, w)
			}
		}
	}
	shard, _ := idem.Shard("order-128", 12)
	lane, _ := idem.Lane("order-128", 12)
	if h := idem.Hash("order-128"); shard != idem.ShardOf(h, 12) || lane != idem.LaneOf(h, 12) {
		t.Errorf("a key has another place than its hash: %d, %d", shard, lane)
	}
}

// The partitions are those of kafka-clients' own tests and of a broker's default partitioner.
func TestKafkaPartitionIsKafkasOwn(t *testing.T) {
	t.Parallel()
	// UtilsTest.testMurmur2 of Kafka: the hash before it is made positive.
	for key, hash := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		for _, n := range []int32{1, 7, 12, math.MaxInt32} {
			w := int32(uint32(hash)&0x7fffffff) % n
			if got, err := idem.KafkaPartition(key, n); err != nil || got != w {
				t.Errorf("%s among %d: got %d, %v, want %d", key, n, got, err, w)
			}
		}
	}
}

func TestPlaceNeedsACountAndThenAKey(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(string, int32) (int32, error){
		"shard": idem.Shard, "lane": idem.Lane, "partition": idem.KafkaPartition,
	} {
		for _, c := range []struct {
			key  string
			n    int32
			code idem.Code
		}{
			{"k", 0, idem.CodePartitionCount},
			{"k", -1, idem.CodePartitionCount},
			{"", 0, idem.CodePartitionCount},
			{"", 1, idem.CodeKeyEmpty},
			{"k", 1, ""},
		} {
			if _, err := place(c.key, c.n); idem.CodeOf(err) != c.code {
				t.Errorf("%s of %q among %d: got %v, want %q", name, c.key, c.n, err, c.code)
			}
		}
	}
}

func TestFingerprintHasTwoHashes(t *testing.T) {
	t.Parallel()
	const template = "{amount}:{currency}"
	got, err := idem.FinishFingerprint([]byte("before:100:USD"), len("before:"), idem.TemplateHash(template))
	w := fmt.Sprintf("before:%08x-%016x", uint32(xxhash.Sum64String(template)), xxhash.Sum64String("100:USD"))
	if err != nil || string(got) != w {
		t.Errorf("got %s, %v, want %s", got, err, w)
	}
	if !idem.IsFingerprint(w[len("before:"):]) {
		t.Error("it has not the form of a fingerprint")
	}
	_, code := text(t, func(dst []byte) ([]byte, error) {
		return idem.FinishFingerprint(append(dst, make([]byte, 1025)...), len(dst), 0)
	})
	want(t, "", code, "", idem.CodeKeyTooLong)
}

func TestFingerprintsDifferOnlyWithinOneTemplate(t *testing.T) {
	t.Parallel()
	const a, b, other = "00000001-0000000000000001", "00000001-0000000000000002", "00000002-0000000000000002"
	for _, c := range []struct {
		x, y   string
		differ bool
	}{{a, a, false}, {a, b, true}, {b, a, true}, {a, other, false}, {a, "", false}, {"", b, false}, {"", "", false}} {
		if got := idem.FingerprintsDiffer(c.x, c.y); got != c.differ {
			t.Errorf("%q and %q: got %v", c.x, c.y, got)
		}
	}
	for _, s := range []string{"", a + "0", "0000000A-0000000000000001", "00000001_0000000000000001", "0000000g-0000000000000001"} {
		if idem.IsFingerprint(s) {
			t.Errorf("%q is taken for a fingerprint", s)
		}
	}
}
