package postgres_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// server takes connections and gives them to serve.
func server(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

func TestNoConnectionSaysTheWayOutOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	_ = l.Close()
	plain := server(t, func(c net.Conn) {
		defer c.Close()
		request := make([]byte, 8)
		if _, err := c.Read(request); err == nil {
			_, _ = c.Write([]byte("N")) // no TLS here
		}
	})
	silent := server(t, func(c net.Conn) { // held: one that is collected is closed
		<-t.Context().Done()
		_ = c.Close()
	})
	for _, c := range []struct{ name, dsn, mend, cause string }{
		{"refused", "postgres://u:secret@" + gone + "/d", "check that PostgreSQL runs at " + gone, "connection refused"},
		{"unknown host", "postgres://u:secret@no-such-host.invalid/d", "check the host of the DSN", "no-such-host.invalid"},
		{"no TLS", "postgres://u:secret@" + plain + "/d?sslmode=require", "the server has no TLS: sslmode=disable", "server refused TLS connection"},
		{"silent", "postgres://u:secret@" + silent + "/d?sslmode=disable&connect_timeout=1", silent + " does not answer: check host and port of the DSN, and firewalls", "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := postgres.Open(t.Context(), c.dsn, postgres.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			err = s.Check(t.Context())
			var driver *pgconn.ConnectError
			if !errors.As(err, &driver) {
				t.Fatalf("the driver's error is lost: %v", err)
			}
			if c.name == "refused" && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("the cause is lost: %v", err)
			}
			text := err.Error()
			if !strings.HasPrefix(text, "check the postgres store: connect to ") || !strings.HasSuffix(text, "("+c.mend+")") ||
				strings.Contains(text, "\n") || strings.Contains(text, "secret") || !strings.Contains(text, c.cause) {
				t.Error(text)
			}
			if c.name != "unknown host" && strings.Count(text, c.cause) != 1 {
				t.Errorf("said twice: %s", text)
			}
		})
	}
}
