package kafka

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

// scanned reads a span to its end.
func scanned(t *testing.T, b *Broker, span Span) []string {
	t.Helper()
	var values []string
	for offset := span.From; offset < span.To; {
		batch, next, err := b.Scan(t.Context(), span.TopicPartition, offset, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch.Messages {
			values = append(values, string(m.Value))
		}
		offset = next
	}
	return values
}

func TestScanReadsASpanByTimeForNoGroup(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	publish(t, b, broker.Message{Topic: topic, Value: []byte("one")}, broker.Message{Topic: topic, Value: []byte("two")})
	time.Sleep(50 * time.Millisecond) // timestamps are milliseconds
	middle := time.Now()
	time.Sleep(50 * time.Millisecond)
	publish(t, b, broker.Message{Topic: topic, Value: []byte("three")})
	for _, c := range []struct {
		name         string
		since, until time.Time
		want         []string
	}{
		{"all", time.Time{}, time.Time{}, []string{"one", "two", "three"}},
		{"since", middle, time.Time{}, []string{"three"}},
		{"until", time.Time{}, middle, []string{"one", "two"}},
		{"since the future", time.Now().Add(time.Hour), time.Time{}, nil},
		{"until before there was anything", time.Time{}, middle.Add(-time.Hour), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spans, err := b.Spans(t.Context(), topic, c.since, c.until)
			if err != nil || len(spans) != 1 {
				t.Fatalf("%v, %v", spans, err)
			}
			if got := scanned(t, b, spans[0]); !slices.Equal(got, c.want) {
				t.Errorf("%q, and %q was expected", got, c.want)
			}
		})
	}
}

func TestScanPassesOverWhatWasAborted(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	producer := beginTransactions(t, b, topic)
	producer.write(t, "one", true)
	producer.write(t, "two aborted", false)
	spans, err := b.Spans(t.Context(), topic, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if got := scanned(t, b, spans[0]); !slices.Equal(got, []string{"one"}) {
		t.Errorf("%q", got)
	}
}

func TestSpansOfATopicThatIsNotThereSaysSo(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	_, err := b.Spans(t.Context(), topic+"-none", time.Time{}, time.Time{})
	if !errors.Is(err, broker.ErrUnknownTopic) {
		t.Errorf("%v", err)
	}
}

// cut is a network that can be cut.
type cut struct {
	off atomic.Bool
}

func (c *cut) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if c.off.Load() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("the network is cut")}
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return &cutConn{conn, c}, err
}

type cutConn struct {
	net.Conn
	cut *cut
}

func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.cut.off.Load() {
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("the network is cut")}
	}
	return n, err
}

func TestScanSaysWhereTheBrokerWentAway(t *testing.T) {
	t.Parallel()
	brokers := realtest.Kafka(t)
	topic := realtest.Topic(t, brokers, 1)
	var network cut
	b, err := open(Config{Brokers: brokers, Logger: slog.New(slog.DiscardHandler), RequestTimeout: time.Second}, network.dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	publish(t, b, broker.Message{Topic: topic, Value: []byte("one")})
	network.off.Store(true)
	_, _, err = b.Scan(t.Context(), at(topic, 0), 1, 1)
	if err == nil || !strings.Contains(err.Error(), "read "+topic+"/0 at offset 1: ") {
		t.Errorf("%v", err)
	}
}
