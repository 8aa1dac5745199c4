//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	goredis "github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

// worker is one process of a role.
type worker struct {
	name        string // consumer-plain-1
	topic       string // of a consumer
	incarnation int64  // of all starts of all workers
	rate        int    // of a producer
	bug         plant.Bug
	log         string

	chance *chance
	kafka  *kafka.Broker
	broker broker.Broker // with the bug, where it is one of the broker's
	pool   *pgxpool.Pool // for the store
	ledger *pgxpool.Pool // for what is observed
	store  store.Full[pgx.Tx]
}

func (w *worker) id() string { return fmt.Sprintf("%s#%d", w.name, w.incarnation) }

func parseWorker(role string, arguments []string) (*worker, error) {
	w := &worker{}
	flags := flag.NewFlagSet(role, flag.ContinueOnError)
	flags.StringVar(&w.name, "name", role, "")
	flags.StringVar(&w.topic, "topic", "", "")
	flags.Int64Var(&w.incarnation, "incarnation", 0, "")
	flags.IntVar(&w.rate, "rate", 50, "")
	flags.StringVar(&w.log, "log", os.DevNull, "")
	bug := flags.String("plant", "", "")
	seed := flags.Uint64("seed", 1, "")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	w.bug = plant.Bug(*bug)
	w.chance = &chance{r: rand.New(rand.NewPCG(*seed, uint64(w.incarnation)))}
	return w, nil
}

// open connects to the servers of the environment. Nothing is asked of them yet.
func (w *worker) open(ctx context.Context) (err error) {
	w.kafka, err = kafka.Open(kafka.Config{
		Brokers: strings.Split(os.Getenv("KAFKA_CLUSTER_BROKERS"), ","), ClientID: w.name, SessionTimeout: session,
	})
	if err != nil {
		return err
	}
	w.broker = planted{plant.Broker(w.bug, w.kafka), plant.Publisher(w.bug, w.kafka)}
	if w.pool, err = w.connect(ctx, 14); err != nil {
		return err
	}
	if w.ledger, err = w.connect(ctx, 3); err != nil {
		return err
	}
	truth, err := postgres.New(w.pool, postgres.Config{})
	if err != nil {
		return err
	}
	o, err := goredis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		return err
	}
	client := goredis.NewClient(o)
	w.store = truth
	if w.topic == tieredTopic {
		w.store = tiered.New(redis.New(client, redis.Config{}).Hints(), store.Full[pgx.Tx](truth), tiered.Config{})
	}
	w.store = plant.Store(w.bug, w.store, sharedHint{client})
	return nil
}

func (w *worker) connect(ctx context.Context, most int32) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(os.Getenv("STANDBY_URL"))
	if err != nil {
		return nil, err
	}
	c.MaxConns = most
	c.ConnConfig.ConnectTimeout = 5 * time.Second
	c.ConnConfig.RuntimeParams["application_name"] = w.name
	return pgxpool.NewWithConfig(ctx, c)
}

func (w *worker) close() {
	_ = w.kafka.Close()
	w.pool.Close()
	w.ledger.Close()
}

// planted is a broker with a bug.
type planted struct {
	broker.Broker
	publisher broker.Publisher
}

func (p planted) Publish(ctx context.Context, ms []broker.Message) []error {
	return p.publisher.Publish(ctx, ms)
}

// sharedHint is what plant.HintBeforeCommit trusts.
type sharedHint struct{ client *goredis.Client }

func (h sharedHint) Set(scope, key string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := h.client.Set(ctx, "plant:"+scope+":"+key, "1", time.Hour).Err(); err != nil {
		slog.Warn("planted hint not set", "error", err)
	}
}

func (h sharedHint) Has(scope, key string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return h.client.Exists(ctx, "plant:"+scope+":"+key).Val() == 1
}

// chance is a source of chance for several goroutines.
type chance struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (c *chance) upTo(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

// in says yes n times in 10,000.
func (c *chance) in(n int) bool { return c.upTo(10_000) < n }

func (c *chance) between(a, b time.Duration) time.Duration {
	return a + time.Duration(c.upTo(int((b-a)/time.Millisecond)+1))*time.Millisecond
}

// boundedLog is a file that begins again where it would be too long, and keeps the one before.
type boundedLog struct {
	path  string
	limit int64

	mu   sync.Mutex
	file *os.File
	size int64
}

func (l *boundedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size > l.limit {
		l.file.Close()
		l.file = nil
	}
	if l.file == nil {
		if info, err := os.Stat(l.path); err == nil && info.Mode().IsRegular() && info.Size() > l.limit {
			if err := os.Rename(l.path, l.path+".before"); err != nil {
				return 0, err
			}
		}
		file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return 0, err
		}
		info, err := file.Stat()
		if err != nil {
			return 0, err
		}
		l.file, l.size = file, info.Size()
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
