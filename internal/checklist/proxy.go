package checklist

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
)

// proxy stands before a server, so that the service under test alone loses it, or gets another one in its place.
type proxy struct {
	listen net.Listener

	mu     sync.Mutex
	target string
	down   bool
	conns  map[net.Conn]struct{}
	// commits, where there is one, holds back the server's word that a transaction is committed.
	commits chan struct{}
}

func newProxy(target string) (*proxy, error) {
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listen: listen, target: target, conns: map[net.Conn]struct{}{}}
	go func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p, nil
}

// before is a URL with the proxy's address in place of its own.
func (p *proxy) before(u url.URL) string {
	u.Host = p.listen.Addr().String()
	return u.String()
}

// setDown cuts what is connected, and refuses what comes.
func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	if down {
		p.cut()
	}
}

// turn has what comes go elsewhere, and cuts what is connected.
func (p *proxy) turn(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	p.cut()
}

func (p *proxy) cut() {
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) close() {
	_ = p.listen.Close()
	p.setDown(true)
}

func (p *proxy) keep(c net.Conn) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.conns[c] = struct{}{}
	}
	return p.target, !p.down
}

func (p *proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *proxy) serve(client net.Conn) {
	defer p.drop(client)
	target, up := p.keep(client)
	if !up {
		return
	}
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer p.drop(server)
	if now, up := p.keep(server); !up || now != target {
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_ = p.answers(client, server)
}

// withhold has the server's answers to COMMIT not come through, until the function that it returns is called: who
// asked cannot know that its transaction is durable.
func (p *proxy) withhold() (release func()) {
	held := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits = held
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.commits = nil
		close(held)
	})
}

// committed is how PostgreSQL says it: the tag of a CommandComplete.
var committed = []byte("COMMIT\x00")

func (p *proxy) answers(client, server net.Conn) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if n > 0 {
			p.mu.Lock()
			held := p.commits
			p.mu.Unlock()
			if held != nil && bytes.Contains(buffer[:n], committed) {
				<-held
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}
