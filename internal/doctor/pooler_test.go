package doctor

import (
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/connect"
)

// pooler stands in front of a server as PgBouncer does: it takes no settings but its own, and where it forgets, a
// prepared statement is not known to the server process of the next transaction.
func pooler(t *testing.T, dsn string, forgets bool) string {
	t.Helper()
	server, err := url.Parse(dsn)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				_ = pool(client, server.Host, forgets)
			}()
		}
	}()
	return changed(t, dsn, func(u *url.URL) { u.Host = l.Addr().String() })
}

func pool(client net.Conn, address string, forgets bool) error {
	backend := pgproto3.NewBackend(client, client)
	startup, err := backend.ReceiveStartupMessage()
	if err != nil {
		return err
	}
	if _, ok := startup.(*pgproto3.StartupMessage).Parameters["default_transaction_read_only"]; ok {
		backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: default_transaction_read_only"})
		return backend.Flush()
	}
	server, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer server.Close()
	frontend := pgproto3.NewFrontend(server, server)
	frontend.Send(startup)
	if err := frontend.Flush(); err != nil {
		return err
	}
	go func() { // what the server says is passed on as it is
		buffer := make([]byte, 1<<16)
		for {
			n, err := server.Read(buffer)
			if err != nil {
				_ = client.Close()
				return
			}
			_, _ = client.Write(buffer[:n])
		}
	}()
	for {
		m, err := backend.Receive()
		if err != nil {
			return err
		}
		if b, ok := m.(*pgproto3.Bind); ok && b.PreparedStatement != "" && forgets {
			b.PreparedStatement = "of another process"
		}
		frontend.Send(m)
		if err := frontend.Flush(); err != nil {
			return err
		}
	}
}

func TestPoolers(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	for forgets, c := range map[bool]struct {
		status Status
		found  string
	}{
		true:  {Error, `prepared statement "of another process" does not exist`},
		false: {Note, "a pooler is between"},
	} {
		t.Run(fmt.Sprint("forgets ", forgets), func(t *testing.T) {
			results, _ := lookAtStore(t, pooler(t, dsn, forgets))
			expect(t, results, shop, "STORE_POOLER", c.status, c.found)
		})
	}
}

func TestStoreThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := OpenStore(t.Context(), connect.Database{DSN: "postgres://u:hunter2@127.0.0.1:1/x"})
	require.ErrorContains(t, err, "refused")
	require.NotContains(t, err.Error(), "hunter2")
	_, err = OpenStore(t.Context(), connect.Database{DSN: "sqlite:x"})
	require.ErrorIs(t, err, connect.ErrSQLite)
}
