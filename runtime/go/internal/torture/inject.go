//go:build unix

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// injector does what a schedule says, and counts what was done.
type injector struct {
	processes *processes
	servers   *servers
	report    func(format string, arguments ...any)

	servicing sync.Mutex // one fault of the servers at a time, but for the brokers of one
	promoted  bool

	mu    sync.Mutex
	done  map[string]int
	wrong []string // faults that could not be injected, or taken back
}

// run returns once all faults are taken back.
func (n *injector) run(ctx context.Context, faults []fault) {
	var all sync.WaitGroup
	begin := time.Now()
	for _, f := range faults {
		sleep(ctx, time.Until(begin.Add(f.at)))
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			if err := n.inject(ctx, f); err != nil {
				n.mu.Lock()
				defer n.mu.Unlock()
				n.wrong = append(n.wrong, fmt.Sprintf("%v: %v", f, err))
			}
		})
	}
	all.Wait()
}

func (n *injector) count(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done[what]++
}

func (n *injector) inject(ctx context.Context, f fault) error {
	switch f.kind {
	case kill:
		if n.processes.kill(ctx, f.target, f.length) {
			n.count("kill " + f.target[:strings.IndexByte(f.target, '-')])
		}
		return nil
	case pause:
		if n.processes.pause(ctx, f.target, f.length) {
			n.count("pause " + f.target[:strings.IndexByte(f.target, '-')])
		}
		return nil
	case rebalance:
		n.count("rebalance")
		return n.rebalance(ctx, f)
	case flush:
		n.count("redis flush")
		o, err := goredis.ParseURL(os.Getenv("REDIS_URL"))
		if err != nil {
			return err
		}
		client := goredis.NewClient(o)
		defer client.Close()
		if err := client.FlushAll(ctx).Err(); err != nil {
			slog.Debug("flush", "error", err) // it is down at this moment
		}
		return nil
	}
	n.servicing.Lock()
	defer n.servicing.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	return n.disturb(ctx, f)
}

// disturb does something to a server, and takes it back.
func (n *injector) disturb(ctx context.Context, f fault) error {
	do := func(arguments ...string) error {
		_, err := n.servers.run(ctx, arguments...)
		return err
	}
	switch f.kind {
	case brokers:
		for _, node := range strings.Split(f.target, "") {
			n.count("kill broker")
			if err := do("kill", "kafka-cluster:"+node); err != nil {
				return err
			}
		}
		sleep(ctx, f.length)
		for _, node := range strings.Split(f.target, "") {
			if err := do("restart", "kafka-cluster:"+node); err != nil {
				return err
			}
		}
	case database:
		node := "standby:1"
		if n.promoted {
			node = "standby:2"
		}
		if f.hard {
			n.count("kill postgresql")
			if err := do("kill", node); err != nil {
				return err
			}
			sleep(ctx, f.length)
		} else {
			n.count("restart postgresql")
		}
		return do("restart", node)
	case standby:
		if n.promoted {
			return nil
		}
		n.count("kill standby")
		if err := do("kill", "standby:2"); err != nil {
			return err
		}
		sleep(ctx, f.length)
		return do("restart", "standby:2")
	case promote:
		if err := n.replicated(ctx); err != nil {
			return err
		}
		n.count("promote standby")
		n.promoted = true
		if err := do("kill", "standby:1"); err != nil {
			return err
		}
		return do("promote")
	case redisKill:
		n.count("kill redis")
		if err := do("kill", "redis"); err != nil {
			return err
		}
		sleep(ctx, f.length)
		return do("restart", "redis")
	}
	return nil
}

// replicated waits until the standby has all that is visible on the primary: what a primary shows after a
// restart may not have been confirmed by the standby yet, and no failover could keep it.
func (n *injector) replicated(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		var caught bool
		c, err := pgx.Connect(ctx, os.Getenv("STANDBY_URL"))
		if err == nil {
			err = c.QueryRow(ctx, `SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync' AND flush_lsn >= pg_current_wal_lsn() - 65536::numeric`).Scan(&caught)
			_ = c.Close(ctx)
		}
		if caught {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the standby does not catch up: %w", err)
		}
		sleep(ctx, 200*time.Millisecond)
	}
}

// rebalance joins a group, holds what it is given without reading it, and leaves.
func (n *injector) rebalance(ctx context.Context, f fault) error {
	b, err := kafka.Open(kafka.Config{
		Brokers: strings.Split(os.Getenv("KAFKA_CLUSTER_BROKERS"), ","), ClientID: "intruder", SessionTimeout: session,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	g, err := b.Group(ctx, groupOf[f.target], topicsOf(f.target))
	if err != nil {
		return nil // the cluster is down at this moment
	}
	defer g.Close()
	generation, err := g.Join(ctx)
	if err != nil {
		return nil
	}
	sleep(ctx, f.length)
	return generation.Close()
}
