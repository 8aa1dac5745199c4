package redis

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

// mini is a Redis in the test's process whose clock the test moves. Its Lua is another implementation of the
// same language, so that what matters runs on a real server too.
func mini(t testing.TB) (*miniredis.Miniredis, *redis.Client) {
	t.Helper()
	m := miniredis.RunT(t)
	m.SetTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	m.ClockTTL(true)
	c := redis.NewClient(&redis.Options{Addr: m.Addr(), ReadTimeout: time.Minute}) // it makes a Lua state for each call
	t.Cleanup(func() { _ = c.Close() })
	return m, c
}

// real is a logical database of its own on the server of REDIS_URL.
func real(t testing.TB) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(realtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// onEach runs a test on both.
func onEach(t *testing.T, test func(t *testing.T, c *redis.Client)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		_, c := mini(t)
		test(t, c)
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(t, real(t))
	})
}
