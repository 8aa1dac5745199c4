package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// memoryGeneration is one member's share.
type memoryGeneration struct {
	member      *memoryMember
	id          int32
	done        chan struct{}
	assignments []Assignment
	closed      bool // under the group's lock
}

func (n *memoryGeneration) Assignments() []Assignment { return slices.Clone(n.assignments) }

func (n *memoryGeneration) Done() <-chan struct{} { return n.done }

func (n *memoryGeneration) over() bool {
	select {
	case <-n.done:
		return true
	default:
		return false
	}
}

// Fetch waits for at most MaxWait.
func (n *memoryGeneration) Fetch(ctx context.Context, p TopicPartition, offset int64, maxBytes int) (Batch, error) {
	g := n.member.group
	batch, err := n.fetch(ctx, p, offset, maxBytes)
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("fetch %s/%d at offset %d for group %q: %w", p.Topic, p.Partition, offset, g.name, err)
	}
	return batch, err
}

func (n *memoryGeneration) fetch(ctx context.Context, p TopicPartition, offset int64, maxBytes int) (Batch, error) {
	if !slices.ContainsFunc(n.assignments, func(a Assignment) bool { return a.TopicPartition == p }) {
		return Batch{}, errors.New("the partition is not this member's")
	}
	broker := n.member.group.broker
	log, err := broker.log(p)
	if err != nil {
		return Batch{}, err
	}
	var timer *time.Timer
	for {
		if n.over() {
			return Batch{}, ErrGenerationOver
		}
		if ask := broker.config.Faults.Fetch; ask != nil && timer == nil {
			if err := ask(ctx, n.member.group.name, p, offset); err != nil {
				return Batch{}, err
			}
		}
		batch, grown := log.read(offset, maxBytes)
		if grown == nil {
			return batch, nil
		}
		if timer == nil {
			timer = time.NewTimer(broker.config.MaxWait)
			defer timer.Stop()
		}
		select {
		case <-grown:
		case <-n.done:
		case <-timer.C:
			return batch, nil
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
}

// Commit is fenced: a generation that is over commits nothing.
func (n *memoryGeneration) Commit(ctx context.Context, offsets map[TopicPartition]int64) error {
	g := n.member.group
	if err := n.commit(ctx, offsets); err != nil {
		return fmt.Errorf("commit %d partitions of group %q: %w", len(offsets), g.name, err)
	}
	return nil
}

func (n *memoryGeneration) commit(ctx context.Context, offsets map[TopicPartition]int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g := n.member.group
	var lost error
	if ask := g.broker.config.Faults.Commit; ask != nil {
		if err := ask(ctx, g.name, offsets); err != nil {
			if !errors.Is(err, ErrReplyLost) {
				return err
			}
			lost = err
		}
	}
	for p := range offsets {
		if !slices.ContainsFunc(n.assignments, func(a Assignment) bool { return a.TopicPartition == p }) {
			return fmt.Errorf("%s/%d is not this member's partition", p.Topic, p.Partition)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.over() || n.closed {
		return ErrGenerationOver
	}
	for p, offset := range offsets {
		g.committed[p] = offset
	}
	return lost
}

// Close gives the share back. Where the generation is over already, the group goes on counting on this
// member: it has some time to join again.
func (n *memoryGeneration) Close() error {
	g := n.member.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	if !n.over() && n.member.current == n {
		n.member.leaveLocked()
	}
	return nil
}
