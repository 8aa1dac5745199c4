package consumer

import "fmt"

// Pause stops the route of an event type: no handler of it begins any more, those that run go on. Its messages
// wait; where they fill the window of a partition, fetching it pauses. Nothing is lost. The others go on.
func (c *Consumer) Pause(eventType string) error { return c.stop(eventType, false) }

// Kill is Pause, and ends the contexts of the route's running handlers; those that fail by it are deferred, at
// no cost.
func (c *Consumer) Kill(eventType string) error { return c.stop(eventType, true) }

// Resume ends Pause and Kill.
func (c *Consumer) Resume(eventType string) error {
	r, err := c.routeOf(eventType)
	if err != nil {
		return err
	}
	e := c.engine
	c.mu.Lock()
	s := c.share
	c.mu.Unlock()
	e.mu.Lock()
	if r.killed && s != nil && !s.revoked {
		s.renew(r)
	}
	r.paused, r.killed = false, false
	e.claimers.Signal()
	e.mu.Unlock()
	e.info("route resumed", "event_type", eventType)
	return nil
}

func (c *Consumer) stop(eventType string, kill bool) error {
	r, err := c.routeOf(eventType)
	if err != nil {
		return err
	}
	e := c.engine
	c.mu.Lock()
	s := c.share
	c.mu.Unlock()
	e.mu.Lock()
	r.paused = true
	if kill {
		r.killed = true
		if s != nil {
			s.contexts[r.index].Load().cancel()
		}
	}
	e.recall(r, func(*task) bool { return true })
	e.mu.Unlock()
	e.info("route stopped: its messages wait until Resume", "event_type", eventType, "kill", kill)
	return nil
}

func (c *Consumer) routeOf(eventType string) (*route, error) {
	if r := c.byType[eventType]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("consumer: no route %q: it has %v", eventType, c.eventTypes())
}

func (c *Consumer) eventTypes() []string {
	types := make([]string, len(c.routes))
	for i, r := range c.routes {
		types[i] = r.eventType
	}
	return types
}
