package realtest

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// held is how long a test has a logical database at most; one that died with its test is free again then.
const held = 15 * time.Minute

// Redis is the URL of an empty logical database on the server of REDIS_URL, which is this test's alone. It
// is emptied when the test is over. Database 0 is never given: it keeps who has which.
func Redis(t testing.TB) string {
	t.Helper()
	server := need(t, "REDIS_URL", "redis")
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("REDIS_URL has to be a URL, redis://host:port/0: %v", err)
	}
	u.Path = "/0"
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	table := client(t, u.String())
	n, token := reserve(ctx, t, table), unique()
	key := fmt.Sprintf("idem:realtest:%d", n)
	if err := table.Set(ctx, key, token, held).Err(); err != nil {
		t.Fatalf("REDIS_URL: %v", err)
	}
	u.Path = "/" + strconv.Itoa(n)
	own := client(t, u.String())
	flush(ctx, t, own)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		// A test may have restarted the server, and with it the table is gone: no error then.
		flush(ctx, t, own)
		_ = own.Close()
		_ = table.Del(ctx, key).Err()
		_ = table.Close()
	})
	return u.String()
}

func client(t testing.TB, server string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(server)
	if err != nil {
		t.Fatalf("REDIS_URL: %v", err)
	}
	return redis.NewClient(options)
}

// reserve finds a free database, and waits for one where there is none.
func reserve(ctx context.Context, t testing.TB, table *redis.Client) int {
	t.Helper()
	databases := 16
	// A managed Redis may refuse the question; then it is Redis's default.
	if config, err := table.ConfigGet(ctx, "databases").Result(); err == nil {
		if n, err := strconv.Atoi(config["databases"]); err == nil {
			databases = n
		}
	}
	if databases < 2 {
		t.Fatalf("REDIS_URL: the server has %d databases; tests need at least two", databases)
	}
	for {
		for range databases {
			next, err := table.Incr(ctx, "idem:realtest:next").Result()
			if err != nil {
				t.Fatalf("REDIS_URL: %v", err)
			}
			n := 1 + int(next%int64(databases-1))
			free, err := table.SetNX(ctx, fmt.Sprintf("idem:realtest:%d", n), "", held).Result()
			if err != nil {
				t.Fatalf("REDIS_URL: %v", err)
			}
			if free {
				return n
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("REDIS_URL: all %d databases are held by other tests", databases-1)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func flush(ctx context.Context, t testing.TB, c *redis.Client) {
	t.Helper()
	if err := c.FlushDB(ctx).Err(); err != nil {
		t.Errorf("REDIS_URL: flush: %v", err)
	}
}
