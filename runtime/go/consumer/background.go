package consumer

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/cleaner"
)

// backgrounds are the tasks beside the deliveries, by name.
func (c *Consumer) backgrounds() map[string]func(context.Context) error {
	tasks := make(map[string]func(context.Context) error)
	for i, task := range c.config.Background {
		tasks[fmt.Sprintf("Background[%d]", i)] = task
	}
	if c.config.Shadow {
		return tasks
	}
	if !c.config.NoCleaner {
		tasks["cleaner"] = c.clean
	}
	if c.audit != nil {
		tasks["audit"] = c.writeCounts
	}
	if c.scheduler != nil {
		tasks["retry scheduler"] = c.scheduler.Run
	}
	return tasks
}

// schedule makes the scheduler of msg_retry, where there is to be one: also where Delays takes the retries, since dead
// letters of the table are redriven by it.
func (c *Consumer) schedule() error {
	retries, ok := c.store.(store.Retries)
	if !ok || c.config.NoScheduler || c.config.Shadow || !c.store.FollowUps() {
		return nil
	}
	var err error
	c.scheduler, err = retry.NewScheduler(retries, c.broker, retry.Config{Observer: c.config.Observer, Log: c.config.Log, Trouble: c.retriesHindered})
	return err
}

// retriesHindered takes note of what hinders the scheduler, nil where nothing does.
func (c *Consumer) retriesHindered(err error) {
	if err != nil {
		c.engine.outage.begins(c.engine, "retries", err)
	} else {
		c.engine.outage.over(c.engine, "retries")
	}
}

// dueSoon is a delay below which the scheduler is told: it looks once in a second by itself.
const dueSoon = time.Second

// bringsDue says that a settlement has made a row that is due before the scheduler looks again: the delivery to
// come, or the next one of a lane whose head this was.
func bringsDue(d *guard.Delivery) bool {
	switch d.Decision.Action {
	case idem.ActionRetry, idem.ActionHold, idem.ActionDefer:
		if d.Status != guard.Parked && time.Duration(d.Decision.Delay.Ms())*time.Millisecond < dueSoon {
			return true
		}
	}
	return d.Grant.Head && d.Lane.Set()
}

// keepRunning runs a task until ctx ends, again and again where it comes back before.
func (c *Consumer) keepRunning(ctx context.Context, name string, task func(context.Context) error) {
	for try := 0; ctx.Err() == nil; try++ {
		started := time.Now()
		err := protect(ctx, task)
		if ctx.Err() != nil {
			return
		}
		if time.Since(started) > time.Minute {
			try = 0
		}
		c.engine.warn("background task ended: it is begun again", "task", name, "error", err)
		sleep(ctx, 10*backoff(try))
	}
}

// protect makes an error of a panic.
func protect(ctx context.Context, task func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return task(ctx)
}

// clean removes what has expired.
func (c *Consumer) clean(ctx context.Context) error {
	return cleaner.Run(ctx, c.store,
		func(n int) { c.engine.measure(observe.RecordsCleaned, observe.Labels{}, float64(n)) },
		func(err error) {
			if err != nil {
				c.engine.warn("what has expired was not removed: tried again later", "error", err)
			}
		})
}
