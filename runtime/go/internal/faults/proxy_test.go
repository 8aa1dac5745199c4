//go:build unix

package faults

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands before a server that others use too, so that it can be down for one test.
type proxy struct {
	url    string
	target string
	listen net.Listener

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]struct{}
}

// newProxy gives the server's URL with its own address in it.
func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	p := &proxy{target: u.Host, conns: make(map[net.Conn]struct{})}
	p.listen, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u.Host = p.listen.Addr().String()
	p.url = u.String()
	t.Cleanup(func() {
		_ = p.listen.Close()
		p.setDown(true)
	})
	go func() {
		for {
			client, err := p.listen.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

// setDown cuts what is connected, and refuses what comes.
func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for c := range p.conns {
		if down {
			_ = c.Close()
		}
	}
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.conns[c] = struct{}{}
	}
	return !p.down
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(server) {
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
