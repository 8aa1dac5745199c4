package bench

import (
	"testing"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Whoever changes a benchmark sees here that both sides still make the same key.
func TestLimitIsTheKey(t *testing.T) {
	one, two := succeeded(), settled()
	for _, c := range []struct {
		name, want string
		append     func() ([]byte, error)
	}{
		{"shop", shopKey, func() ([]byte, error) { return one.AppendIdemKey(nil) }},
		{"shop by hand", shopKey, func() ([]byte, error) { return limitShopKey(nil, one) }},
		{"settled", settledKey, func() ([]byte, error) { return two.AppendIdemKey(nil) }},
		{"settled by hand", settledKey, func() ([]byte, error) { return limitSettledKey(nil, two) }},
	} {
		if got, err := c.append(); string(got) != c.want || err != nil {
			t.Errorf("%s: %q, %v instead of %q", c.name, got, err, c.want)
		}
	}
}

func TestKeyAllocatesNothing(t *testing.T) {
	x := settled()
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf, _ = x.AppendIdemKey(buf[:0]) }); n != 0 {
		t.Errorf("%v allocations a key", n)
	}
}

var (
	sinkHash uint64
	sinkByte byte
	sinkText string
)

// A key and its hash, in the caller's buffer.
func measureKey(b *testing.B, key func(dst []byte) ([]byte, error), hash func([]byte) uint64) {
	buf := make([]byte, 0, 256)
	defer cpu(b)()
	for b.Loop() {
		k, err := key(buf[:0])
		if err != nil {
			b.Fatal(err)
		}
		sinkHash = hash(k)
	}
}

func BenchmarkKeyOf1(b *testing.B) {
	x := succeeded()
	b.Run("idem", func(b *testing.B) { measureKey(b, x.AppendIdemKey, idem.HashBytes) })
	b.Run("limit", func(b *testing.B) {
		measureKey(b, func(dst []byte) ([]byte, error) { return limitShopKey(dst, x) }, xxhash.Sum64)
	})
	measurePeers(b, x)
	b.Run("idem-string", func(b *testing.B) { measureText(b, x.IdemKey) })
}

func BenchmarkKeyOf4(b *testing.B) {
	x := settled()
	b.Run("idem", func(b *testing.B) { measureKey(b, x.AppendIdemKey, idem.HashBytes) })
	b.Run("limit", func(b *testing.B) {
		measureKey(b, func(dst []byte) ([]byte, error) { return limitSettledKey(dst, x) }, xxhash.Sum64)
	})
	measurePeers(b, x)
	b.Run("idem-string", func(b *testing.B) { measureText(b, x.IdemKey) })
}

func measureText(b *testing.B, key func() (string, error)) {
	defer cpu(b)()
	for b.Loop() {
		k, err := key()
		if err != nil {
			b.Fatal(err)
		}
		sinkText = k
	}
}

func measurePeers(b *testing.B, m proto.Message) {
	b.Run("wire-sha256", func(b *testing.B) {
		buf := make([]byte, 0, 512)
		defer cpu(b)()
		for b.Loop() {
			_, sum, err := peerWire(buf[:0], m)
			if err != nil {
				b.Fatal(err)
			}
			sinkByte = sum[0]
		}
	})
	b.Run("protojson-sha256", func(b *testing.B) {
		buf := make([]byte, 0, 512)
		defer cpu(b)()
		for b.Loop() {
			_, sum, err := peerProtoJSON(buf[:0], m)
			if err != nil {
				b.Fatal(err)
			}
			sinkByte = sum[0]
		}
	})
	b.Run("hashstructure", func(b *testing.B) {
		defer cpu(b)()
		for b.Loop() {
			h, err := peerStruct(m)
			if err != nil {
				b.Fatal(err)
			}
			sinkHash = h
		}
	})
}
