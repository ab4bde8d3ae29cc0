// Package client is a client of the decision API of a running gate.
//
//	gate, err := client.Local()                                  // this machine's stopgate up
//	gate, err := client.New("http://10.0.0.7:8789", client.Token(token))
//
//	decision, err := gate.Decide(ctx, client.Call{Tool: "write_file", Args: args, Session: "s1"})
//	if err != nil || !decision.Allowed() {
//		return refuse(decision)       // decision.Envelope is the result for the model
//	}
//	result := run(decision.Args)      // exactly these bytes
//	delivery, err := gate.Observe(ctx, decision.ID, client.Result{Data: result})
//
// If approval is required, decision.Pending() is true and [Client.Wait] waits for it.
// [Client.Stream] decides while the arguments are still being generated.
//
// No error and no malformed response allows a call. A [Decision] allows a call only if the gate
// allowed this tool; the zero Decision does not, and every method that returns an error returns the
// zero Decision or a pending one. Error responses of the gate are of type [*Problem]. A Client
// stores no state of calls, never retries, follows no redirects and ignores proxies of the
// environment. Of stopgate it imports only the root package.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Client is a client of one gate. It is safe for concurrent use.
type Client struct {
	base  string // scheme, host and optional path, without a trailing slash
	token string
	key   string // of a session
	http  *http.Client
}

// Option configures a [Client].
type Option func(*Client)

// Token sends a bearer token. Decisions over a Unix socket need none.
func Token(token string) Option { return func(c *Client) { c.token = token } }

// Transport replaces the transport of the client, for tests and custom TLS. Redirects are still not
// followed.
func Transport(t http.RoundTripper) Option { return func(c *Client) { c.http.Transport = t } }

// New returns a client for the gate at an address: http://HOST:PORT, https://HOST, or unix:///PATH
// as `stopgate up` prints it. It does not connect yet.
func New(address string, options ...Option) (*Client, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	transport := &http.Transport{
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: 5 * time.Second,
	}
	c := &Client{http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	switch {
	case at.Scheme == "unix" && at.Host == "" && filepath.IsAbs(at.Path):
		path := filepath.FromSlash(at.Path)
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		c.base = "http://stopgate"
	case (at.Scheme == "http" || at.Scheme == "https") && at.Host != "" && at.User == nil && at.RawQuery == "" && at.Fragment == "":
		c.base = strings.TrimRight(address, "/")
	default:
		return nil, fmt.Errorf("client: want http://HOST:PORT, https://HOST or unix:///PATH, not %q", address)
	}
	for _, o := range options {
		o(c)
	}
	return c, nil
}

// Local returns a client for this user's gate on this machine, at [LocalSocket].
func Local(options ...Option) (*Client, error) {
	path, err := LocalSocket()
	if err != nil {
		return nil, err
	}
	return New((&url.URL{Scheme: "unix", Path: filepath.ToSlash(path)}).String(), options...)
}

// LocalSocket returns the default path of the socket of `stopgate up`: in $XDG_RUNTIME_DIR, which
// is removed at logout, else in the user's state directory.
func LocalSocket() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if at, err := os.Stat(dir); err == nil && at.IsDir() {
			return filepath.Join(dir, "stopgate", "api.sock"), nil
		}
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("client: %w", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "stopgate", "api.sock"), nil
}

// maxResponse limits a response: twice the longest arguments, plus the other members.
const maxResponse = 64 << 20

// errNotAGate reports a response that is not a response of a gate, or of an unknown version.
var errNotAGate = errors.New("client: the response is not a response of a gate")

// request is one HTTP request.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any // JSON body, or nil
}

// open sends a request and returns the response if it is not a problem. body replaces r.body unless
// it is nil.
func (c *Client) open(ctx context.Context, r request, body io.Reader) (*http.Response, error) {
	if body == nil && r.body != nil {
		text, err := encode(r.body)
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		body = bytes.NewReader(text)
	}
	where := c.base + r.path
	if len(r.query) > 0 {
		where += "?" + r.query.Encode()
	}
	out, err := http.NewRequestWithContext(ctx, r.method, where, body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	for name, values := range r.header {
		out.Header[name] = values
	}
	out.Header.Set("User-Agent", "stopgate-client")
	if body != nil && out.Header.Get("Content-Type") == "" {
		out.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		out.Header.Set("Stopgate-Session-Key", c.key)
	}
	if c.token != "" {
		out.Header.Set("Authorization", "Bearer "+c.token)
	}
	in, err := c.http.Do(out)
	if err != nil {
		if dial := new(net.OpError); errors.As(err, &dial) && dial.Op == "dial" {
			return nil, fmt.Errorf("client: no gate answers; stopgate up starts one: %w", err)
		}
		return nil, fmt.Errorf("client: %w", err)
	}
	if in.StatusCode/100 != 2 {
		defer in.Body.Close()
		return nil, problemOf(in)
	}
	return in, nil
}

// do sends a request and decodes the response into a value, which may be nil.
func (c *Client) do(ctx context.Context, r request, into any) error {
	in, err := c.open(ctx, r, nil)
	if err != nil {
		return err
	}
	defer in.Body.Close()
	text, err := io.ReadAll(io.LimitReader(in.Body, maxResponse+1))
	switch {
	case err != nil:
		return fmt.Errorf("client: the answer broke off: %w", err)
	case into == nil:
		return nil
	case len(text) > maxResponse || !isJSON(in.Header):
		return errNotAGate
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: %w", errNotAGate, err)
	}
	return nil
}

// encode marshals JSON without HTML escaping, so that the arguments of a call keep their bytes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func isJSON(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "application/json") }

// prefer returns the header that asks the gate to wait for approval.
func prefer(wait time.Duration) http.Header {
	if wait <= 0 {
		return nil
	}
	return http.Header{"Prefer": {fmt.Sprintf("wait=%d", (wait+time.Second-1)/time.Second)}}
}

// escape encodes an id as one segment of a path.
func escape[T ~string](id T) string { return url.PathEscape(string(id)) }
