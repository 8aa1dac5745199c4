// Package member is the loop of a group member that moves messages from topic to topic: it joins, hands
// each partition's messages to a function, commits contiguously what that has done, and joins again when
// the generation is over. Package consumer has a loop of its own, since handlers need more.
package member

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/tell"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// Config says what a member does.
type Config struct {
	// Name is what logs call it.
	Name string
	// MaxBytes is the most that one fetch brings.
	MaxBytes int
	// Commit is how often offsets are committed.
	Commit time.Duration
	// Timeout limits each commit.
	Timeout time.Duration
	// Backoff is the first pause after a failure, and BackoffMax the longest.
	Backoff, BackoffMax time.Duration
	// Work does the work of one partition until ctx is done, and then returns.
	Work func(ctx context.Context, p *Partition)
	// Finish ends Run once Work has returned for each partition before ctx was done, which says that there
	// is no more to do, and what it has done is committed.
	Finish bool
	Tell   tell.Teller
}

// Partition is one partition in one generation.
type Partition struct {
	broker.Assignment
	// Batches are what is fetched: without any message where there was none for a while. Receiving is
	// what lets the next one be fetched, so whoever does not receive pauses the partition.
	Batches <-chan broker.Batch

	share *share
}

// Done says that all messages before offset are done: it is committed before long. A lower one than
// before changes nothing. (CONS-001)
func (p *Partition) Done(offset int64) {
	p.share.mu.Lock()
	defer p.share.mu.Unlock()
	if p.share.done[p.TopicPartition] < offset {
		p.share.done[p.TopicPartition] = offset
	}
}

// share is one generation.
type share struct {
	mu        sync.Mutex
	done      map[broker.TopicPartition]int64
	committed map[broker.TopicPartition]int64
}

// Run is a member of the group until ctx is done, and closes the group. What fails is tried again.
func Run(ctx context.Context, g broker.Group, c *Config) (err error) {
	defer func() { err = errors.Join(err, g.Close()) }()
	failures := 0
	for ctx.Err() == nil {
		n, err := g.Join(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			pause := wait.Doubled(c.Backoff, c.BackoffMax, failures)
			failures++
			c.Tell.Error(ctx, c.Name+": not in the group, joining again", slog.Any("error", err), slog.Duration("pause", pause))
			wait.For(ctx, pause)
			continue
		}
		failures = 0
		if generation(ctx, n, c) {
			return nil
		}
	}
	return nil
}

// generation works on one share until it is over, and says whether Run is to end.
func generation(ctx context.Context, n broker.Generation, c *Config) (ended bool) {
	s := &share{done: map[broker.TopicPartition]int64{}, committed: map[broker.TopicPartition]int64{}}
	work, stop := context.WithCancel(ctx)
	var workers, works sync.WaitGroup
	for _, a := range n.Assignments() {
		batches := make(chan broker.Batch)
		p := &Partition{Assignment: a, Batches: batches, share: s}
		workers.Go(func() { fetch(work, n, p, batches, c) })
		works.Go(func() { c.Work(work, p) })
	}
	finished := make(chan struct{})
	if c.Finish {
		workers.Go(func() { works.Wait(); close(finished) })
	}
	ticker := time.NewTicker(c.Commit)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case <-ticker.C:
			s.commit(ctx, n, c)
		case <-finished:
			ended = ctx.Err() == nil
			running = false
		case <-n.Done():
			running = false
		case <-ctx.Done():
			running = false
		}
	}
	stop()
	works.Wait()
	workers.Wait()
	ended = s.commit(ctx, n, c) && ended
	if err := n.Close(); err != nil {
		c.Tell.Warn(ctx, c.Name+": generation not closed", slog.Any("error", err))
	}
	return ended
}

// commit commits what has moved, and says whether it could. What a generation that is over does not commit is fetched again by
// whoever has the partition now.
func (s *share) commit(ctx context.Context, n broker.Generation, c *Config) bool {
	offsets := make(map[broker.TopicPartition]int64)
	s.mu.Lock()
	for p, offset := range s.done {
		if s.committed[p] < offset {
			offsets[p] = offset
		}
	}
	s.mu.Unlock()
	if len(offsets) == 0 {
		return true
	}
	ctx, cancel := wait.Detached(ctx, c.Timeout)
	defer cancel()
	switch err := n.Commit(ctx, offsets); {
	case err == nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		for p, offset := range offsets {
			s.committed[p] = offset
		}
		return true
	case errors.Is(err, broker.ErrGenerationOver):
	default:
		c.Tell.Warn(ctx, c.Name+": offsets not committed, trying again", slog.Any("error", err))
	}
	return false
}

// fetch hands over one batch after another.
func fetch(ctx context.Context, n broker.Generation, p *Partition, batches chan<- broker.Batch, c *Config) {
	offset, failures := p.Offset, 0
	for ctx.Err() == nil {
		batch, err := n.Fetch(ctx, p.TopicPartition, offset, c.MaxBytes)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, broker.ErrGenerationOver) {
				return
			}
			pause := wait.Doubled(c.Backoff, c.BackoffMax, failures)
			failures++
			c.Tell.Warn(ctx, c.Name+": not fetched, trying again", slog.String("partition", fmt.Sprintf("%s/%d", p.Topic, p.Partition)),
				slog.Int64("offset", offset), slog.Duration("pause", pause), slog.Any("error", err))
			wait.For(ctx, pause)
			continue
		}
		failures = 0
		if len(batch.Messages) > 0 {
			offset = batch.Messages[len(batch.Messages)-1].Offset + 1
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
			return
		}
	}
}
