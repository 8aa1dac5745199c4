package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRingKeepsTheEnd(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3, 7, 64, 10_000} {
		r := newRing(size)
		var all strings.Builder
		for i := range 100 {
			s := strings.Repeat(fmt.Sprintf("%x", i%16), i%11)
			n, err := r.Write([]byte(s))
			assert.NoError(t, err)
			assert.Len(t, s, n)
			all.WriteString(s)
			whole := all.String()
			assert.Equal(t, whole[max(0, len(whole)-size):], r.tail(1))
		}
	}
	r := newRing(100)
	_, _ = r.Write([]byte("a\nb\nc\xff\n"))
	assert.Equal(t, "b\nc\uFFFD", r.tail(2))
	assert.Empty(t, newRing(10).tail(5))
}
