package kafka

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// leader is a connection to the leader of a partition. Requests for topics of Kafka's own need it: the transport of
// kafka-go leaves them out of what it knows of the cluster.
type leader struct {
	conn  *protocol.Conn
	at    broker.TopicPartition
	limit time.Duration
}

func (b *Broker) dialLeader(ctx context.Context, at broker.TopicPartition) (*leader, error) {
	address, err := b.leaderOf(ctx, at)
	if err != nil {
		return nil, err
	}
	mechanism, err := b.config.SASL.mechanism()
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	dialer := kafka.Dialer{ClientID: b.config.ClientID, Timeout: b.config.RequestTimeout, SASLMechanism: mechanism,
		DialFunc: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err = b.dialSecure(ctx, network, address)
			return conn, err
		}}
	if _, err := dialer.DialContext(ctx, "tcp", address); err != nil {
		return nil, err
	}
	l := &leader{conn: protocol.NewConn(conn, b.config.ClientID), at: at, limit: b.config.RequestTimeout}
	if err := l.negotiate(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// dialSecure is a connection that speaks TLS where the configuration says so.
func (b *Broker) dialSecure(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := b.transport.Dial(ctx, network, address)
	if err != nil || b.config.TLS == nil {
		return conn, err
	}
	config := b.config.TLS.Clone()
	if config.ServerName == "" {
		if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
			return nil, err
		}
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

func (b *Broker) leaderOf(ctx context.Context, at broker.TopicPartition) (string, error) {
	answer, err := b.transport.RoundTrip(ctx, b.addr, &metadata.Request{TopicNames: []string{at.Topic}})
	if err != nil {
		return "", err
	}
	cluster := answer.(*metadata.Response)
	for _, t := range cluster.Topics {
		for _, p := range t.Partitions {
			if t.Name != at.Topic || p.PartitionIndex != at.Partition {
				continue
			}
			for _, node := range cluster.Brokers {
				if node.NodeID == p.LeaderID {
					return net.JoinHostPort(node.Host, strconv.Itoa(int(node.Port))), nil
				}
			}
		}
	}
	return "", fmt.Errorf("%s/%d: %w", at.Topic, at.Partition, kafka.LeaderNotAvailable)
}

func (l *leader) close() { _ = l.conn.Close() }

// negotiate asks which versions of the requests the broker knows.
func (l *leader) negotiate() error {
	answer, err := l.ask(&apiversions.Request{})
	if err != nil {
		return err
	}
	known := answer.(*apiversions.Response)
	if known.ErrorCode != 0 {
		return kafka.Error(known.ErrorCode)
	}
	versions := make(map[protocol.ApiKey]int16, len(known.ApiKeys))
	for _, k := range known.ApiKeys {
		if key := protocol.ApiKey(k.ApiKey); key == protocol.Fetch || key == protocol.ListOffsets {
			versions[key] = key.SelectVersion(k.MinVersion, k.MaxVersion)
		}
	}
	l.conn.SetVersions(versions)
	return nil
}

func (l *leader) ask(request protocol.Message) (protocol.Message, error) {
	if err := l.conn.SetDeadline(time.Now().Add(l.limit)); err != nil {
		return nil, err
	}
	return l.conn.RoundTrip(request)
}

// offset is the first one with a timestamp at or after a time in milliseconds, or kafka.FirstOffset or
// kafka.LastOffset; -1 where there is none.
func (l *leader) offset(at int64) (int64, error) {
	answer, err := l.ask(&listoffsets.Request{ReplicaID: -1, Topics: []listoffsets.RequestTopic{{Topic: l.at.Topic,
		Partitions: []listoffsets.RequestPartition{{Partition: l.at.Partition, CurrentLeaderEpoch: -1, Timestamp: at}}}}})
	if err != nil {
		return 0, err
	}
	for _, t := range answer.(*listoffsets.Response).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return 0, kafka.Error(p.ErrorCode)
			}
			return p.Offset, nil
		}
	}
	return 0, errOtherPartitions
}

// fetch asks for records from an offset on, those of transactions that are open or were aborted too, and does not wait
// for any: an open one would hide what others write behind it.
func (l *leader) fetch(offset int64, limit int32) (fetched, error) {
	answer, err := l.ask(fetchRequest(l.at, offset, limit, 0, readUncommitted))
	if err != nil {
		return fetched{}, err
	}
	return fetchedOf(l.at, offset, answer)
}
