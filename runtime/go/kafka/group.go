package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// group is membership of a consumer group, by kafka-go's ConsumerGroup. That one joins again by itself when
// a generation ends, and not before the functions of the generation have returned: ours returns when the
// generation is closed.
type group struct {
	broker *Broker
	name   string
	topics []string

	mu      sync.Mutex
	member  *kafka.ConsumerGroup // nil while this process is no member
	conns   *connections         // of member
	dealt   *dealt               // what this process dealt out as the group's leader
	current *generation          // the last one; it has to be closed before Join
	joining bool
	closed  bool
}

// Group makes this process a member of a group, from its first Join on. Its topics have to exist. Where a
// group has committed nothing for a partition it begins at the earliest message.
func (b *Broker) Group(ctx context.Context, name string, topics []string) (broker.Group, error) {
	if name == "" || len(topics) == 0 {
		return nil, fmt.Errorf("group %q of topics %q: it needs a name and at least one topic", name, topics)
	}
	if _, err := b.partitions(ctx, topics, patience{b.config.UnknownTopicFor, b.config.RequestTimeout}); err != nil {
		return nil, fmt.Errorf("group %q: %w", name, err)
	}
	g := &group{broker: b, name: name, topics: topics}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fmt.Errorf("group %q: %w", name, broker.ErrClosed)
	}
	b.groups[g] = true
	return g, nil
}

// enter makes the process a member where it is none.
func (g *group) enter() (*kafka.ConsumerGroup, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, broker.ErrClosed
	case g.joining:
		return nil, errors.New("this member joins already")
	case g.current != nil && !g.current.isClosed():
		return nil, errors.New("the generation before is not closed: close it first")
	}
	if g.member == nil {
		config := &g.broker.config
		mechanism, err := config.SASL.mechanism()
		if err != nil {
			return nil, err
		}
		g.dealt, g.conns = &dealt{}, newConnections()
		g.member, err = kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
			ID:      g.name,
			Brokers: config.Brokers,
			Topics:  g.topics,
			Dialer: &kafka.Dialer{ClientID: config.ClientID, Timeout: config.RequestTimeout, TLS: config.TLS,
				SASLMechanism: mechanism, DialFunc: g.conns.dial},
			GroupBalancers:    g.dealt.balancers(),
			HeartbeatInterval: config.HeartbeatInterval,
			SessionTimeout:    config.SessionTimeout,
			RebalanceTimeout:  config.SessionTimeout,
			JoinGroupBackoff:  200 * time.Millisecond,
			StartOffset:       kafka.FirstOffset,
			Timeout:           config.RequestTimeout,
			// The leader watches, by dealt: kafka-go's own watch counts for the first time after the partitions
			// were dealt out, and misses what was added in between.
			WatchPartitionChanges: false,
		})
		if err != nil {
			return nil, err
		}
	}
	g.joining = true
	return g.member, nil
}

// Join waits until this member has a share, also while brokers are away. It ends with ctx, and with an
// error that trying again would not mend, such as refused credentials.
func (g *group) Join(ctx context.Context) (broker.Generation, error) {
	n, err := g.join(ctx)
	if err != nil {
		return nil, fmt.Errorf("join group %q: %w", g.name, g.broker.explain(err))
	}
	return n, nil
}

func (g *group) join(ctx context.Context) (*generation, error) {
	member, err := g.enter()
	if err != nil {
		return nil, err
	}
	defer func() {
		g.mu.Lock()
		g.joining = false
		g.mu.Unlock()
	}()
	var told time.Time
	for {
		next, err := member.Next(ctx)
		var n *generation
		if err == nil {
			n, err = g.begin(ctx, next)
		}
		switch {
		case err == nil && n != nil:
			return n, nil
		case err == nil: // it ended before it was handed over
		case errors.Is(err, kafka.ErrGroupClosed):
			return nil, broker.ErrClosed
		case ctx.Err() != nil:
			// It would go on holding partitions that nobody reads.
			g.leave(nil)
			return nil, ended(ctx, err)
		case hopeless(err):
			g.leave(nil)
			return nil, err
		case time.Since(told) > 10*time.Second:
			told = time.Now()
			g.broker.log.WarnContext(ctx, "kafka: joining the group again", slog.String("group", g.name), slog.Any("error", g.broker.explain(err)))
		}
	}
}

// leave ends the membership, so that the others get its partitions. With a generation it does so only
// where that one is still the last, and releases it.
func (g *group) leave(n *generation) {
	g.mu.Lock()
	if n != nil && g.current != n {
		g.mu.Unlock()
		return
	}
	member, conns := g.member, g.conns
	g.member = nil
	g.mu.Unlock()
	if member == nil {
		return
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = member.Close()
	}()
	// Next returns once Close has begun. Released before, the generation would end, and kafka-go join again.
	_, _ = member.Next(context.Background())
	if n != nil {
		n.release()
	}
	timer := time.NewTimer(leaveTimeout)
	defer timer.Stop()
	select {
	case <-left:
	case <-timer.C:
		// It waits for others at a rebalance. Without its connections it does not; the group notices by the
		// session's end.
		conns.cut()
		<-left
	}
}

const leaveTimeout = 3 * time.Second

// Close leaves the group, and closes the generation.
func (g *group) Close() error {
	g.mu.Lock()
	g.closed = true
	current := g.current
	g.mu.Unlock()
	if current != nil {
		_ = current.Close()
	}
	g.leave(nil)
	g.broker.mu.Lock()
	defer g.broker.mu.Unlock()
	delete(g.broker.groups, g)
	return nil
}

// connections are those of a ConsumerGroup, which cannot be told to give up a request.
type connections struct {
	dialer net.Dialer

	mu   sync.Mutex
	open map[*connection]bool
}

type connection struct {
	net.Conn
	of *connections
}

func newConnections() *connections { return &connections{open: map[*connection]bool{}} }

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	tracked := &connection{Conn: conn, of: c}
	c.open[tracked] = true
	return tracked, nil
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// cut closes those that are open now; others may be made.
func (c *connections) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Conn.Close()
	}
}
