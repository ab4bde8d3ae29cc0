package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Upstream is a model provider, or a server that speaks like one.
type Upstream struct {
	// ID names it in records, headers and messages.
	ID string
	// API is "openai", "anthropic" or empty for both.
	API string
	// Models are the models that it serves: names, in which * stands for any text.
	// One without is for all models that no other upstream of its API names; each API
	// has one such upstream.
	Models []string
	// BaseURL is where it lives. If its path ends in a version such as /v1, the
	// version of the client's path is not repeated.
	BaseURL string
	// Key is sent instead of the client's credential. It needs a token (S46).
	Key string
	// ObjectArguments accepts arguments that are an object instead of a string.
	ObjectArguments bool
	// Connections bounds the connections to it; 0 does not.
	Connections int
	// Authorities are PEM certificates, beside the system's, that it may be signed by.
	Authorities string
	// Timeouts replaces the waiting times for the upstream that are not zero: Connect,
	// Answer, AnswerWhole, IdleFirst, Idle.
	Timeouts Timeouts
	// Transport sends the requests. Nil means one that refuses addresses no
	// provider has; another one must not follow redirects.
	Transport http.RoundTripper
}

// The providers' own addresses, used where nothing else is configured.
const (
	openaiURL    = "https://api.openai.com/v1"
	anthropicURL = "https://api.anthropic.com"
)

// upstream is an Upstream that is ready for requests.
type upstream struct {
	Upstream
	base      *url.URL
	pool      *http.Transport // our own, to be closed
	canned    bool            // answers are scripts and recordings, not a model's
	byDefault bool            // nobody configured it
}

// apis lists the APIs that a setting means; nil for a word that is none.
func apis(setting string) []string {
	switch setting {
	case "":
		return []string{"openai", "anthropic"}
	case "openai", "anthropic":
		return []string{setting}
	}
	return nil
}

func openUpstream(u Upstream, t Timeouts) (*upstream, error) {
	if u.Transport != nil && u.BaseURL == "" {
		u.BaseURL = "http://" + u.ID
	}
	base, err := checkUpstream(u)
	if err != nil {
		return nil, err
	}
	u.Timeouts = u.Timeouts.over(t)
	up := &upstream{Upstream: u, base: base}
	if u.Transport == nil {
		if up.pool, err = newTransport(&u); err != nil {
			return nil, err
		}
		up.Transport = up.pool
	}
	return up, nil
}

// request makes the request for the upstream: new, never a clone (WIRE 9.2).
func (u *upstream) request(ctx context.Context, r *http.Request, body *payload, data []byte) (*http.Request, error) {
	out, err := http.NewRequestWithContext(ctx, r.Method, u.url(r.URL), nil)
	if err != nil {
		return nil, fmt.Errorf("request to upstream %s: %w", u.ID, err)
	}
	body.attach(out, data)
	out.Header = requestHeader(r.Header)
	switch {
	case u.canned:
		dropCredential(out.Header)
	case u.Key != "":
		form := "Authorization"
		if u.API == "anthropic" || u.API == "" && r.Header.Get("Anthropic-Version") != "" {
			form = "X-Api-Key"
		}
		dropCredential(out.Header)
		if form == "X-Api-Key" {
			out.Header.Set(form, u.Key)
		} else {
			out.Header.Set(form, "Bearer "+u.Key)
		}
	}
	return out, nil
}

// address is where the upstream is, HOST:PORT.
func (u *upstream) address() string {
	if u.base.Port() != "" {
		return u.base.Host
	}
	return net.JoinHostPort(u.base.Hostname(), map[string]string{"http": "80", "https": "443"}[u.base.Scheme])
}

// url joins the base URL and the client's path and query.
func (u *upstream) url(in *url.URL) string {
	path := in.Path
	base := strings.TrimSuffix(u.base.Path, "/")
	if versioned(base) {
		path = strings.TrimPrefix(path, "/v1")
	}
	out := url.URL{Scheme: u.base.Scheme, Host: u.base.Host, Path: base + path, RawQuery: in.RawQuery}
	return out.String()
}

// versioned reports whether a path ends in /vN.
func versioned(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if len(last) < 2 || last[0] != 'v' {
		return false
	}
	return strings.Trim(last[1:], "0123456789") == ""
}

// Why an exchange was cut short, as causes of its context.
var (
	errAnswerLate = errors.New("the upstream did not answer in time")
	errIdle       = errors.New("the upstream was silent for too long")
	errTotal      = errors.New("the exchange took too long")
	errDraining   = errors.New("the gateway shuts down")
	errClientGone = errors.New("the client went away")
	errDenied     = errors.New("everything that was pending is denied")
	errOver       = errors.New("the exchange is over")
)
