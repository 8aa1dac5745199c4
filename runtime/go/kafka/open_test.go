package kafka

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

// resets ends connections at their first read, as a broker does that dies: the first of them, or all.
type resets struct {
	left  atomic.Int32
	dials atomic.Int32
}

func (r *resets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	r.dials.Add(1)
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil || r.left.Add(-1) < 0 {
		return conn, err
	}
	return resetConn{conn}, nil
}

type resetConn struct{ net.Conn }

func (c resetConn) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Net: "tcp", Addr: c.RemoteAddr(), Err: syscall.ECONNRESET}
}

func TestOpenAsksAgainWhereABrokerDiesAtThatMoment(t *testing.T) {
	t.Parallel()
	var r resets
	r.left.Store(2)
	b, err := open(Config{Brokers: realtest.Kafka(t), Logger: slog.New(slog.DiscardHandler)}, r.dial)
	if err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	if n := r.dials.Load(); n < 3 {
		t.Errorf("%d connections: the first two were to be reset", n)
	}
}

func TestOpenGivesUpWhereEachConnectionIsReset(t *testing.T) {
	t.Parallel()
	var r resets
	r.left.Store(1000)
	_, err := open(Config{Brokers: realtest.Kafka(t), Logger: slog.New(slog.DiscardHandler)}, r.dial)
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("open gives %v", err)
	}
}
