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

	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Endpoint is a server that is reached over streamable HTTP.
type Endpoint struct {
	URL   string
	Token string // our own credential, sent as a bearer token; "" for none
	// Transport carries the requests; nil takes one of the link's own.
	Transport http.RoundTripper
	// Pause is how long a stream that ended is left alone before it is resumed, where
	// the server does not say: 1 s if zero.
	Pause time.Duration
}

// HTTP is a link to an endpoint. In the revisions with sessions it keeps the server's
// session, and a stream for what belongs to no request.
type HTTP struct {
	at     Endpoint
	client *http.Client
	events Events
	ctx    context.Context // of the link's own stream
	end    context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	session string
	version string
	dead    bool
	done    chan struct{}
}

// firstWithout is the revision that has no sessions and no stream of its own.
const firstWithout = "2026-07-28"

// resumptions is how often a stream that broke off is taken up again.
const resumptions = 8

// Dial makes a link. Nothing is sent before the first call.
func Dial(e Endpoint, events Events) (*HTTP, error) {
	u, err := url.Parse(e.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("link: an endpoint is an http or https URL")
	}
	if e.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost, t.ResponseHeaderTimeout = 64, 0
		e.Transport = t
	}
	if e.Pause <= 0 {
		e.Pause = time.Second
	}
	h := &HTTP{at: e, events: events, done: make(chan struct{})}
	// A credential goes to the server it is for, and nowhere that it points to.
	h.client = &http.Client{Transport: e.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h, nil
}

// Place implements [Placed].
func (h *HTTP) Place() Place {
	u, _ := url.Parse(h.at.URL) // Dial has read it
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return Place{Transport: "tcp", Protocol: "http", Address: address, Session: h.session}
}

// Call implements [Link]. Giving a call up closes its stream.
func (h *HTTP) Call(ctx context.Context, c *Call) (Reply, error) {
	resp, err := h.post(ctx, c)
	if err != nil {
		return Reply{}, h.cause(ctx, err)
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
			return Reply{}, h.cause(ctx, err)
		}
		return h.mine(m, c.ID, resp.StatusCode)
	case "text/event-stream":
		return h.stream(ctx, c, resp)
	}
	return Reply{}, h.status(resp.StatusCode)
}

// mine checks that a body answers the request. An error without an id answers it too.
func (h *HTTP) mine(m *jsonrpc.Message, id jsonrpc.ID, status int) (Reply, error) {
	if m.Kind == jsonrpc.Failure && (m.ID == id || m.ID == "" && status >= 400) || m.Kind == jsonrpc.Response && m.ID == id {
		if status == http.StatusNotFound {
			h.forgotten()
		}
		return Reply{Message: m, Status: status}, nil
	}
	return Reply{}, &Garbage{errors.New("it answers another request")}
}

// status is the error of an answer that is no message.
func (h *HTTP) status(code int) error {
	if code == http.StatusNotFound {
		h.forgotten()
	}
	return &StatusError{code}
}

// forgotten ends a link whose session the server does not know any more.
func (h *HTTP) forgotten() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != "" {
		h.die()
	}
}

// die marks the link dead; h.mu is held.
func (h *HTTP) die() {
	if !h.dead {
		h.dead = true
		h.end()
		close(h.done)
	}
}

// cause says why a request failed: the caller's own reason, if there is one.
func (h *HTTP) cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if g := new(Garbage); errors.As(err, &g) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDead, err)
}

func (h *HTTP) post(ctx context.Context, c *Call) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.at.URL, bytes.NewReader(c.Text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	h.dress(r, c.Version)
	if c.Version >= firstWithout {
		for name, value := range c.Headers {
			r.Header.Set(name, value)
		}
	}
	return h.client.Do(r)
}

// dress sets the headers that every request has.
func (h *HTTP) dress(r *http.Request, version string) {
	r.Header.Set("Accept", "application/json, text/event-stream")
	if h.at.Token != "" {
		r.Header.Set("Authorization", "Bearer "+h.at.Token)
	}
	if version != "" {
		r.Header.Set("Mcp-Protocol-Version", version)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != "" && version < firstWithout {
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
		return nil, &Garbage{err}
	}
	return m, nil
}

func (h *HTTP) orNil(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return h.cause(ctx, err)
}

// Send implements [Link]. Behind the client's word that it is ready the link opens its
// own stream.
func (h *HTTP) Send(ctx context.Context, c *Call) error {
	resp, err := h.post(ctx, c)
	if err != nil {
		return h.cause(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return h.status(resp.StatusCode)
	}
	if c.Method == "notifications/initialized" && c.Version < firstWithout {
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

// listen keeps the link's own stream open, while the server has one.
func (h *HTTP) listen() {
	at := position{}
	for h.ctx.Err() == nil {
		resp, err := h.resume(h.ctx, h.version, &at)
		if err != nil {
			if errors.As(err, new(*StatusError)) {
				return // the server has no such stream, or no such session
			}
		} else {
			_, _ = h.read(resp, &at, nil)
			resp.Body.Close()
		}
		if at.pause == 0 {
			at.pause = h.at.Pause
		}
	}
}

// Done implements [Link].
func (h *HTTP) Done() <-chan struct{} { return h.done }

// farewell is how long a server has to hear that a session ends.
const farewell = 2 * time.Second

// Close implements [Link]: the server is told that the session ends.
func (h *HTTP) Close() error {
	h.mu.Lock()
	told := h.dead || h.session == ""
	h.die()
	h.mu.Unlock()
	h.work.Wait()
	if !told {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		if r, err := http.NewRequestWithContext(ctx, http.MethodDelete, h.at.URL, nil); err == nil {
			h.dress(r, h.version)
			if resp, err := h.client.Do(r); err == nil {
				resp.Body.Close()
			}
		}
	}
	if t, ok := h.at.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	return nil
}
