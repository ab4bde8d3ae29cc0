// Package httpserver holds how the project's HTTP servers end.
package httpserver

import (
	"net"
	"net/http"
	"sync"
)

// CloseUnused makes Shutdown of srv close connections on which no request has begun. Clients open
// them ahead of need, and Shutdown would wait five seconds for each. It is called before srv serves
// and takes srv.ConnState.
func CloseUnused(srv *http.Server) {
	u := &unused{conns: map[net.Conn]struct{}{}}
	srv.ConnState = u.changed
	srv.RegisterOnShutdown(u.close)
}

type unused struct {
	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	closing bool
}

func (u *unused) changed(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.conns, conn)
	case u.closing:
		_ = conn.Close()
	default:
		u.conns[conn] = struct{}{}
	}
}

func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closing = true
	for conn := range u.conns {
		_ = conn.Close()
	}
	clear(u.conns)
}
