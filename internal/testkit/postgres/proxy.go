//go:build unix

package postgres

import (
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy forwards connections to a server, and loses them when a test says so.
type Proxy struct {
	listener net.Listener
	socket   string

	mu     sync.Mutex
	idle   *sync.Cond // signals the end of a stall
	conns  map[net.Conn]bool
	mode   ProxyMode
	onData func(Data) Fate
	chunks int
}

// ProxyMode is how a proxy treats connections.
type ProxyMode uint8

// The modes.
const (
	Forward ProxyMode = iota
	Refuse            // it closes new connections at once, as a machine without a server does
	Stall             // it keeps connections and forwards nothing, as a network that drops packets does
)

// Data is bytes that a proxy is about to forward.
type Data struct {
	N        int // number of the chunk since OnData
	ToServer bool
	Bytes    []byte
}

// Fate is what happens to them.
type Fate uint8

// The fates.
const (
	Pass      Fate = iota
	CutBefore      // the connection ends, and the bytes are lost
	CutAfter       // the bytes arrive, and then the connection ends
)

// Proxy starts a proxy of the server. It ends with the test.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, socket: s.Socket(), conns: map[net.Conn]bool{}}
	p.idle = sync.NewCond(&p.mu)
	var serving sync.WaitGroup
	serving.Go(p.serve)
	t.Cleanup(func() {
		l.Close()
		p.Set(Refuse)
		p.Cut()
		serving.Wait()
	})
	return p
}

// Through returns the URL of a database by way of the proxy. The URL is one of [Server.Database].
func (p *Proxy) Through(location string) string {
	_, rest, _ := strings.Cut(location, "@/")
	name, _, _ := strings.Cut(rest, "?")
	return "postgres://postgres@" + p.listener.Addr().String() + "/" + name + "?sslmode=disable"
}

// Set changes the mode.
func (p *Proxy) Set(m ProxyMode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	p.idle.Broadcast()
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// OnData calls f with all bytes of data that are forwarded from now on; nil for none.
func (p *Proxy) OnData(f func(Data) Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onData, p.chunks = f, 0
}

func (p *Proxy) serve() {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refused := p.mode == Refuse
		p.mu.Unlock()
		server, err := net.Dial("unix", p.socket)
		if err != nil || refused {
			client.Close()
			if err == nil {
				server.Close()
			}
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		all.Go(func() { p.copy(server, client, true) })
		all.Go(func() { p.copy(client, server, false) })
	}
}

// copy forwards one direction until either end closes.
func (p *Proxy) copy(to, from net.Conn, toServer bool) {
	defer func() {
		to.Close()
		from.Close()
		p.mu.Lock()
		delete(p.conns, to)
		delete(p.conns, from)
		p.mu.Unlock()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			fate := p.fate(Data{ToServer: toServer, Bytes: buffer[:n]})
			if fate == CutBefore {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil || fate == CutAfter {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) fate(d Data) Fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.mode == Stall {
		p.idle.Wait()
	}
	if p.onData == nil {
		return Pass
	}
	d.N = p.chunks
	p.chunks++
	return p.onData(d)
}
