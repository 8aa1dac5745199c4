package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/internal/operate/connect"
)

// Redis is a server that is being looked at.
type Redis struct {
	client *redis.Client
	place  string
	url    string
	// hint says that there is a database behind it: what it forgets is asked there.
	hint  bool
	facts map[string]string // of INFO
}

// OpenRedis connects to the server of a URL, redis://user:password@host:port/0. An error says that it cannot be asked.
func OpenRedis(ctx context.Context, url string, hint bool) (*Redis, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, connect.Hide(fmt.Errorf("open redis: %w: it is redis://HOST:PORT/0", err), url)
	}
	options.MaxRetries, options.ClientName = 1, "idem-cli"
	options.ContextTimeoutEnabled = true
	s := &Redis{client: redis.NewClient(options), place: "redis " + options.Addr, url: url, hint: hint}
	redis.SetLogger(silent{})
	if err := s.client.Ping(ctx).Err(); err != nil {
		s.Close()
		return nil, connect.Hide(fmt.Errorf("redis at %s: %w%s", options.Addr, err, redisMend(err)), url)
	}
	return s, nil
}

// silent keeps the driver's log off the terminal.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func redisMend(err error) string {
	var op *net.OpError
	switch {
	case errors.As(err, &op):
		return " (check host and port, and that Redis runs there)"
	case strings.HasPrefix(err.Error(), "NOAUTH"), strings.HasPrefix(err.Error(), "WRONGPASS"):
		return " (check user and password of the URL)"
	}
	return ""
}

// Close closes the connections.
func (s *Redis) Close() { _ = s.client.Close() }

// fact is a line of INFO.
func (s *Redis) fact(ctx context.Context, name string) (string, error) {
	if s.facts == nil {
		info, err := s.client.Info(ctx).Result()
		if err != nil {
			return "", &unseen{err.Error(), "allow this user INFO: ACL SETUSER NAME +info"}
		}
		s.facts = map[string]string{}
		for line := range strings.Lines(info) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				s.facts[name] = value
			}
		}
	}
	value, ok := s.facts[name]
	if !ok {
		return "", &unseen{"INFO does not say " + name, "ask whoever runs the server"}
	}
	return value, nil
}

func (s *Redis) number(ctx context.Context, name string) (int64, error) {
	text, err := s.fact(ctx, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &unseen{fmt.Sprintf("INFO says %s:%s", name, text), "ask whoever runs the server"}
	}
	return n, nil
}

// config is a setting, which INFO does not say.
func (s *Redis) config(ctx context.Context, name string) (string, error) {
	all, err := s.client.ConfigGet(ctx, name).Result()
	if err != nil {
		return "", &unseen{err.Error(), "allow this user CONFIG GET: ACL SETUSER NAME +config|get; a managed server shows its settings elsewhere"}
	}
	return all[name], nil
}

// LookAtRedis looks at the server.
func LookAtRedis(ctx context.Context, s *Redis) []Result {
	all := examine(ctx, s.place, s, redisChecks)
	for i := range all {
		all[i].Found = connect.Redact(all[i].Found, s.url)
	}
	return all
}

// redisChecks look at a server.
var redisChecks = []*check[*Redis]{
	{Check{
		ID: "REDIS_VERSION", Severity: Error,
		Purpose: "Checks that the server is Redis 6 or later.",
		Why:     "The scripts use commands that older servers do not have.",
	}, redisVersion},
	{Check{
		ID: "REDIS_WRITABLE", Severity: Error,
		Purpose: "Checks that the server is no replica, and can write to its disk where it keeps data there.",
		Why:     "A replica takes no claims. A server whose last snapshot failed takes none either, by default.",
	}, redisWritable},
	{Check{
		ID: "REDIS_SCRIPTS", Severity: Error,
		Purpose: "Checks that scripts may be run.",
		Why:     "Each claim is a script.",
	}, redisScripts},
	{Check{
		ID: "REDIS_POLICY", Severity: Error, Spec: []string{"DEDUP-031"},
		Purpose: "Checks that no record is evicted when memory is full: noeviction where Redis is the store, and where a database is behind it no policy that takes the keys of others first.",
		Why:     "Each record has an expiry, so that every policy but noeviction, volatile-* too, may take it: the effect of its key can happen a second time. With a database behind it a lost hint costs one question there.",
	}, redisPolicy},
	{Check{
		ID: "REDIS_MEMORY", Severity: Warning,
		Purpose: "Checks that a fifth of maxmemory is free.",
		Why:     "When it is full, claims fail with OOM under noeviction, and records go under any other policy.",
	}, redisMemory},
	{Check{
		ID: "REDIS_PERSISTENCE", Severity: Warning, Spec: []string{"DEDUP-031"},
		Purpose: "Says what a restart and a failover take back, and warns where Redis is the store and a restart takes all.",
		Why:     "A record that is gone does not stop the second effect. With a database behind it nothing is lost but speed.",
	}, redisPersistence},
	{Check{
		ID: "REDIS_CLUSTER", Severity: Error,
		Purpose: "Checks that all slots of a cluster are served, and says what does not work there.",
		Why:     "The hash tag of a key decides its node. Claims of keys whose slot nobody serves fail. A message with idempotency_key_previous has two keys, which may be on two nodes, and no script can claim both.",
	}, redisCluster},
	{Check{
		ID: "REDIS_CLOCK", Severity: Warning, Spec: []string{"DEDUP-028"},
		Purpose: "Checks that the clocks of this machine and of the server agree.",
		Why:     "Leases run on the server's clock, and how old a message is, on those of producers and consumers.",
	}, redisClock},
}

