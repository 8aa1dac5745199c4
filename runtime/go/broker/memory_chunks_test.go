package broker

import (
	"math/rand/v2"
	"testing"
)

// Whatever is added and dropped, they are the same as a slice of them.
func TestChunksAreASlice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var c chunks
	var want []int64
	for next := int64(0); next < 20000; {
		for range r.IntN(3 * chunkSize) {
			c.push(&packed{offset: next})
			want = append(want, next)
			next++
		}
		if n := r.IntN(3 * chunkSize); n <= len(want) {
			c.drop(n)
			want = want[n:]
		}
		from := r.IntN(len(want) + 1)
		to := from + r.IntN(len(want)-from+1)
		var got []packed
		for _, part := range c.slices(from, to) {
			got = append(got, part...)
		}
		if c.n != len(want) || len(got) != to-from {
			t.Fatalf("%d messages, and %d of %d to %d, want %d", c.n, len(got), from, to, len(want))
		}
		for i, m := range got {
			if m.offset != want[from+i] || c.at(from+i).offset != want[from+i] {
				t.Fatalf("message %d is %d, and by itself %d, want %d", from+i, m.offset, c.at(from+i).offset, want[from+i])
			}
		}
		if len(c.all) > (c.n+c.head)/chunkSize+1 {
			t.Fatalf("%d chunks for %d messages", len(c.all), c.n)
		}
	}
}
