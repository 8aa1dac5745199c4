package idemtest

import (
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Run lets time pass until nothing is left to do: all messages are acknowledged, and no retry, parked message or
// message of the outbox waits.
func (w *World) Run() {
	w.t.Helper()
	if err := w.run(); err != nil {
		w.t.Fatalf("idemtest: %v", err)
	}
}

func (w *World) run() error {
	w.mu.Lock()
	none := len(w.processes) == 0
	w.mu.Unlock()
	if none {
		w.start()
	}
	step := 50 * time.Millisecond
	for began := time.Now(); ; step = min(step*3/2, time.Minute) {
		w.Advance(step)
		w.mu.Lock()
		failure := w.failure
		w.mu.Unlock()
		if failure != nil {
			return failure
		}
		left, err := w.left()
		if err != nil || left == "" {
			return err
		}
		if time.Since(began) > w.config.Limit {
			return fmt.Errorf("the world does not come to rest within %v: %s", w.config.Limit, left)
		}
	}
}

func (w *World) check() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil {
		w.t.Fatalf("idemtest: %v", w.failure)
	}
}

// Advance lets an amount of time pass: retries fall due, leases run out.
func (w *World) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// left says what is still to be done; empty: nothing.
func (w *World) left() (string, error) {
	var left []string
	w.mu.Lock()
	topics := slices.Clone(w.topics)
	for _, p := range w.processes {
		if time.Now().Before(p.pausedUntil) {
			left = append(left, fmt.Sprintf("process %d is stopped", p.n))
		}
	}
	w.mu.Unlock()
	for _, origin := range topics {
		for _, topic := range []string{origin, broker.RetryTopic(origin, w.config.Consumer.Scope)} {
			if n := w.unread(topic); n > 0 {
				left = append(left, fmt.Sprintf("%d messages of topic %s are not acknowledged", n, topic))
			}
		}
	}
	counts, err := w.store.store.CountRetries(w.t.Context())
	if err != nil {
		return "", err
	}
	stats, err := w.store.store.OutboxStats(w.t.Context())
	if err != nil {
		return "", err
	}
	for _, c := range []struct {
		n    int64
		what string
	}{{counts.Pending, "retries wait"}, {counts.Parked, "messages are parked"}, {stats.Pending + stats.Failed, "messages are in the outbox"}} {
		if c.n > 0 {
			left = append(left, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(left, ", "), nil
}

func (w *World) unread(topic string) (n int) {
	for _, m := range w.broker.Messages(topic) {
		committed, _ := w.broker.Committed(w.config.Consumer.Group, broker.TopicPartition{Topic: topic, Partition: m.Partition})
		if m.Offset >= committed {
			n++
		}
	}
	return n
}
