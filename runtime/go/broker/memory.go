package broker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// MemoryConfig configures a Memory. The zero value works.
type MemoryConfig struct {
	// Partitions is how many partitions a topic gets that is used without having been created. 0: such a
	// topic is ErrUnknownTopic.
	Partitions int32
	// MaxWait is how long a Fetch waits for messages. Default 500 ms.
	MaxWait time.Duration
	// RebalanceTimeout is how long a rebalance waits for members that have not closed their generation and
	// joined again, before it goes on without them. Default 10 s.
	RebalanceTimeout time.Duration
	// Clock stamps messages. Default time.Now.
	Clock func() time.Time
	// Faults are what goes wrong. Default: nothing.
	Faults MemoryFaults
}

// Memory is a Broker within this process. It waits by channels and timers alone, so it works in a
// testing/synctest bubble. What it keeps grows until Truncate. Use NewMemory.
type Memory struct {
	config MemoryConfig

	mu     sync.RWMutex
	topics map[string]*memoryTopic
	groups map[string]*memoryGroup
	closed bool
}

// memoryTopic's partitions are replaced as a whole when they become more.
type memoryTopic struct {
	name       string
	partitions []*memoryLog
	next       *atomic.Uint32 // chooses for messages without a key
}

// NewMemory makes a broker without topics.
func NewMemory(config MemoryConfig) *Memory {
	config.MaxWait = cmp.Or(config.MaxWait, 500*time.Millisecond)
	config.RebalanceTimeout = cmp.Or(config.RebalanceTimeout, 10*time.Second)
	if config.Clock == nil {
		config.Clock = time.Now
	}
	return &Memory{config: config, topics: map[string]*memoryTopic{}, groups: map[string]*memoryGroup{}}
}

// CreateTopic makes a topic, or gives one that is there more partitions; then each group that reads it
// rebalances. Fewer partitions than there are is an error.
func (m *Memory) CreateTopic(name string, partitions int32) error {
	if name == "" || partitions < 1 {
		return fmt.Errorf("create topic %q: %d partitions: it needs a name and at least one partition", name, partitions)
	}
	m.mu.Lock()
	t := m.topics[name]
	before := 0
	if t != nil {
		before = len(t.partitions)
	}
	if int(partitions) < before {
		m.mu.Unlock()
		return fmt.Errorf("create topic %q: %d partitions: it has %d, which cannot become fewer", name, partitions, before)
	}
	m.createLocked(name, partitions)
	groups := make([]*memoryGroup, 0, len(m.groups))
	for _, g := range m.groups {
		groups = append(groups, g)
	}
	m.mu.Unlock()
	if before > 0 && int(partitions) > before {
		slices.SortFunc(groups, func(a, b *memoryGroup) int { return cmp.Compare(a.name, b.name) })
		for _, g := range groups {
			g.topicGrew(name)
		}
	}
	return nil
}

func (m *Memory) createLocked(name string, partitions int32) *memoryTopic {
	grown := &memoryTopic{name: name, next: new(atomic.Uint32)}
	if t := m.topics[name]; t != nil {
		grown.partitions = slices.Clone(t.partitions)
		grown.next = t.next
	}
	for i := int32(len(grown.partitions)); i < partitions; i++ {
		grown.partitions = append(grown.partitions, &memoryLog{TopicPartition: TopicPartition{name, i}})
	}
	m.topics[name] = grown
	return grown
}

// topic finds a topic, or makes it where the config says so.
func (m *Memory) topic(name string) (*memoryTopic, error) {
	m.mu.RLock()
	t, closed := m.topics[name], m.closed
	m.mu.RUnlock()
	switch {
	case closed:
		return nil, ErrClosed
	case t != nil:
		return t, nil
	case m.config.Partitions < 1 || name == "":
		return nil, fmt.Errorf("topic %q: %w", name, ErrUnknownTopic)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.topics[name]; t != nil {
		return t, nil
	}
	return m.createLocked(name, m.config.Partitions), nil
}

// log finds a partition's log.
func (m *Memory) log(p TopicPartition) (*memoryLog, error) {
	t, err := m.topic(p.Topic)
	if err != nil {
		return nil, err
	}
	if p.Partition < 0 || int(p.Partition) >= len(t.partitions) {
		return nil, fmt.Errorf("topic %q: partition %d of %d: %w", p.Topic, p.Partition, len(t.partitions), ErrUnknownTopic)
	}
	return t.partitions[p.Partition], nil
}

// Partitions is how many partitions each topic has.
func (m *Memory) Partitions(_ context.Context, topics ...string) (map[string]int32, error) {
	counts := make(map[string]int32, len(topics))
	for _, name := range topics {
		t, err := m.topic(name)
		if err != nil {
			return nil, fmt.Errorf("partitions: %w", err)
		}
		counts[name] = int32(len(t.partitions))
	}
	return counts, nil
}

// Messages is everything that a topic has now, partition by partition. What it points to is read-only.
func (m *Memory) Messages(topic string) []Message {
	m.mu.RLock()
	t := m.topics[topic]
	m.mu.RUnlock()
	if t == nil {
		return nil
	}
	var all []Message
	for _, l := range t.partitions {
		all = append(all, l.all()...)
	}
	return all
}

// Truncate removes a partition's messages before an offset, as retention does.
func (m *Memory) Truncate(p TopicPartition, before int64) error {
	l, err := m.log(p)
	if err != nil {
		return fmt.Errorf("truncate: %w", err)
	}
	l.truncate(before)
	return nil
}

// Skip leaves a gap of n offsets at a partition's end, as transaction markers and compaction do.
func (m *Memory) Skip(p TopicPartition, n int64) error {
	l, err := m.log(p)
	if err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	l.skip(n)
	return nil
}

// Close ends all generations. What was published can still be read by Messages.
func (m *Memory) Close() error {
	m.mu.Lock()
	groups := make([]*memoryGroup, 0, len(m.groups))
	for _, g := range m.groups {
		groups = append(groups, g)
	}
	m.closed = true
	m.mu.Unlock()
	for _, g := range groups {
		g.shut()
	}
	return nil
}