func redisVersion(ctx context.Context, s *Redis, r *report) error {
	version, err := s.fact(ctx, "redis_version")
	if err != nil {
		return err
	}
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < 6 {
		r.find("upgrade the server", "it is Redis %s", version)
	} else {
		r.ok("Redis %s", version)
	}
	return nil
}

func redisWritable(ctx context.Context, s *Redis, r *report) error {
	role, err := s.fact(ctx, "role")
	if err != nil {
		return err
	}
	if role == "slave" {
		r.find("connect to the primary: "+s.facts["master_host"]+":"+s.facts["master_port"], "it is a replica")
	}
	for _, name := range []string{"rdb_last_bgsave_status", "aof_last_write_status"} {
		if status := s.facts[name]; status != "" && status != "ok" {
			r.find("make room on its disk, and look at its log; then BGSAVE", "%s is %s", name, status)
		}
	}
	return nil
}

func redisScripts(ctx context.Context, s *Redis, r *report) error {
	err := s.client.Eval(ctx, "return 1", nil).Err()
	var refused redis.Error
	if err != nil && errors.As(err, &refused) {
		r.find("ACL SETUSER NAME +@scripting, where this is the service's user; otherwise run this with that one", "refused: %v", err)
		return nil
	}
	return err
}

func redisPolicy(ctx context.Context, s *Redis, r *report) error {
	policy, err := s.fact(ctx, "maxmemory_policy")
	if err != nil {
		return err
	}
	limit, err := s.number(ctx, "maxmemory")
	if err != nil {
		return err
	}
	const mend = "CONFIG SET maxmemory-policy noeviction, and write it to its config; or have a database behind it"
	switch {
	case policy == "noeviction":
		r.ok("noeviction")
	case s.hint && strings.HasPrefix(policy, "allkeys"):
		r.as(Warning, "CONFIG SET maxmemory-policy volatile-lru", "maxmemory-policy is %s: it takes keys of others too, where the server is shared", policy)
	case s.hint:
		r.ok("%s, with a database behind it", policy)
	case limit == 0:
		r.as(Warning, mend, "maxmemory-policy is %s, without effect until somebody sets maxmemory", policy)
	default:
		r.find(mend, "maxmemory-policy is %s", policy)
	}
	return nil
}

func redisMemory(ctx context.Context, s *Redis, r *report) error {
	used, err := s.number(ctx, "used_memory")
	if err != nil {
		return err
	}
	limit, err := s.number(ctx, "maxmemory")
	const mend = "CONFIG SET maxmemory to more, or keep records for a shorter time: one is about 324 bytes, a hint 229"
	switch {
	case err != nil:
		return err
	case limit == 0:
		r.note("maxmemory is 0: it grows until the system ends it. Of %d MB %d are used", mb(s.facts["total_system_memory"]), used>>20)
	case used*20 >= limit*19:
		r.as(Error, mend, "%d of %d MB are used", used>>20, limit>>20)
	case used*5 >= limit*4:
		r.find(mend, "%d of %d MB are used", used>>20, limit>>20)
	default:
		r.ok("%d of %d MB", used>>20, limit>>20)
	}
	return nil
}

func mb(bytes string) int64 {
	n, _ := strconv.ParseInt(bytes, 10, 64)
	return n >> 20
}

func redisPersistence(ctx context.Context, s *Redis, r *report) error {
	appends, err := s.fact(ctx, "aof_enabled")
	if err != nil {
		return err
	}
	if s.hint {
		r.ok("a database is behind it: nothing that Redis loses is lost")
		return nil
	}
	r.note("%s replicas follow, none of which is waited for: a failover takes back the last claims and successes", s.facts["connected_slaves"])
	if appends == "0" {
		r.find("CONFIG SET appendonly yes, and write it to its config; or have a database behind it", "appendonly is no: a restart takes back all since the last snapshot, or everything where there is none")
		return nil
	}
	sync, err := s.config(ctx, "appendfsync")
	switch {
	case err != nil:
		return err
	case sync == "no":
		r.find("CONFIG SET appendfsync everysec, or always", "appendfsync is no: a crash of the machine takes back about half a minute")
	case sync == "everysec":
		r.note("appendfsync is everysec: a crash of the machine takes back a second, and the effects of its keys can happen again; always does not, and costs a write to disk for each claim")
	default:
		r.ok("appendfsync is %s", sync)
	}
	return nil
}

func redisCluster(ctx context.Context, s *Redis, r *report) error {
	enabled, err := s.fact(ctx, "cluster_enabled")
	if err != nil {
		return err
	}
	if enabled != "1" {
		return r.nothing()
	}
	info, err := s.client.ClusterInfo(ctx).Result()
	if err != nil {
		return &unseen{err.Error(), "allow this user CLUSTER INFO: ACL SETUSER NAME +cluster|info"}
	}
	if !strings.Contains(info, "cluster_state:ok") {
		r.find("bring its nodes back, and look at CLUSTER SHARDS", "the cluster is not whole")
	}
	r.note("it is a Cluster: the service needs a cluster client, and messages with idempotency_key_previous are refused")
	return nil
}

func redisClock(ctx context.Context, s *Redis, r *report) error {
	before := time.Now()
	there, err := s.client.Time(ctx).Result()
	if err != nil {
		return &unseen{err.Error(), "allow this user TIME: ACL SETUSER NAME +time"}
	}
	return compareClocks(r, before, there, time.Now())
}
