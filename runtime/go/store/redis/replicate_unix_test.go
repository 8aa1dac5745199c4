//go:build unix

package redis

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/store"
)

func TestForgettingWaitsForReplicas(t *testing.T) {
	t.Parallel()
	primary, _ := start(t)
	replica, process := start(t)
	if err := replica.SlaveOf(t.Context(), "127.0.0.1", strings.TrimPrefix(primary.Options().Addr, "127.0.0.1:")).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the replica is in step", func(ctx context.Context) bool {
		facts := parseInfo(primary.Info(ctx, "replication").Val())
		return facts["connected_slaves"] == "1" && strings.Contains(facts["slave0"], "state=online")
	})
	h := New(primary, Config{}).Hints()
	look(t, h, claimOf("a", "w1"))
	succeeded(t, h, "a", "w1", 1)
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := h.Forgotten(ctx, []store.Lease{{Scope: "s", Key: "a", Fence: 2}}); err == nil {
		t.Error("a failover to the replica would bring the key back, and nobody is told")
	}
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	forgotten(t, h, "a", 2)
	if state := replica.HGet(t.Context(), "idem:hint:{s:a}", "st").Val(); state != "" {
		t.Errorf("the replica still has the state %q", state)
	}
}
