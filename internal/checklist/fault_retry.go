package checklist

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// early is by how much a retry may come sooner than computed: next_retry_time is in milliseconds, on another clock.
const early = 50 * time.Millisecond

// unavailableDownstream has one message answered 503 and one not at all, until they end as dead letters.
func unavailableDownstream(ctx context.Context, t *trial) error {
	all, err := t.fresh(ctx, 6)
	if err != nil {
		return err
	}
	refused, silent := all[1], all[4]
	never := make(chan struct{})
	defer close(never)
	t.down.set(refused.id, &rule{status: 503})
	t.down.set(silent.id, &rule{hold: never})
	for _, m := range []*made{refused, silent} {
		t.ends[m.key] = dead
		delays, err := delaysOf(m)
		if err != nil {
			return err
		}
		for _, d := range delays {
			t.patience += d + t.adapter.Late.Duration
		}
	}
	// A handler that hears nothing takes all of its time at each try, and a lease is longer than that.
	t.patience += time.Duration(silent.policy.MaxRetry+1) * t.adapter.Lease.Duration
	t.injected("the downstream answers 503 to %s, and nothing to %s; 4 other messages are fine", refused.id, silent.id)
	if err := t.send(ctx, all...); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	t.judgeDelays(refused, "503")
	t.judgeDelays(silent, "no answer")
	return nil
}

// delaysOf computes the delays of a message that always fails.
func delaysOf(m *made) ([]time.Duration, error) {
	delays := make([]time.Duration, m.policy.MaxRetry)
	for n := range delays {
		d, err := idem.Backoff(m.key, int32(n), &m.policy, 0)
		if err != nil {
			return nil, err
		}
		delays[n] = time.Duration(d.Ms()) * time.Millisecond
	}
	return delays, nil
}

// judgeDelays compares when calls came with when they had to.
func (t *trial) judgeDelays(m *made, why string) {
	calls := t.down.of(m.id)
	delays, err := delaysOf(m)
	if err != nil {
		t.violate("DELAY", "%s: %v", m.key, err)
		return
	}
	if len(calls) != len(delays)+1 {
		t.violate("TRIES", "%s: %s, and with max_retry %d there have to be %d", m.key, plural(len(calls), "call", "calls"), m.policy.MaxRetry, len(delays)+1)
	}
	text := fmt.Sprintf("%s (%s): %s", m.id, why, plural(len(calls), "call", "calls"))
	for n := range min(len(calls)-1, len(delays)) {
		came := calls[n+1].begin.Sub(calls[n].end)
		text += fmt.Sprintf("; retry %d after %v, computed %v", n+1, came.Round(time.Millisecond), delays[n])
		switch {
		case calls[n].end.IsZero():
			t.violate("DELAY", "%s: retry %d came while the call before it was waiting", m.key, n+1)
		case came < delays[n]-early:
			t.violate("DELAY", "%s: retry %d came after %v, and the backoff is %v", m.key, n+1, came.Round(time.Millisecond), delays[n])
		case came > delays[n]+t.adapter.Late.Duration:
			t.violate("DELAY", "%s: retry %d came after %v, more than %v later than the backoff of %v", m.key, n+1, came.Round(time.Millisecond), t.adapter.Late, delays[n])
		}
	}
	t.proof("%s", text)
}

// schedulerTwice runs all of the service twice while messages fail and are tried again.
func schedulerTwice(ctx context.Context, t *trial) error {
	const n = 6
	if _, err := t.startService(ctx); err != nil {
		return err
	}
	for i, what := range t.adapter.Beside {
		if err := t.startBeside(ctx, i, what); err != nil {
			return err
		}
	}
	all, err := t.fresh(ctx, n)
	if err != nil {
		return err
	}
	fails := min(int(all[0].policy.MaxRetry), 2)
	if fails == 0 {
		t.skip("the message's policy allows no retry")
		return nil
	}
	for _, m := range all {
		t.down.set(m.id, &rule{status: 503, first: fails})
	}
	t.injected("two processes of everything; %d messages are answered 503 %s, so that both schedulers want each of them", n, plural(fails, "time", "times"))
	if err := t.send(ctx, all...); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	calls := 0
	for _, m := range all {
		of := t.down.of(m.id)
		calls += len(of)
		if len(of) < fails+1 {
			t.violate("NOT INJECTED", "%s: %s", m.key, plural(len(of), "call", "calls"))
		}
	}
	t.seen("%d calls of the downstream, of %d that are needed", calls, n*(fails+1))
	if calls > n*(fails+1) {
		t.violate("TWICE", "%d retries came more than once", calls-n*(fails+1))
	}
	t.lessBeside()
	_, err = t.one(ctx)
	return err
}

// lessBeside ends the second ones.
func (b *bench) lessBeside() {
	for len(b.beside) > len(b.adapter.Beside) {
		last := b.beside[len(b.beside)-1]
		last.end(20 * time.Second)
		b.beside = b.beside[:len(b.beside)-1]
	}
}
