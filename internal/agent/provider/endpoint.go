package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/jsonstream"
)

// API is the name of a wire format, as in records and settings.
type API string

// The APIs.
const (
	Chat      API = "openai-chat"
	Responses API = "openai-responses"
	Messages  API = "anthropic"
)

// APIs returns their names.
func APIs() []string { return []string{string(Chat), string(Responses), string(Messages)} }

// maxTokens bounds a response of the Messages API, which requires a bound.
const maxTokens = 32_000

// Endpoint is a model at a provider.
type Endpoint struct {
	API API
	// URL is the base URL in the form of the provider's own clients: with /v1 for OpenAI and
	// compatible APIs, without for Anthropic.
	URL   string
	Model string
	Key   string // "" sends no credential
	// Transport sends requests; nil uses that of net/http.
	Transport http.RoundTripper
}

// Request is a request to a model.
type Request struct {
	System   string
	Messages []conversation.Message
	Tools    []stopgate.ToolDefinition
	// Sent is called with the body of a request before it is sent, and may return a writer that
	// receives a copy of the response. Both may be nil.
	Sent func(body []byte) io.Writer
}

// Address returns the address of the endpoint, HOST:PORT.
func (e *Endpoint) Address() string {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Host == "":
		return ""
	case u.Port() != "":
		return u.Host
	case u.Scheme == "http":
		return net.JoinHostPort(u.Hostname(), "80")
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

// codec returns the codec of an API, and its path below the base URL.
func (a API) codec() (d provider.Dialect, path string) {
	api := registry.Named(string(a))
	if api == nil {
		api = registry.Named(string(Chat))
	}
	path = api.Routes[0].Path
	if strings.HasSuffix(api.Vendor.BaseURL, "/v1") {
		path = strings.TrimPrefix(path, "/v1")
	}
	return api.Dialect, path
}

// Ask sends the request and returns when the response starts. The caller must call Run of the
// stream. An error status of the provider is a *StatusError.
func (e *Endpoint) Ask(ctx context.Context, r Request, sink Sink) (*Stream, error) {
	d, path := e.API.codec()
	body := e.body(&r)
	declared, err := d.Request(body)
	if err != nil {
		return nil, fmt.Errorf("ask the model: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("ask the model: %w", err)
	}
	e.header(req.Header)
	var observed io.Writer
	if r.Sent != nil {
		observed = r.Sent(body)
	}
	res, err := (&http.Client{Transport: e.Transport, CheckRedirect: noRedirect}).Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		return nil, fmt.Errorf("ask the model: %w", err)
	}
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		err := refused(res, kind)
		cancel(nil)
		return nil, err
	}
	if observed != nil {
		res.Body = copied{io.TeeReader(res.Body, observed), res.Body}
	}
	s := &Stream{sink: sink, body: res.Body, ctx: ctx, cancel: cancel, reader: e.API.reader(), api: e.API, names: aliases(r.Tools)}
	s.codec = d.Stream(declared, s, provider.Options{})
	return s, nil
}

// copied is a body that is also copied to a writer.
type copied struct {
	io.Reader
	io.Closer
}

// noRedirect follows no redirect, because the credential is only for this host.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (e *Endpoint) header(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	h.Set("User-Agent", "stopgate-agent")
	switch {
	case e.API == Messages:
		h.Set("Anthropic-Version", "2023-06-01")
		if e.Key != "" {
			h.Set("X-Api-Key", e.Key)
		}
	case e.Key != "":
		h.Set("Authorization", "Bearer "+e.Key)
	}
}

// StatusError is an error status of a provider.
type StatusError struct {
	Status  int
	Message string        // message of the provider, untrusted
	After   time.Duration // delay before a retry, 0 if the provider sends none
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the provider answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// RetryAfter reports whether the same request may succeed later, and the delay that the provider
// requested.
func RetryAfter(err error) (after time.Duration, ok bool) {
	var status *StatusError
	if !errors.As(err, &status) {
		return 0, false
	}
	switch status.Status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529:
		return status.After, true
	}
	return 0, false
}

// maxError bounds the bytes read of an error.
const maxError = 64 << 10

func refused(res *http.Response, kind string) error {
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // a partial text is enough
	e := &StatusError{Status: res.StatusCode}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.After = time.Duration(seconds) * time.Second
	}
	if res.StatusCode == http.StatusOK {
		e.Message = fmt.Sprintf("the answer is %q and no event stream", kind)
		return e
	}
	var doc jsonstream.Document
	if doc.Scan(text, provider.EnvelopeOptions(maxError)) == nil {
		e.Message = message(doc.Root())
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(string(text[:min(len(text), 300)]))
	}
	return e
}

// message returns the message in an error object of any API.
func message(v jsonstream.Value) string {
	if inner, ok := v.Get("error"); ok {
		v = inner
	}
	if v.Kind() == jsonstream.String {
		return v.Text()
	}
	m, _ := v.Get("message")
	return m.Text()
}
