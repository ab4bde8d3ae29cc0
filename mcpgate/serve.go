package mcpgate

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/session"
)

// Token authenticates a client over HTTP under its own name.
type Token struct {
	Name   stopgate.Principal
	Groups stopgate.Groups // of the principal
	SHA256 [sha256.Size]byte
}

// Local is the principal of clients without a token: the process that started the gateway,
// and local programs if no token is configured.
const Local stopgate.Principal = "local"

// HTTPOptions configure a [Handler].
type HTTPOptions struct {
	// Tokens authenticate clients. Every request needs one, also on the loopback interface
	// (G9): as a bearer token, or in the path /k/TOKEN/mcp for clients that can be given a
	// URL only.
	Tokens []Token
	// Hosts are accepted values of the Host header, in addition to those in [Settings]: the
	// names of the listening address.
	Hosts []string
	// Identity authenticates clients with other tokens, in the header only. After an error the
	// request is refused; the client is not told the reason. It may be nil.
	Identity func(r *http.Request, token string) (stopgate.Principal, stopgate.Groups, error)
	// Sessions keeps sessions for several gates, which then go on with each other's; nil for one
	// gate.
	Sessions interface {
		PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error
		LogEntry(ctx context.Context, p stopgate.Principal, key string) ([]byte, error)
	}
}

// Path is the path of the MCP endpoint.
const Path = "/mcp"

// Handler serves clients over streamable HTTP. It is safe for concurrent use.
type Handler struct{ http *serve.Handler }

// Handler returns the HTTP handler of the gateway. The caller must close it.
func (g *Gateway) Handler(o HTTPOptions) (*Handler, error) {
	if len(o.Tokens) == 0 && o.Identity == nil {
		return nil, errors.New("mcpgate: no tokens are configured: HTTP clients need one")
	}
	h := &Handler{serve.NewHandler(clients{g}, serve.Options{Path: Path, Hosts: slices.Concat(o.Hosts, g.set.Hosts), Origins: g.set.Origins, Identify: o.Identity, Shared: o.Sessions})}
	h.SetTokens(o.Tokens)
	return h, nil
}

// SetTokens replaces the tokens. A session stays usable if its client has a token of the
// same name.
func (h *Handler) SetTokens(tokens []Token) {
	list := make([]serve.Token, len(tokens))
	for i, t := range tokens {
		list[i] = serve.Token(t)
	}
	h.http.SetTokens(list)
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.http.ServeHTTP(w, r) }

// Close ends all sessions and their connections to servers.
func (h *Handler) Close() { h.http.Close() }

// ServeStdio serves one client over its standard input and output, one message per line,
// until the input or ctx ends. It then closes the connections to the servers. In the
// revision without sessions, too, the process is one client.
func (g *Gateway) ServeStdio(ctx context.Context, o session.Owner, in io.Reader, out io.Writer) error {
	return serve.Stdio(ctx, clients{g}, o, in, out, g.log)
}

// clients is the gateway as package serve uses it.
type clients struct{ g *Gateway }

// NewClient implements [serve.Gateway].
func (s clients) NewClient(o session.Owner, c serve.Connection) serve.Client {
	return s.g.newClient(o, c)
}

// Wait implements [serve.Gateway].
func (s clients) Wait() { s.g.work.Wait() }

// RefuseText implements [serve.Gateway].
func (s clients) RefuseText(ctx context.Context, o session.Owner, err error) []byte {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		return nil
	}
	if e.Method == "tools/call" {
		name := stopgate.ToolName(e.Tool)
		if s.g.one() {
			name = canonical(s.g.servers[0].ID, name)
		}
		s.g.refuseUnknown(ctx, o, name, e.ID, stopgate.CodeProtocolViolation)
	}
	code := jsonrpc.InvalidRequest
	if e.Parse {
		code = jsonrpc.ParseError
	}
	return jsonrpc.AppendError(nil, e.ID, code, e.Detail, nil)
}

// RefuseCall implements [serve.Gateway].
func (s clients) RefuseCall(ctx context.Context, o session.Owner, m *jsonrpc.Message, code stopgate.Code) {
	s.g.refuseUnknown(ctx, o, stopgate.ToolName(jsonrpc.TextOf(m.Params, "name")), m.ID, code)
}
