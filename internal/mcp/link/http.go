package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// Endpoint is a server that is reached over streamable HTTP.
type Endpoint struct {
	URL   string
	Token string // the gateway's credential, sent as a bearer token; "" for none
	// Transport sends the requests. If nil, the link uses its own.
	Transport http.RoundTripper
	// RetryDelay is the delay before an ended stream is resumed, unless the server sends
	// one. Zero means 1 s.
	RetryDelay time.Duration
}

// HTTP is a link to an HTTP endpoint. In revisions with sessions it maintains the server's
// session and a stream for messages that belong to no request.
type HTTP struct {
	endpoint Endpoint
	client   *http.Client
	events   Events
	ctx      context.Context // of the link's own stream
	end      context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	session string
	version string
	dead    bool
	done    chan struct{}
}

// sessionless is the first revision without sessions and without a separate stream.
const sessionless = "2026-07-28"

// maxResumptions is the maximum number of times that a broken stream is resumed.
const maxResumptions = 8

// Dial returns a link to e, which it contacts at the first call.
func Dial(e Endpoint, events Events) (*HTTP, error) {
	u, err := url.Parse(e.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("link: the endpoint is not an http or https URL")
	}
	if e.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost, t.ResponseHeaderTimeout = 64, 0
		e.Transport = t
	}
	if e.RetryDelay <= 0 {
		e.RetryDelay = time.Second
	}
	h := &HTTP{endpoint: e, events: events, done: make(chan struct{})}
	// Redirects are not followed: the credential is sent to the configured server only.
	h.client = &http.Client{Transport: e.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h, nil
}

// ConnInfo implements [Traced].
func (h *HTTP) ConnInfo() ConnInfo {
	u, _ := url.Parse(h.endpoint.URL) // Dial has read it
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return ConnInfo{Transport: "tcp", Protocol: "http", Address: address, Session: h.session}
}

// Call implements [Link]. Cancelling ctx closes the request's stream.
func (h *HTTP) Call(ctx context.Context, c *Call) (Reply, error) {
	resp, err := h.post(ctx, c)
	if err != nil {
		return Reply{}, h.wrapError(ctx, err)
	}
	defer resp.Body.Close()
	if c.Method == "initialize" && resp.StatusCode < 300 {
		h.mu.Lock()
		h.session = resp.Header.Get("Mcp-Session-Id")
		h.mu.Unlock()
	}
	switch mediaType(resp) {
	case "application/json":
		m, err := h.body(resp)
		if err != nil {
			return Reply{}, h.wrapError(ctx, err)
		}
		return h.match(m, c.ID, resp.StatusCode)
	case "text/event-stream":
		return h.stream(ctx, c, resp)
	}
	return Reply{}, h.statusError(resp.StatusCode)
}

// match checks that the message answers the request id. An error response without an id is
// accepted if the HTTP status is an error.
func (h *HTTP) match(m *jsonrpc.Message, id jsonrpc.ID, status int) (Reply, error) {
	if m.Kind == jsonrpc.ErrorResponse && (m.ID == id || m.ID == "" && status >= 400) || m.Kind == jsonrpc.Response && m.ID == id {
		if status == http.StatusNotFound {
			h.sessionLost()
		}
		return Reply{Message: m, Status: status}, nil
	}
	return Reply{}, &InvalidResponseError{errors.New("the response has the id of another request")}
}

// statusError returns the error for an HTTP response that contains no message.
func (h *HTTP) statusError(code int) error {
	if code == http.StatusNotFound {
		h.sessionLost()
	}
	return &StatusError{code}
}

// sessionLost ends a link whose session the server no longer knows.
func (h *HTTP) sessionLost() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != "" {
		h.markDead()
	}
}

// markDead marks the link as dead. h.mu is locked.
func (h *HTTP) markDead() {
	if !h.dead {
		h.dead = true
		h.end()
		close(h.done)
	}
}

// wrapError returns the error of a failed request: the cause of ctx if it was cancelled.
func (h *HTTP) wrapError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if g := new(InvalidResponseError); errors.As(err, &g) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDead, err)
}

func (h *HTTP) post(ctx context.Context, c *Call) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.endpoint.URL, bytes.NewReader(c.Text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	h.setHeaders(r, c.Version)
	if c.Version >= sessionless {
		for name, value := range c.Headers {
			r.Header.Set(name, value)
		}
	}
	return h.client.Do(r)
}

// setHeaders sets the headers that all requests have.
func (h *HTTP) setHeaders(r *http.Request, version string) {
	r.Header.Set("Accept", "application/json, text/event-stream")
	if h.endpoint.Token != "" {
		r.Header.Set("Authorization", "Bearer "+h.endpoint.Token)
	}
	if version != "" {
		r.Header.Set("Mcp-Protocol-Version", version)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != "" && version < sessionless {
		r.Header.Set("Mcp-Session-Id", h.session)
	}
}

func mediaType(r *http.Response) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func (h *HTTP) body(r *http.Response) (*jsonrpc.Message, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, jsonrpc.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	m, err := jsonrpc.Read(text)
	if err != nil {
		return nil, &InvalidResponseError{err}
	}
	return m, nil
}

func (h *HTTP) orNil(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return h.wrapError(ctx, err)
}

// Send implements [Link]. After the notification "initialized" it opens the link's own
// stream.
func (h *HTTP) Send(ctx context.Context, c *Call) error {
	resp, err := h.post(ctx, c)
	if err != nil {
		return h.wrapError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return h.statusError(resp.StatusCode)
	}
	if c.Method == "notifications/initialized" && c.Version < sessionless {
		h.mu.Lock()
		first := h.version == "" && !h.dead
		h.version = c.Version
		h.mu.Unlock()
		if first {
			h.work.Go(h.listen)
		}
	}
	return nil
}

// listen keeps the link's own stream open for as long as the server offers one.
func (h *HTTP) listen() {
	at := position{}
	for h.ctx.Err() == nil {
		resp, err := h.resume(h.ctx, h.version, &at)
		if err != nil {
			if errors.As(err, new(*StatusError)) {
				return // the server offers no such stream, or the session has ended
			}
		} else {
			_, _ = h.read(resp, &at, nil)
			resp.Body.Close()
		}
		if at.retryDelay == 0 {
			at.retryDelay = h.endpoint.RetryDelay
		}
	}
}

// Done implements [Link].
func (h *HTTP) Done() <-chan struct{} { return h.done }

// closeTimeout limits the request that ends the server's session.
const closeTimeout = 2 * time.Second

// Close implements [Link]. It ends the server's session with a DELETE request.
func (h *HTTP) Close() error {
	h.mu.Lock()
	ended := h.dead || h.session == ""
	h.markDead()
	h.mu.Unlock()
	h.work.Wait()
	if !ended {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if r, err := http.NewRequestWithContext(ctx, http.MethodDelete, h.endpoint.URL, nil); err == nil {
			h.setHeaders(r, h.version)
			if resp, err := h.client.Do(r); err == nil {
				resp.Body.Close()
			}
		}
	}
	if t, ok := h.endpoint.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	return nil
}
