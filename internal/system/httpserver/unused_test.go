package httpserver_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stopgate/stopgate/internal/system/httpserver"
)

// Proves S7: the shutdown of a server closes connections without a request, those that arrive
// later, too, and no other.
func TestShutdownClosesUnusedConnections(t *testing.T) {
	srv := &http.Server{}
	httpserver.CloseUnused(srv)
	open := func(state ...http.ConnState) (server, client net.Conn) {
		server, client = net.Pipe()
		t.Cleanup(func() { server.Close(); client.Close() })
		for _, s := range state {
			srv.ConnState(server, s)
		}
		return server, client
	}
	ended := func(client net.Conn) {
		if n, err := client.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("an unused connection: %d %v", n, err)
		}
	}
	_, unused := open(http.StateNew)
	active, used := open(http.StateNew, http.StateActive)
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended(unused)
	_, late := open(http.StateNew)
	ended(late)
	go active.Write([]byte("a"))
	if n, err := used.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("a connection in use: %d %v", n, err)
	}
}
