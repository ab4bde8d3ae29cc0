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
	"github.com/stopgate/stopgate/internal/wire"
	"github.com/stopgate/stopgate/internal/wire/anthropic"
	"github.com/stopgate/stopgate/internal/wire/openaichat"
	"github.com/stopgate/stopgate/internal/wire/openairesponses"
	"github.com/stopgate/stopgate/jsonstream"
)

// API names a wire format, as records and settings do.
type API string

// The APIs.
const (
	Chat      API = "openai-chat"
	Responses API = "openai-responses"
	Messages  API = "anthropic"
)

// APIs lists them.
func APIs() []string { return []string{string(Chat), string(Responses), string(Messages)} }

// DefaultMaxTokens bounds an answer of the Messages API, which wants a bound.
const DefaultMaxTokens = 32_000

// Endpoint is a model somewhere.
type Endpoint struct {
	API API
	// URL is the base URL as the provider's own clients take it: with /v1 for OpenAI and
	// what is compatible to it, without for Anthropic.
	URL   string
	Model string
	Key   string // "" sends no credential
	// Transport carries requests; nil for the one of net/http.
	Transport http.RoundTripper
	MaxTokens int // of one answer; 0 for the default
}

// Request is what a model is asked.
type Request struct {
	System   string
	Messages []conversation.Message
	Tools    []stopgate.ToolDefinition
	// Sent is told of a request that is about to be sent; what it returns gets the bytes
	// of the answer as they come. nil for nobody, twice.
	Sent func(body []byte) io.Writer
}

// Address is where the endpoint is, HOST:PORT.
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

// codec is the codec of an API, and where it is served below the base URL.
func (a API) codec() (d wire.Dialect, path string) {
	switch a {
	case Responses:
		return openairesponses.Dialect{}, "/responses"
	case Messages:
		return anthropic.Dialect{}, "/v1/messages"
	}
	return openaichat.Dialect{}, "/chat/completions"
}

// Ask sends the request and returns when the answer begins. The caller must Run the
// stream. An error of the provider is a *StatusError.
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
	var heard io.Writer
	if r.Sent != nil {
		heard = r.Sent(body)
	}
	res, err := (&http.Client{Transport: e.Transport, CheckRedirect: stay}).Do(req)
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
	if heard != nil {
		res.Body = copied{io.TeeReader(res.Body, heard), res.Body}
	}
	s := &Stream{sink: sink, body: res.Body, ctx: ctx, cancel: cancel, reader: e.API.reader(), api: e.API, names: aliases(r.Tools)}
	s.codec = d.Stream(declared, s, wire.Options{})
	return s, nil
}

// copied is a body of which somebody gets a copy.
type copied struct {
	io.Reader
	io.Closer
}

// stay follows no redirect: the credential is for this host.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

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

// StatusError is a provider's refusal to answer.
type StatusError struct {
	Status  int
	Message string        // the provider's own words; they may hold anything
	After   time.Duration // when to try again, 0 if the provider does not say
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the provider answered %d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Again reports whether the same request may succeed later.
func Again(err error) (after time.Duration, ok bool) {
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

// maxError bounds what is read of an error.
const maxError = 64 << 10

func refused(res *http.Response, kind string) error {
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // what came of it is enough
	e := &StatusError{Status: res.StatusCode}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.After = time.Duration(seconds) * time.Second
	}
	if res.StatusCode == http.StatusOK {
		e.Message = fmt.Sprintf("the answer is %q and no event stream", kind)
		return e
	}
	var doc jsonstream.Document
	if doc.Scan(text, wire.EnvelopeOptions(maxError)) == nil {
		e.Message = message(doc.Root())
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(string(text[:min(len(text), 300)]))
	}
	return e
}

// message finds the sentence in an error object of any of the APIs.
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
