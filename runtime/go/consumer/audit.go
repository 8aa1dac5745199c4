package consumer

import (
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/observe/audit"
	"github.com/idem-spec/idem/runtime/go/store"
)

// count makes a counter of deliveries one of the observers; nil where nothing is to be counted.
func (c *Config) count(s store.Store) *audit.Counter {
	table, ok := s.(store.Audit)
	if !ok || c.NoAudit || c.Shadow {
		return nil
	}
	counter := audit.New(table)
	c.Observer = observe.Multi(c.Observer, counter)
	c.Guard.Observer = c.Observer
	return counter
}

// writeCounts writes counts from time to time. What hinders it is said once.
func (c *Consumer) writeCounts(ctx context.Context) error {
	said := false
	for {
		if sleep(ctx, audit.Interval); ctx.Err() != nil {
			return nil
		}
		err := c.audit.Flush(ctx)
		if err != nil && ctx.Err() == nil && !said {
			c.engine.warn("what became of deliveries is not counted in the store: tried again, and nothing else is affected", "error", err)
		}
		said = err != nil
	}
}

// lastCountsFor is how long the end of Run waits for counts.
const lastCountsFor = 5 * time.Second

// lastCounts writes what was counted since.
func (c *Consumer) lastCounts(ctx context.Context) {
	if c.audit == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCountsFor)
	defer cancel()
	if err := c.audit.Flush(ctx); err != nil {
		c.engine.warn("the last counts of what became of deliveries are lost", "error", err)
	}
}
