package checklist

import (
	"context"
	"fmt"
	"time"
)

// untilHeld waits until a gate holds so many handlers.
func (t *trial) untilHeld(ctx context.Context, g gate, n int) error {
	return t.until(ctx, func() (string, error) {
		held, err := g.waiting(ctx)
		if err != nil || held >= n {
			return "", err
		}
		return fmt.Sprintf("%d of %d handlers are in their middle", held, n), nil
	})
}

// inHandler sends messages of which the first ones are held in mid-handler, and waits until one is. The gate is the
// caller's to open.
func (t *trial) inHandler(ctx context.Context, n, first int, once bool) (all []*made, g gate, err error) {
	if all, err = t.fresh(ctx, n); err != nil {
		return nil, nil, err
	}
	if g, err = t.hold(ctx, all[:first], once); err != nil {
		return nil, nil, err
	}
	if err = t.send(ctx, all...); err == nil {
		err = t.untilHeld(ctx, g, 1)
	}
	if err != nil {
		g.open()
	}
	return all, g, err
}

// rebalanceInHandler has an instance join, and one leave, while handlers are in their middle.
func rebalanceInHandler(ctx context.Context, t *trial) error {
	const n = 8
	for _, joins := range []bool{true, false} {
		_, g, err := t.inHandler(ctx, n, n/2, false)
		if err != nil {
			return err
		}
		defer g.open()
		held, err := g.waiting(ctx)
		if err != nil {
			return err
		}
		before := len(t.members(ctx))
		if err := t.rebalance(ctx, g, joins); err != nil {
			return err
		}
		word := "left"
		if joins {
			word = "joined"
		}
		t.injected("with %s in the middle (%s) an instance %s", plural(held, "handler", "handlers"), g, word)
		if err := t.settle(ctx); err != nil {
			return err
		}
		after := 0
		for try := 0; after == 0 && try < 50; try++ { // while it rebalances it has none
			after = len(t.members(ctx))
			pause(ctx, 100*time.Millisecond)
		}
		t.seen("the group had %s before and %d after", plural(before, "member", "members"), after)
	}
	return nil
}

// rebalance starts an instance, or ends one; the gate opens meanwhile, since who drains waits for its handlers.
func (t *trial) rebalance(ctx context.Context, g gate, joins bool) error {
	late := time.AfterFunc(2*time.Second, g.open)
	defer func() {
		late.Stop()
		g.open()
	}()
	if joins {
		_, err := t.startService(ctx)
		return err
	}
	_, err := t.one(ctx)
	return err
}

// zombieWorker stops a process in mid-handler for longer than its lease and its session; another does its work, and
// then it goes on.
func zombieWorker(ctx context.Context, t *trial) error {
	first, err := t.one(ctx)
	if err != nil {
		return err
	}
	all, g, err := t.inHandler(ctx, 1, 1, true)
	if err != nil {
		return err
	}
	defer g.open()
	if err := stopGroup(first.command.Process); err != nil {
		return err
	}
	defer continueGroup(first.command.Process)
	stopped := time.Now()
	t.injected("SIGSTOP of %s in mid-handler at %s (%s)", first.name, clock(stopped), g)
	if t.down == nil {
		g.open() // the second one needs the lock
	}
	second, err := t.startService(ctx)
	if err != nil {
		return err
	}
	t.patience += t.adapter.Lease.Duration + t.adapter.Session.Duration
	if err := t.untilDone(ctx, all); err != nil {
		return err
	}
	took := time.Since(stopped)
	pause(ctx, max(t.adapter.Lease.Duration-took, 0))
	t.seen("%s did the message %v after the stop; %s went on %v after it, and its lease is %v", second.name, took.Round(time.Millisecond),
		first.name, time.Since(stopped).Round(time.Millisecond), t.adapter.Lease)
	continueGroup(first.command.Process)
	g.open()
	pause(ctx, 2*time.Second) // in which it would write
	if t.down != nil {
		t.proof("%s: %d calls of the downstream, with %s", all[0].id, len(t.down.of(all[0].id)), keysOf(t.down.of(all[0].id)))
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	_, err = t.one(ctx)
	return err
}

// keysOf says whether calls had one idempotency key.
func keysOf(calls []call) string {
	keys := map[string]bool{}
	for _, c := range calls {
		keys[c.key] = true
	}
	if keys[""] {
		return "no Idempotency-Key"
	}
	return plural(len(keys), "Idempotency-Key", "different Idempotency-Keys")
}

// handlerKillsProcess kills the process each time a message is in its handler, until the message is given up.
func handlerKillsProcess(ctx context.Context, t *trial) error {
	const most = 12
	all, err := t.fresh(ctx, 5)
	if err != nil {
		return err
	}
	deadly := all[2]
	deadly.Headers = set(deadly.Headers, "max_retry", "0") // fewer deaths to wait for
	if err := deadly.settle(); err != nil {
		return err
	}
	t.ends[deadly.key] = dead
	t.patience += 2 * (t.adapter.Lease.Duration + t.adapter.Session.Duration)
	g, err := t.hold(ctx, []*made{deadly}, false)
	if err != nil {
		return err
	}
	defer g.open()
	if err := t.send(ctx, all...); err != nil {
		return err
	}
	deaths := 0
	for {
		over, err := t.killOnce(ctx, g, deadly)
		if err != nil {
			return err
		}
		if over {
			break
		}
		deaths++
		if deaths == most {
			t.violate("CRASH LOOP", "%s: it has killed its process %d times, and is not given up", deadly.key, deaths)
			t.ends[deadly.key] = done
			break
		}
	}
	g.open()
	if _, err := t.one(ctx); err != nil {
		return err
	}
	t.injected("kill -9 each time %s was in its handler (%s): %s", deadly.id, g, plural(deaths, "time", "times"))
	if deaths == 0 {
		t.violate("NOT INJECTED", "%s: it was given up before it killed a process", deadly.key)
	}
	t.seen("it was sent with max_retry %d, whatever the others have, so that fewer deaths are needed, and was given up after %s", deadly.policy.MaxRetry, plural(deaths, "death", "deaths"))
	return t.settle(ctx)
}

// killOnce kills the service when the message is in its handler; over says that the message has ended first.
func (t *trial) killOnce(ctx context.Context, g gate, deadly *made) (over bool, err error) {
	i, err := t.one(ctx)
	if err != nil {
		return false, err
	}
	err = t.until(ctx, func() (string, error) {
		held, err := g.waiting(ctx)
		if err != nil || held > 0 {
			return "", err
		}
		s, err := t.look(ctx, []*made{deadly})
		if err != nil {
			return "", err
		}
		over = len(s.letters[deadly.key]) > 0
		if over {
			return "", nil
		}
		return deadly.id + " is neither in a handler nor a dead letter", nil
	})
	if err != nil || over {
		return over, err
	}
	i.kill()
	return false, t.until(ctx, func() (string, error) {
		held, err := g.waiting(ctx)
		if err != nil || held == 0 {
			return "", err
		}
		return "the handler of a process that was killed is still there", nil
	})
}
