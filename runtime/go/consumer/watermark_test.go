package consumer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestWatermarkOfEveryOrder settles six deliveries, with gaps between their offsets, in each of the 720
// orders, and compares each step with the definition: the longest prefix that is settled.
func TestWatermarkOfEveryOrder(t *testing.T) {
	t.Parallel()
	offsets := []int64{5, 6, 9, 10, 11, 40}
	permute(len(offsets), func(order []int) {
		w := newWatermark(3)
		for i, offset := range offsets {
			seq, ok := w.add(offset, nil)
			require.True(t, ok)
			require.Equal(t, uint64(i), seq)
		}
		settled := make([]bool, len(offsets))
		for _, i := range order {
			require.True(t, w.done(uint64(i)))
			settled[i] = true
			want := int64(3)
			for j := 0; j < len(offsets) && settled[j]; j++ {
				want = offsets[j] + 1
			}
			require.Equal(t, want, w.offset, "order %v after %d", order, i)
		}
		require.Zero(t, w.span())
	})
}

func permute(n int, visit func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var walk func(int)
	walk = func(k int) {
		if k == n {
			visit(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			walk(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	walk(0)
}

// TestWatermarkAgainstModel mixes fetches and acknowledgements, doubled ones and unknown ones among them,
// over more deliveries than the ring begins with.
func TestWatermarkAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, 1<<40).Draw(t, "start")
		w := newWatermark(start)
		var offsets []int64
		var settled []bool
		next, last := start, start
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0, 1:
				next += rapid.Int64Range(0, 3).Draw(t, "gap")
				if _, ok := w.add(next, nil); !ok {
					t.Fatalf("offset %d was refused", next)
				}
				offsets, settled = append(offsets, next), append(settled, false)
				next++
			case 2:
				seq := rapid.IntRange(0, len(offsets)).Draw(t, "seq")
				want := seq < len(offsets) && !settled[seq]
				if got := w.done(uint64(seq)); got != want {
					t.Fatalf("done(%d) is %v", seq, got)
				}
				if want {
					settled[seq] = true
				}
			}
			want, open := start, len(offsets)
			for j := 0; j < len(offsets) && settled[j]; j++ {
				want, open = offsets[j]+1, len(offsets)-j-1
			}
			if w.offset != want || w.offset < last || w.span() != open {
				t.Fatalf("offset %d, span %d; want %d, %d, not below %d", w.offset, w.span(), want, open, last)
			}
			last = w.offset
		}
	})
}

func TestWatermarkRefusesWhatWasFetchedBefore(t *testing.T) {
	t.Parallel()
	w := newWatermark(10)
	_, ok := w.add(9, nil)
	require.False(t, ok, "below the committed offset")
	_, ok = w.add(10, nil)
	require.True(t, ok)
	_, ok = w.add(10, nil)
	require.False(t, ok, "twice")
	require.Equal(t, 1, w.span())
}

func TestWatermarkNamesWhatHoldsIt(t *testing.T) {
	t.Parallel()
	w := newWatermark(0)
	require.Nil(t, w.oldest())
	a, b := new(task), new(task)
	w.add(0, a)
	w.add(1, b)
	w.done(1)
	require.Same(t, a, w.oldest())
	w.done(0)
	require.Nil(t, w.oldest())
}

// TestFault02AcknowledgementsOutOfOrder: the highest offset does not win, and an acknowledgement that comes
// after the generation's end moves nothing.
func TestFault02AcknowledgementsOutOfOrder(t *testing.T) {
	t.Parallel()
	w := newWatermark(0)
	for offset := range int64(1000) {
		w.add(offset, nil)
	}
	for _, i := range rand.Perm(999) {
		w.done(uint64(i + 1))
		require.Zero(t, w.offset, "offset 0 is not settled")
	}
	w.close()
	require.False(t, w.done(0), "late")
	require.Zero(t, w.offset)
}
