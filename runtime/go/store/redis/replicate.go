package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// replicated returns once the replicas have what the calls wrote, so that a failover does not bring back what
// they removed. It runs the last call of each node again, which changes nothing, on a connection that then
// waits: replication has one order. Where there are no replicas, or the server does not say, it is nil.
func (r runner) replicated(ctx context.Context, s *script, calls []call) error {
	nodes, err := r.nodesOf(ctx, calls)
	if err != nil {
		return err
	}
	for node, last := range nodes {
		n, err := replicas(ctx, node)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		conn := node.Conn()
		defer conn.Close()
		if err := conn.Eval(ctx, s.text, last.keys, last.args...).Err(); err != nil {
			return err
		}
		timeout := 5 * time.Second
		if deadline, limited := ctx.Deadline(); limited {
			timeout = max(time.Until(deadline), time.Millisecond)
		}
		got, err := conn.Wait(ctx, n, timeout).Result()
		if err != nil {
			return err
		}
		if got < int64(n) {
			return fmt.Errorf("of %d replicas %d have it after %v", n, got, timeout.Round(time.Millisecond))
		}
	}
	return nil
}

func (r runner) nodesOf(ctx context.Context, calls []call) (map[*redis.Client]call, error) {
	nodes := make(map[*redis.Client]call)
	for _, x := range calls {
		switch c := r.client.(type) {
		case *redis.Client:
			nodes[c] = x
		case *redis.ClusterClient:
			node, err := c.MasterForKey(ctx, x.keys[0])
			if err != nil {
				return nil, err
			}
			nodes[node] = x
		}
	}
	return nodes, nil
}

// replicas is how many a node has connected.
func replicas(ctx context.Context, node *redis.Client) (int, error) {
	info, err := node.Info(ctx, "replication").Result()
	var refused redis.Error
	if errors.As(err, &refused) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(parseInfo(info)["connected_slaves"])
	return n, nil
}
