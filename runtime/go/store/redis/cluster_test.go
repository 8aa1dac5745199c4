package redis

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// start starts a node of the redis-server that is installed.
func start(t *testing.T, arguments ...string) (*redis.Client, *os.Process) {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("IDEM_TEST_REAL") == "1" {
			t.Fatal("IDEM_TEST_REAL=1, and redis-server is not installed")
		}
		t.Skip("redis-server is not installed")
	}
	port := freePort(t)
	command := exec.Command(binary, append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, arguments...)...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	node := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	t.Cleanup(func() { _ = node.Close() })
	eventually(t, "node "+port+" answers", func(ctx context.Context) bool { return node.Ping(ctx).Err() == nil })
	return node, command.Process
}

// cluster is a Cluster of two nodes.
func cluster(t *testing.T) *redis.ClusterClient {
	t.Helper()
	var addresses, buses []string
	var nodes []*redis.Client
	for n := range 2 {
		bus := freePort(t)
		node, _ := start(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "5000")
		if err := node.Do(context.Background(), "CLUSTER", "ADDSLOTSRANGE", n*8192, n*8192+8191).Err(); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			host, first, _ := net.SplitHostPort(addresses[0])
			if err := node.Do(context.Background(), "CLUSTER", "MEET", host, first, buses[0]).Err(); err != nil {
				t.Fatal(err)
			}
		}
		nodes, addresses, buses = append(nodes, node), append(addresses, node.Options().Addr), append(buses, bus)
	}
	for _, node := range nodes {
		eventually(t, "the cluster is whole", func(ctx context.Context) bool {
			info, err := node.ClusterInfo(ctx).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_ok:16384")
		})
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func eventually(t *testing.T, what string, holds func(ctx context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within 20 s", what)
		case <-tick.C:
		}
	}
}

func TestEveryStepRunsOnACluster(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	s := New(c, Config{})
	ctx := t.Context()
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	var claims []store.Claim
	var keys []string
	for i := range 200 { // of both nodes
		key := fmt.Sprintf("payments.paid:v1:{%d}", i)
		keys = append(keys, key)
		claims = append(claims, claimOf(key, "w1"))
	}
	grants, err := s.Claim(ctx, claims)
	if err != nil {
		t.Fatal(err)
	}
	var renewals []store.Renewal
	var completions []store.Completion
	var settlements []store.Settlement
	for i, g := range grants {
		if g.Kind != idem.AdmitProceed || g.Lease.Key != keys[i] {
			t.Fatalf("claim %d: %+v", i, g)
		}
		renewals = append(renewals, store.Renewal{Lease: g.Lease, For: time.Hour})
		if i%2 == 0 {
			completions = append(completions, store.Completion{Lease: g.Lease})
		} else {
			settlements = append(settlements, store.Settlement{Lease: g.Lease, State: idem.StateDead})
		}
	}
	renewed, err := s.Renew(ctx, renewals)
	all(t, "renew", renewed, err)
	done, err := s.Complete(ctx, completions)
	all(t, "complete", done, err)
	settled, err := s.Settle(ctx, settlements)
	for _, x := range settled {
		if x != store.SettledWritten {
			t.Fatalf("settle: %v", x)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	records, err := s.Records(ctx, "s", keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if want := []idem.State{idem.StateSuccess, idem.StateDead}[i%2]; r == nil || r.State != want {
			t.Fatalf("record %d: %+v", i, r)
		}
	}
	if n, err := s.Forget(ctx, "s", keys); err != nil || n != len(keys) {
		t.Fatal(n, err)
	}
	h := s.Hints()
	if err := h.Forgotten(ctx, []store.Lease{{Scope: "s", Key: keys[0]}, {Scope: "s", Key: keys[1], Fence: 3}, {Scope: "s", Key: keys[2]}}); err != nil {
		t.Fatal(err)
	}
	if answers, err := h.Look(ctx, claims); err != nil || len(answers) != len(claims) {
		t.Fatal(answers, err)
	}

	node := redis.NewClient(&redis.Options{Addr: c.Options().Addrs[0]})
	defer node.Close()
	wantError(t, New(node, Config{}).Check(ctx), ErrClusterClient, "check redis: ")
}

func all(t *testing.T, what string, answers []bool, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for i, yes := range answers {
		if !yes {
			t.Fatalf("%s %d: no", what, i)
		}
	}
}
