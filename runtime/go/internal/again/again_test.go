package again

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWaitsAreThoseOfTheSpec(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := New("test", nil, 0)
		require.NoError(t, err)
		for n := range r.Policy.MaxRetry {
			want, err := idem.Backoff("k", n, &r.Policy, 0)
			require.NoError(t, err)
			begin := time.Now()
			require.True(t, r.Again(context.Background(), "k", n, 0))
			assert.Equal(t, want.Ms(), time.Since(begin).Milliseconds())
		}
		assert.False(t, r.Again(context.Background(), "k", r.Policy.MaxRetry, 0))
	})
}

func TestNoWaitThatIsInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := New("test", nil, 10*time.Second)
		require.NoError(t, err)
		begin := time.Now()
		assert.False(t, r.Again(context.Background(), "k", 0, time.Minute), "longer than MaxWait")
		short, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		assert.False(t, r.Again(short, "k", 0, 0), "longer than the deadline")
		assert.Zero(t, time.Since(begin))
		leaving, leave := context.WithCancel(context.Background())
		time.AfterFunc(300*time.Millisecond, leave)
		assert.False(t, r.Again(leaving, "k", 0, 0))
		assert.Equal(t, 300*time.Millisecond, time.Since(begin))
		assert.False(t, r.Again(leaving, "k", 0, 0), "the caller is gone")
		assert.Equal(t, 300*time.Millisecond, time.Since(begin))
	})
}
