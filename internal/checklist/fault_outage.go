package checklist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// redisDown cuts Redis off while messages come, twice each.
func redisDown(ctx context.Context, t *trial) error {
	all, err := t.fresh(ctx, 20)
	if err != nil {
		return err
	}
	began := time.Now()
	t.redis.setDown(true)
	defer t.redis.setDown(false)
	if err := t.send(ctx, append(all[:len(all):len(all)], all...)...); err != nil {
		return err
	}
	if err := t.untilDone(ctx, all); err != nil {
		if !errors.Is(err, errPatience) {
			return err
		}
		t.violate("WAITS", "without Redis %v", err)
	}
	t.injected("Redis was cut off at %s, for %v, while 20 messages came twice each", clock(began), time.Since(began).Round(time.Millisecond))
	t.redis.setDown(false)
	effects, err := t.effects(ctx, all)
	if err != nil {
		return err
	}
	t.seen("%d of 20 messages were done while it was away; then they came once more", len(effects))
	if err := t.send(ctx, all...); err != nil {
		return err
	}
	return t.settle(ctx)
}

// outage takes away everything that the service talks to, but for Kafka where there is no command for it.
func outage(ctx context.Context, t *trial) error {
	before, err := t.fresh(ctx, 20)
	if err != nil {
		return err
	}
	during, err := t.fresh(ctx, 20)
	if err != nil {
		return err
	}
	if err := t.send(ctx, before[:10]...); err != nil {
		return err
	}
	began := time.Now()
	away := t.cut(true)
	defer t.cut(false)
	if err := t.send(ctx, append(before[10:], during...)...); err != nil {
		return err
	}
	start, err := t.stopKafka(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = start(context.WithoutCancel(ctx)) }() // where it was not, it is the error before that is told
	if t.adapter.Kafka.Stop != "" {
		away = append(away, "Kafka")
	}
	for time.Since(began) < t.options.Outage {
		if !pause(ctx, min(time.Second, t.options.Outage-time.Since(began))) {
			return ctx.Err()
		}
		t.progress(fmt.Sprintf("%s of %s", length(time.Since(began).Round(time.Second)), length(t.options.Outage)))
		if err := t.keepTrying(ctx); err != nil {
			return err
		}
	}
	if err := start(ctx); err != nil {
		return err
	}
	t.cut(false)
	ended := time.Now()
	t.injected("%s away from %s on, for %s, with 40 messages under way", strings.Join(away, ", "), clock(began), length(ended.Sub(began).Round(time.Second)))
	t.patience += t.options.Outage
	if err := t.settle(ctx); err != nil {
		return err
	}
	t.seen("all was done %v after it was over", time.Since(ended).Round(100*time.Millisecond))
	return nil
}

// stopKafka takes the brokers away, where there is a command for it. The function that it returns brings them back, once.
func (t *trial) stopKafka(ctx context.Context) (start func(context.Context) error, err error) {
	back := t.adapter.Kafka.Stop == ""
	start = func(ctx context.Context) error {
		if back {
			return nil
		}
		back = true
		return shell(ctx, t.adapter, t.adapter.Kafka.Start, t.values)
	}
	if back {
		return start, nil
	}
	return start, shell(ctx, t.adapter, t.adapter.Kafka.Stop, t.values)
}

// cut takes away what is downstream, or brings it back, and says what that is.
func (t *trial) cut(down bool) (away []string) {
	if t.down != nil {
		away = append(away, "the downstream")
		if down {
			t.down.setAll(&rule{status: 503})
		} else {
			t.down.setAll(nil)
		}
	}
	if t.db != nil {
		away = append(away, "PostgreSQL")
		t.db.proxy.setDown(down)
	}
	if t.redis != nil {
		away = append(away, "Redis")
		t.redis.setDown(down)
	}
	return away
}

// keepTrying starts again what has ended, as keep does; in an outage a service may be unable to start.
func (t *trial) keepTrying(ctx context.Context) error {
	for n, i := range t.service {
		if !i.unwanted() {
			continue
		}
		t.ownEnds++
		t.named++
		again, err := launch(t.adapter, t.adapter.Service, fmt.Sprintf("%s-%d", t.adapter.Name, t.named), t.logs, t.values)
		if err != nil {
			return err
		}
		t.service[n] = again
	}
	return ctx.Err()
}

// databaseFailover kills the primary while handlers are in the middle of their transactions, and promotes its
// synchronous standby.
func databaseFailover(ctx context.Context, t *trial) error {
	standby := t.adapter.Postgres.Standby
	home := t.db
	other, err := openDatabase(ctx, t.adapter, standby.URL, t.values)
	if err != nil {
		return err
	}
	if len(other.hosts) < 2 {
		other.close(ctx)
		return errors.New("postgres.standby.url has to name the primary and its standby: postgres://user@primary:5432,standby:5432/postgres")
	}
	if err := t.move(ctx, other); err != nil {
		return err
	}
	defer func() {
		ctx := context.WithoutCancel(ctx)
		_ = t.move(ctx, home) // the next fault says what is wrong with it
		other.close(ctx)
		if standby.Restore != "" {
			_ = shell(ctx, t.adapter, standby.Restore, t.values)
		}
	}()
	if err := t.failover(ctx, standby); err != nil {
		return err
	}
	return t.judge(ctx) // here: its effects are on this server
}

func (t *trial) failover(ctx context.Context, standby *Standby) error {
	const n = 8
	_, g, err := t.inHandler(ctx, n, n/2, false)
	if err != nil {
		return err
	}
	defer g.open()
	held, err := g.waiting(ctx)
	if err != nil {
		return err
	}
	killed := time.Now()
	if err := shell(ctx, t.adapter, standby.Kill, t.values); err != nil {
		return err
	}
	if err := shell(ctx, t.adapter, standby.Promote, t.values); err != nil {
		return err
	}
	t.db.proxy.turn(t.db.hosts[1])
	if err := t.db.connect(ctx); err != nil {
		return err
	}
	promoted := time.Now()
	g.open()
	t.injected("with %s in the middle (%s) the primary was killed at %s, and its standby promoted %v later", plural(held, "handler", "handlers"), g, clock(killed), promoted.Sub(killed).Round(time.Millisecond))
	t.patience += t.adapter.Lease.Duration
	if err := t.settle(ctx); err != nil {
		return err
	}
	t.seen("all was done %v after the promotion", time.Since(promoted).Round(100*time.Millisecond))
	return nil
}

// move has the service work on another database.
func (t *trial) move(ctx context.Context, to *database) error {
	for _, i := range append(t.service, t.beside...) {
		i.end(20 * time.Second)
	}
	t.service, t.beside = nil, nil
	t.db = to
	t.values["dsn"] = to.dsn
	for n, what := range t.adapter.Beside {
		if err := t.startBeside(ctx, n, what); err != nil {
			return err
		}
	}
	_, err := t.startService(ctx)
	return err
}
