package checklist

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo is a server that answers its name and what it is told.
func echo(t *testing.T, name string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.WriteString(c, name)
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, p *proxy) net.Conn {
	c, err := net.Dial("tcp", p.listen.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func read(t *testing.T, c net.Conn, n int) (string, error) {
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	buffer := make([]byte, n)
	_, err := io.ReadFull(c, buffer)
	return string(buffer), err
}

// TestProxyCutsTurnsAndWithholds: what is connected is cut, what comes is refused, goes elsewhere, or misses the answer
// to its COMMIT.
func TestProxyCutsTurnsAndWithholds(t *testing.T) {
	p, err := newProxy(echo(t, "one"))
	require.NoError(t, err)
	defer p.close()
	c := dial(t, p)
	said, err := read(t, c, 3)
	require.NoError(t, err)
	require.Equal(t, "one", said)
	p.setDown(true)
	_, err = read(t, c, 1)
	require.Error(t, err)
	_, err = read(t, dial(t, p), 1)
	require.Error(t, err)

	p.setDown(false)
	p.turn(echo(t, "two"))
	c = dial(t, p)
	said, err = read(t, c, 3)
	require.NoError(t, err)
	require.Equal(t, "two", said)

	release := p.withhold()
	_, err = io.WriteString(c, "COMMIT\x00")
	require.NoError(t, err)
	other := dial(t, p)
	said, err = read(t, other, 3)
	require.NoError(t, err)
	require.Equal(t, "two", said, "another connection's answers are other ones")
	require.NoError(t, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err, "it is withheld")
	release()
	said, err = read(t, c, 7)
	require.NoError(t, err)
	require.Equal(t, "COMMIT\x00", said)
}

// TestDownstreamKnowsItsCalls by the key or by the id in what is sent, and follows the rules.
func TestDownstreamKnowsItsCalls(t *testing.T) {
	d, err := newDownstream(Answer{Status: 200, Body: `{"ok":true}`})
	require.NoError(t, err)
	defer d.close()
	d.knows(&made{id: "f1", key: "orders:f1"})
	d.knows(&made{id: "f2", key: "orders:f2"})
	ask := func(key, body string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url, strings.NewReader(body))
		require.NoError(t, err)
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	d.set("f1", &rule{status: 503, first: 1})
	require.Equal(t, 503, ask(`"orders:f1"`, ""))
	require.Equal(t, 200, ask("orders:f1", ""))
	require.Equal(t, 200, ask("orders:f1", ""))
	require.Equal(t, 200, ask("", `{"order":"f2"}`))
	require.Equal(t, 200, ask("", `{"order":"f2"}`))
	require.Equal(t, map[string]int{"f1": 1, "f2": 2}, d.effects(), "a key counts once, calls without one each time")
	require.Len(t, d.of("f1"), 3)
	d.setAll(&rule{status: 500})
	require.Equal(t, 500, ask("", "f2"))
}
