package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// Broker is a broker.Broker. Use Open.
type Broker struct {
	config Config
	log    *slog.Logger
	addr   net.Addr
	// transport keeps connections and what is known of the cluster. It is shared by everything but the
	// groups, whose connections are kafka-go's ConsumerGroup's own.
	transport *kafka.Transport
	client    *kafka.Client
	stop      context.CancelFunc

	mu        sync.Mutex
	refreshed time.Time
	groups    map[*group]bool
	closed    bool
}

var _ broker.Broker = (*Broker)(nil)

// metadataTTL is how old what is known of the cluster can get. What fails for its age refreshes it at once.
const metadataTTL = 5 * time.Second

// Open connects to Kafka. It returns an error, which names the way to mend it, where the configuration
// cannot work or no broker answers within RequestTimeout.
func Open(config Config) (*Broker, error) { return open(config, nil) }

// dialer makes connections; tests have one that breaks them.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func open(config Config, dial dialer) (*Broker, error) {
	config, err := config.checked()
	if err != nil {
		return nil, err
	}
	mechanism, err := config.SASL.mechanism()
	if err != nil {
		return nil, err
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: config.RequestTimeout / 2}).DialContext
	}
	ctx, stop := context.WithCancel(context.Background())
	b := &Broker{
		config: config,
		log:    config.Logger,
		addr:   kafka.TCP(config.Brokers...),
		transport: &kafka.Transport{
			Dial:        dial,
			DialTimeout: config.RequestTimeout,
			MetadataTTL: metadataTTL,
			ClientID:    config.ClientID,
			TLS:         config.TLS,
			SASL:        mechanism,
			Context:     ctx,
		},
		stop:   stop,
		groups: map[*group]bool{},
	}
	b.client = &kafka.Client{Addr: b.addr, Transport: b.transport}
	if err := b.reach(ctx); err != nil {
		_ = b.Close()
		why := b.explain(err)
		// The connection's deadline is the context's: either may be the one that tells, and both are time-outs.
		var late net.Error
		if errors.As(err, &late) && late.Timeout() && b.mend(err) == "" {
			why = fmt.Errorf("%w (nothing there answers as Kafka: check host and port)", err)
		}
		return nil, fmt.Errorf("open kafka at %s: %w", strings.Join(config.Brokers, ","), why)
	}
	return b, nil
}

// How often Open asks, and how long it waits between, where a broker ends the connection: one that dies at that
// moment is not the cluster, and a client that wants TLS or SASL is told all the same.
const (
	openTries = 5
	openPause = 200 * time.Millisecond
)

// reach asks for the cluster's metadata, and leaves ctx within RequestTimeout.
func (b *Broker) reach(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.RequestTimeout)
	defer cancel()
	for range openTries {
		_, err = b.transport.RoundTrip(ctx, b.addr, &metadata.Request{TopicNames: []string{}})
		if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		b.transport.CloseIdleConnections() // the transport keeps the error with what it knows of the cluster
		if !wait.For(ctx, openPause) {
			return err
		}
	}
	return err
}

// Close ends all groups and connections.
func (b *Broker) Close() error {
	b.mu.Lock()
	b.closed = true
	groups := make([]*group, 0, len(b.groups))
	for g := range b.groups {
		groups = append(groups, g)
	}
	b.mu.Unlock()
	for _, g := range groups {
		_ = g.Close()
	}
	b.transport.CloseIdleConnections()
	b.stop()
	return nil
}

func (b *Broker) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// refresh lets go what is known of the cluster, so that the next request asks it anew: a leader moved, or a
// topic is not known. Requests that are under way keep their connections.
func (b *Broker) refresh() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.refreshed) > 200*time.Millisecond {
		b.refreshed = time.Now()
		b.transport.CloseIdleConnections()
	}
}

// Partitions is how many partitions each topic has, and broker.ErrUnknownTopic where one is missing.
func (b *Broker) Partitions(ctx context.Context, topics ...string) (map[string]int32, error) {
	counts, err := b.partitions(ctx, topics, patience{unknown: time.Second, away: b.config.RequestTimeout})
	if err != nil {
		return nil, fmt.Errorf("partitions of %s: %w", strings.Join(topics, ", "), err)
	}
	return counts, nil
}

// patience is how long something is asked for again.
type patience struct {
	unknown time.Duration // a topic that is not known: a new one is not known everywhere at once
	away    time.Duration // brokers that do not answer
}

// partitions asks again for a while. Where ctx ends before that, its error says what it was waiting for.
func (b *Broker) partitions(ctx context.Context, topics []string, p patience) (map[string]int32, error) {
	var waits error // why it was asked again
	for start, n := time.Now(), 0; ; n++ {
		counts, missing, err := b.count(ctx, topics)
		switch {
		case b.isClosed():
			return nil, broker.ErrClosed
		case err != nil && ctx.Err() != nil && waits != nil:
			return nil, fmt.Errorf("%w: %w", waits, ctx.Err())
		case err != nil && (hopeless(err) || ctx.Err() != nil || time.Since(start) > p.away):
			return nil, b.explain(ended(ctx, err))
		case err == nil && missing == "":
			return counts, nil
		case err != nil:
			waits = b.explain(err)
		default:
			waits = fmt.Errorf("topic %s: %w: create it, or check its name", missing, broker.ErrUnknownTopic)
			if time.Since(start) > p.unknown {
				return nil, waits
			}
		}
		b.refresh()
		if !wait.For(ctx, backoff(n)) {
			return nil, fmt.Errorf("%w: %w", waits, ctx.Err())
		}
	}
}

// count counts partitions, by what is known of the cluster; missing is a topic that is not.
func (b *Broker) count(ctx context.Context, topics []string) (counts map[string]int32, missing string, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.config.RequestTimeout)
	defer cancel()
	answer, err := b.transport.RoundTrip(ctx, b.addr, &metadata.Request{TopicNames: topics})
	if err != nil {
		return nil, "", err
	}
	counts = make(map[string]int32, len(topics))
	for _, t := range answer.(*metadata.Response).Topics {
		code := kafka.Error(t.ErrorCode)
		switch {
		case t.ErrorCode == 0 && len(t.Partitions) > 0:
			counts[t.Name] = int32(len(t.Partitions))
		case t.ErrorCode == 0, errors.Is(code, kafka.UnknownTopicOrPartition), errors.Is(code, kafka.LeaderNotAvailable):
			missing = t.Name
		default:
			return nil, "", fmt.Errorf("topic %s: %w", t.Name, code)
		}
	}
	return counts, missing, nil
}

// cause is what is behind an error of routing. What is known of the cluster is nothing while no broker
// answers, and kafka-go says then that there is no such topic.
func (b *Broker) cause(ctx context.Context, topic string, err error) error {
	if errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition) || errors.Is(err, protocol.ErrNoLeader) {
		if _, _, why := b.count(ctx, []string{topic}); why != nil {
			return why
		}
	}
	return err
}

// backoff is the pause before try n+1.
func backoff(n int) time.Duration { return wait.Doubled(50*time.Millisecond, time.Second, n) }
