package consumer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// generation lives one generation, from its share to its end: at a rebalance, or with ctx.
func (c *Consumer) generation(ctx context.Context, generation broker.Generation) {
	e := c.engine
	s := e.newShare(generation)
	c.enter("running", s)
	e.measure(observe.Rebalances, observe.Labels{}, 1)
	e.info("in the group", "partitions", len(s.parts))

	fetching, stopFetching := context.WithCancel(ctx)
	var loops sync.WaitGroup
	for _, p := range s.parts {
		loops.Go(func() { e.fetchLoop(fetching, p) })
	}
	committing, stopCommitting := context.WithCancel(e.base)
	loops.Go(func() { e.commitLoop(committing, s) })

	limit := c.config.RebalanceTimeout
	select {
	case <-generation.Done():
	case <-ctx.Done():
		limit = c.config.DrainTimeout
	}
	c.enter("draining", s)
	stopFetching()
	c.engine.revoke(s)
	if !await(s.idle, limit) {
		e.warn("handlers are told to stop: the time to drain is over", "limit", limit)
		e.cancelHandlers(s)
		await(s.idle, cancelFor)
	}
	stopCommitting()
	loops.Wait()
	e.commitLast(s)
	e.end(s)
	if err := generation.Close(); err != nil {
		e.warn("generation not closed", "error", err)
	}
}

// cancelFor is how long handlers of a lost share have to end once they are told to; what they come to later is
// settled all the same, and moves no offset.
const cancelFor = time.Second

// await waits for a channel to be closed, for a while, and says whether it was.
func await(closed <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
		return false
	}
}

// gaugesEvery is how often lag and its kin are measured.
const gaugesEvery = 10 * time.Second

// commitLoop commits at an interval.
func (e *engine) commitLoop(ctx context.Context, s *share) {
	ticker := time.NewTicker(e.config.CommitInterval)
	defer ticker.Stop()
	measured := time.Time{}
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		e.commit(ctx, s)
		if now := time.Now(); now.Sub(measured) >= gaugesEvery {
			since := time.Duration(0)
			if !measured.IsZero() {
				since = now.Sub(measured)
			}
			e.gauges(s, since)
			measured = now
		}
	}
}

// commit commits what has moved.
func (e *engine) commit(ctx context.Context, s *share) {
	offsets := make(map[broker.TopicPartition]int64)
	e.mu.Lock()
	for _, p := range s.parts {
		if p.mark.offset > p.committed {
			offsets[p.TopicPartition] = p.mark.offset
		}
	}
	e.mu.Unlock()
	if len(offsets) == 0 {
		return
	}
	switch err := s.generation.Commit(ctx, offsets); {
	case err == nil:
		e.outage.over(e, "commit")
	case errors.Is(err, broker.ErrGenerationOver) || ctx.Err() != nil:
		return // whoever has the partitions now gets the messages again: they are duplicates
	default:
		e.outage.begins(e, "commit", err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range s.parts {
		if offset, ok := offsets[p.TopicPartition]; ok {
			p.committed = max(p.committed, offset)
		}
	}
}

// commitLimit is how long the last commit of a generation may take, tries and all.
const commitLimit = 3 * time.Second

// commitLast commits before a share is left, while the generation is alive.
func (e *engine) commitLast(s *share) {
	ctx, cancel := context.WithTimeout(e.base, commitLimit)
	defer cancel()
	for try := 0; ctx.Err() == nil && e.uncommitted(s); try++ {
		e.commit(ctx, s)
		if !e.uncommitted(s) {
			return
		}
		select {
		case <-s.generation.Done():
			return
		default:
			sleep(ctx, backoff(try))
		}
	}
}

func (e *engine) uncommitted(s *share) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range s.parts {
		if p.mark.offset > p.committed {
			return true
		}
	}
	return false
}
