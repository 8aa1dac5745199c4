package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// memoryGroup is a consumer group: its members, the generation they are in, and what was committed. As at
// Kafka, a rebalance ends the generation at once, and the next one begins when every member has joined
// again, has left, or was too slow.
type memoryGroup struct {
	broker *Memory
	name   string

	mu         sync.Mutex
	members    []*memoryMember // in the order they came
	generation int32
	done       chan struct{} // of the generation in force; nil while there is none
	deadline   *time.Timer   // of the rebalance
	committed  map[TopicPartition]int64
	closed     bool
}

// memoryMember is one Group.
type memoryMember struct {
	group  *memoryGroup
	topics []string

	// Under the group's lock:
	inside  bool                   // the group counts on it
	current *memoryGeneration      // the last one; it has to be closed before it joins again
	waiting chan *memoryGeneration // it waits in Join
	closed  bool
}

// Group makes this process a member of a group, which may have others in the same process.
func (m *Memory) Group(_ context.Context, name string, topics []string) (Group, error) {
	if name == "" || len(topics) == 0 {
		return nil, fmt.Errorf("group %q of topics %q: it needs a name and at least one topic", name, topics)
	}
	for _, topic := range topics {
		if _, err := m.topic(topic); err != nil {
			return nil, fmt.Errorf("group %q: %w", name, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[name]
	if g == nil {
		g = &memoryGroup{broker: m, name: name, committed: map[TopicPartition]int64{}}
		m.groups[name] = g
	}
	return &memoryMember{group: g, topics: slices.Compact(slices.Sorted(slices.Values(topics)))}, nil
}

func (m *Memory) group(name string) *memoryGroup {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.groups[name]
}

// Rebalance ends the generation of a group, as a member that comes or goes does.
func (m *Memory) Rebalance(group string) {
	if g := m.group(group); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.rebalanceLocked()
	}
}

// Committed is the offset that a group has committed for a partition, and false where it has none.
func (m *Memory) Committed(group string, p TopicPartition) (int64, bool) {
	g := m.group(group)
	if g == nil {
		return 0, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	offset, ok := g.committed[p]
	return offset, ok
}

// Join waits until the rebalance is over.
func (m *memoryMember) Join(ctx context.Context) (Generation, error) {
	g := m.group
	if ask := g.broker.config.Faults.Join; ask != nil {
		if err := ask(ctx, g.name); err != nil {
			return nil, fmt.Errorf("join group %q: %w", g.name, err)
		}
	}
	waiting, err := m.enter()
	if err != nil {
		return nil, fmt.Errorf("join group %q: %w", g.name, err)
	}
	select {
	case generation := <-waiting:
		if generation == nil {
			return nil, fmt.Errorf("join group %q: %w", g.name, ErrClosed)
		}
		return generation, nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		// It may have begun meanwhile: then it is given back.
		m.waiting = nil
		m.leaveLocked()
		return nil, fmt.Errorf("join group %q: %w", g.name, ctx.Err())
	}
}

func (m *memoryMember) enter() (chan *memoryGeneration, error) {
	g := m.group
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case m.closed || g.closed:
		return nil, ErrClosed
	case m.waiting != nil:
		return nil, errors.New("this member joins already")
	case m.current != nil && !m.current.closed:
		return nil, errors.New("the generation before is not closed: close it first")
	}
	waiting := make(chan *memoryGeneration, 1)
	m.waiting = waiting
	if !m.inside {
		m.inside = true
		g.members = append(g.members, m)
	}
	g.rebalanceLocked()
	g.completeLocked()
	return waiting, nil
}

// Close leaves the group.
func (m *memoryMember) Close() error {
	g := m.group
	g.mu.Lock()
	defer g.mu.Unlock()
	m.closed = true
	if m.waiting != nil {
		close(m.waiting)
		m.waiting = nil
	}
	m.leaveLocked()
	return nil
}

func (m *memoryMember) leaveLocked() {
	if m.current != nil {
		m.current.closed = true
	}
	if !m.inside {
		return
	}
	m.inside = false
	g := m.group
	g.members = slices.DeleteFunc(g.members, func(other *memoryMember) bool { return other == m })
	g.rebalanceLocked()
	g.completeLocked()
}

// rebalanceLocked ends the generation, if there is one, and gives its members some time to come back.
func (g *memoryGroup) rebalanceLocked() {
	if g.done == nil {
		return
	}
	close(g.done)
	g.done = nil
	generation := g.generation
	g.deadline = time.AfterFunc(g.broker.config.RebalanceTimeout, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.done == nil && g.generation == generation {
			g.evictLocked()
		}
	})
}

// evictLocked goes on without the members that have not joined again.
func (g *memoryGroup) evictLocked() {
	g.members = slices.DeleteFunc(g.members, func(m *memoryMember) bool {
		m.inside = m.waiting != nil
		return !m.inside
	})
	g.completeLocked()
}

// completeLocked begins the next generation once all members wait for it.
func (g *memoryGroup) completeLocked() {
	if g.done != nil || len(g.members) == 0 || g.closed {
		return
	}
	for _, m := range g.members {
		if m.waiting == nil {
			return
		}
	}
	if g.deadline != nil {
		g.deadline.Stop()
		g.deadline = nil
	}
	g.generation++
	g.done = make(chan struct{})
	shares := g.shareLocked()
	for i, m := range g.members {
		m.current = &memoryGeneration{member: m, id: g.generation, done: g.done, assignments: shares[i]}
		m.waiting <- m.current
		m.waiting = nil
	}
}

// shareLocked deals out the partitions of each topic in turn among the members that read it.
func (g *memoryGroup) shareLocked() [][]Assignment {
	readers := map[string][]int{}
	for i, m := range g.members {
		for _, topic := range m.topics {
			readers[topic] = append(readers[topic], i)
		}
	}
	shares := make([][]Assignment, len(g.members))
	turn := 0
	for _, topic := range slices.Sorted(maps.Keys(readers)) {
		t, err := g.broker.topic(topic)
		if err != nil {
			continue // the broker was closed, and with it this generation is about to be
		}
		of := readers[topic]
		for _, log := range t.partitions {
			offset, ok := g.committed[log.TopicPartition]
			if !ok {
				offset = log.earliest()
			}
			to := of[turn%len(of)]
			turn++
			shares[to] = append(shares[to], Assignment{log.TopicPartition, offset})
		}
	}
	for _, share := range shares {
		slices.SortFunc(share, func(a, b Assignment) int {
			return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
		})
	}
	return shares
}

// topicGrew rebalances where a member reads the topic.
func (g *memoryGroup) topicGrew(topic string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.members {
		if slices.Contains(m.topics, topic) {
			g.rebalanceLocked()
			return
		}
	}
}

// shut ends everything: the broker was closed.
func (g *memoryGroup) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, m := range g.members {
		m.inside = false
		if m.waiting != nil {
			close(m.waiting)
			m.waiting = nil
		}
	}
	g.members = nil
	if g.done != nil {
		close(g.done)
		g.done = nil
	}
	if g.deadline != nil {
		g.deadline.Stop()
	}
}
