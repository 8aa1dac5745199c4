package postgres_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy stands between a store and the server, and breaks what is said.
type proxy struct {
	url string

	mu     sync.Mutex
	lose   []byte // the next answer with this word does not arrive
	down   bool   // connections are cut, and refused
	conns  map[net.Conn]struct{}
	listen net.Listener
}

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	target := u.Host
	if u.Port() == "" {
		target = net.JoinHostPort(u.Hostname(), "5432")
	}
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host = listen.Addr().String()
	p := &proxy{url: u.String(), conns: make(map[net.Conn]struct{}), listen: listen}
	t.Cleanup(func() {
		listen.Close()
		p.setDown(true)
	})
	go func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			go p.serve(client, target)
		}
	}()
	return p
}

// loseAnswer has the next answer with a word not arrive, and cuts its connection: the server has done what it
// was asked.
func (p *proxy) loseAnswer(word string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = []byte(word)
}

func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for c := range p.conns {
		if down {
			c.Close()
		}
	}
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *proxy) loses(said []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lose == nil || !bytes.Contains(said, p.lose) {
		return false
	}
	p.lose = nil
	return true
}

func (p *proxy) serve(client net.Conn, target string) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(client) || !p.keep(server) {
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if p.loses(buffer[:n]) {
			return
		}
		if n > 0 {
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
