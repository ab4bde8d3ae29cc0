package operate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/system/httpserver"
	"github.com/stopgate/stopgate/mcpgate"
)

// mcpReady is the line that mcp prints when it listens; it changes only by addition.
type mcpReady struct {
	MCP string `json:"mcp"`
	// Token is there where no token is configured: this run made one up.
	Token string `json:"token,omitempty"`
}

// serveHTTP serves clients over streamable HTTP until ctx ends, and runs follow until end.
func (r *mcpRun) serveHTTP(ctx context.Context, gw *mcpgate.Gateway, follow func(h *mcpgate.Handler) (done <-chan struct{}), end func()) error {
	ln, err := net.Listen("tcp", r.flags.http)
	if err != nil {
		return cli.Hinted(fmt.Errorf("listen on %s: %w", r.flags.http, err), "choose another address, for example --http 127.0.0.1:0 for a free port")
	}
	at := mcpReady{MCP: "http://" + ln.Addr().String() + mcpgate.Path}
	o := mcpgate.HTTPOptions{Tokens: r.settings.Tokens, Hosts: hostsOf(ln.Addr())}
	if callers := r.identityOf(); callers != nil {
		o.Identity = callers.Authenticate
	}
	if _, shared := r.state.Store.(backend.Keys); shared {
		o.Sessions = r.state.Store
	}
	if len(o.Tokens) == 0 && o.Identity == nil {
		if !onLoopback(ln.Addr()) {
			return errors.Join(cli.Hinted(
				errors.New("an address that others can reach needs tokens, and there is none"),
				"add [mcp.tokens.NAME] or [identity.oidc] to your own policy file (see docs/reference/config.md), or listen on 127.0.0.1",
			), ln.Close())
		}
		at.Token = "sg_" + rand.Text()
		r.own = []mcpgate.Token{{Name: mcpgate.Local, SHA256: sha256.Sum256([]byte(at.Token))}}
		o.Tokens = r.own
	}
	handler, err := gw.Handler(o)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	following := follow(handler)
	defer func() { end(); <-following }()
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: gateway.Complaints(r.log),
	}
	httpserver.CloseUnused(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	r.tell("listening on " + at.MCP)
	if err = cli.WriteJSON(r.Out, at); err == nil {
		select {
		case <-ctx.Done():
		case err = <-served:
			served <- err
		}
	}
	handler.Close()
	bye, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if server.Shutdown(bye) != nil {
		_ = server.Close()
	}
	if serve := <-served; !errors.Is(serve, http.ErrServerClosed) {
		err = errors.Join(err, serve)
	}
	return err
}

// hostsOf are the names under which an address is reached.
func hostsOf(a net.Addr) []string {
	if onLoopback(a) {
		return []string{"localhost", "127.0.0.1", "::1"}
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return nil
	}
	return []string{host}
}

func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
