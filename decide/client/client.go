// Package client asks the decision API of a running gate whether tool calls may run.
//
//	gate, err := client.Local()                                  // this machine's stopgate up
//	gate, err := client.New("http://10.0.0.7:8789", client.Token(token))
//
//	answer, err := gate.Decide(ctx, client.Call{Tool: "write_file", Args: args, Session: "s1"})
//	if err != nil || !answer.Allowed() {
//		return refuse(answer)         // answer.Envelope is what to tell the model
//	}
//	result := run(answer.Args)        // these bytes and no others
//	delivery, err := gate.Observe(ctx, answer.ID, client.Result{Data: result})
//
// Where somebody must answer first, answer.Pending() holds and [Client.Wait] waits.
// [Client.Stream] decides while the arguments are still being written.
//
// What it promises: no error and no odd answer allows anything. An [Answer] lets a
// call run only if the gate said so for this very tool; the zero Answer does not, and
// every method that returns an error returns it. What the gate refuses to answer is a
// [*Problem]. A Client keeps no state of calls, asks nothing twice by itself, follows no redirect and uses no
// proxy of the environment. It imports nothing of stopgate but its nouns.
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

// Client speaks to one gate. It may be used from several goroutines.
type Client struct {
	base  string // scheme and host, and a path if there is one; no slash at the end
	token string
	http  *http.Client
}

// Option changes how a [Client] reaches its gate.
type Option func(*Client)

// Token is sent as a bearer token. A Unix socket needs none for decisions.
func Token(token string) Option { return func(c *Client) { c.token = token } }

// Transport replaces the connections of the client, for tests and for TLS of one's
// own. Redirects are refused all the same.
func Transport(t http.RoundTripper) Option { return func(c *Client) { c.http.Transport = t } }

// New makes a client for the gate at an address: http://HOST:PORT, https://HOST, or
// unix:///PATH as the line that `stopgate up` prints names its socket. It connects to
// nothing yet.
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

// Local makes a client for the gate that this user runs on this machine, at
// [LocalSocket].
func Local(options ...Option) (*Client, error) {
	path, err := LocalSocket()
	if err != nil {
		return nil, err
	}
	return New((&url.URL{Scheme: "unix", Path: filepath.ToSlash(path)}).String(), options...)
}

// LocalSocket is where `stopgate up` puts its socket if nobody names another place: in
// $XDG_RUNTIME_DIR, which ends with the login, else in the user's state directory.
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

// maxAnswer bounds what is read of an answer: the longest arguments, twice, and room.
const maxAnswer = 64 << 20

// errAnswer says that what answered is no gate, or not one that this client knows.
var errAnswer = errors.New("client: that is no answer of a gate")

// request is one exchange.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any // what is sent as JSON; nil for nothing
}

// open sends a request and returns an answer that is no problem. body replaces
// r.body where it is not nil.
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

// do sends a request and reads the answer into a value, which may be nil.
func (c *Client) do(ctx context.Context, r request, into any) error {
	in, err := c.open(ctx, r, nil)
	if err != nil {
		return err
	}
	defer in.Body.Close()
	text, err := io.ReadAll(io.LimitReader(in.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("client: the answer broke off: %w", err)
	case into == nil:
		return nil
	case len(text) > maxAnswer || !isJSON(in.Header):
		return errAnswer
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	return nil
}

// encode writes JSON and leaves every character as it is: the arguments of a call are
// what was meant, byte for byte.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func isJSON(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "application/json") }

// prefer is the header that asks a gate to wait for people.
func prefer(wait time.Duration) http.Header {
	if wait <= 0 {
		return nil
	}
	return http.Header{"Prefer": {fmt.Sprintf("wait=%d", (wait+time.Second-1)/time.Second)}}
}

// escape makes an id one segment of a path.
func escape[T ~string](id T) string { return url.PathEscape(string(id)) }
