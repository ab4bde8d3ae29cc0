package mcpgate

import (
	"context"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/mcp/link"
)

// Transport is the way to a server: [Command] or [Remote]. The gateway accepts no other ones.
type Transport interface{ fmt.Stringer }

// Command returns the transport that starts a server as a process and talks to it over standard
// input and output. args are the program and its arguments, env is its whole environment; stderr
// receives its standard error and may be nil.
func Command(args, env []string, dir string, stderr io.Writer) Transport {
	c := link.Command{Args: args, Env: env, Dir: dir, Stderr: stderr}
	return link.OpenFunc(func(_ context.Context, e link.Events) (link.Link, error) { return link.Start(c, e) })
}

// Remote returns the transport to a server at an address, over streamable HTTP. token is the
// gateway's credential, sent as a bearer token; it may be empty.
func Remote(url, token string) Transport {
	at := link.Endpoint{URL: url, Token: token}
	return link.OpenFunc(func(_ context.Context, e link.Events) (link.Link, error) { return link.Dial(at, e) })
}

func canOpen(t Transport) bool {
	_, ok := t.(link.Opener)
	return ok
}

// open connects to the server. [New] has checked its transport.
func (s *Server) open(ctx context.Context, e link.Events) (link.Link, error) {
	return s.Transport.(link.Opener).Open(ctx, e)
}
