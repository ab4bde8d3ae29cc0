package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/stopgate/stopgate/internal/provider/registry"
)

// Upstream is a model provider or a compatible server.
type Upstream struct {
	// ID identifies it in records, headers and messages.
	ID string
	// API is "openai", "anthropic" or another vendor of APIs, or empty for all.
	API string
	// Models are patterns of the models that it serves; * matches any text. An upstream without
	// patterns serves all models that no other upstream of its API serves; each API has at most
	// one.
	Models []string
	// BaseURL is its address. If the path ends in a version such as /v1, the version of the
	// client's path is not repeated.
	BaseURL string
	// Key replaces the client's credential. It requires a token (S46).
	Key string
	// ObjectArguments accepts arguments that are an object instead of a string.
	ObjectArguments bool
	// Connections limits the number of connections; 0 means no limit.
	Connections int
	// Authorities are PEM certificates of certificate authorities, in addition to the system's.
	Authorities string
	// Timeouts overrides the nonzero upstream timeouts: Connect, Answer, AnswerWhole, IdleFirst,
	// Idle.
	Timeouts Timeouts
	// Transport sends the requests. The default refuses addresses that are not providers. A custom
	// one must not follow redirects.
	Transport http.RoundTripper
}

// upstream is an Upstream that is ready for requests.
type upstream struct {
	Upstream
	base      *url.URL
	pool      *http.Transport // the gateway's own pool, to be closed
	canned    bool            // responses are scripts or recordings
	byDefault bool            // used by default, not configured
}

// apis returns the APIs of a setting, or nil for an unknown name.
func apis(setting string) []string {
	switch {
	case setting == "":
		return registry.VendorNames()
	case registry.VendorNamed(setting) != nil:
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

// request builds the request for the upstream from scratch; it never clones the client's.
func (u *upstream) request(ctx context.Context, r *http.Request, body *payload, data []byte) (*http.Request, error) {
	to := *r.URL
	queryTokens(&to) // even if this gateway requires none
	if u.canned || u.Key != "" {
		to.RawQuery = editKeys(to.RawQuery, func(string) bool { return true })
	}
	out, err := http.NewRequestWithContext(ctx, r.Method, u.url(&to), nil)
	if err != nil {
		return nil, fmt.Errorf("request to upstream %s: %w", u.ID, err)
	}
	body.attach(out, data)
	out.Header = requestHeader(r.Header)
	switch {
	case u.canned:
		dropCredential(out.Header)
	case u.Key != "":
		vendor := registry.VendorNamed(u.API)
		if vendor == nil {
			vendor = registry.Closest(r.URL.Path, r.Header).Vendor
		}
		dropCredential(out.Header)
		vendor.SetKey(out.Header, u.Key)
	}
	return out, nil
}

// address returns HOST:PORT of the upstream.
func (u *upstream) address() string {
	if u.base.Port() != "" {
		return u.base.Host
	}
	return net.JoinHostPort(u.base.Hostname(), map[string]string{"http": "80", "https": "443"}[u.base.Scheme])
}

// url joins the base URL with the client's path and query.
func (u *upstream) url(in *url.URL) string {
	path := in.Path
	base := strings.TrimSuffix(u.base.Path, "/")
	if first, _, _ := strings.Cut(path[1:], "/"); versioned(base) && versioned(first) {
		path = path[1+len(first):]
	}
	out := url.URL{Scheme: u.base.Scheme, Host: u.base.Host, Path: base + path, RawQuery: in.RawQuery}
	return out.String()
}

// versioned reports whether a path ends in a version: /v1, /v1beta, /v1beta2.
func versioned(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if len(last) < 2 || last[0] != 'v' {
		return false
	}
	number := strings.TrimLeft(last[1:], "0123456789")
	switch stage := strings.TrimRight(number, "0123456789"); {
	case len(number) == len(last)-1:
		return false
	default:
		return stage == "" || stage == "alpha" || stage == "beta"
	}
}

// Causes of an exchange's context.
var (
	errAnswerLate = errors.New("the upstream did not answer in time")
	errIdle       = errors.New("the upstream was silent for too long")
	errTotal      = errors.New("the exchange took too long")
	errDraining   = errors.New("the gateway shuts down")
	errClientGone = errors.New("the client went away")
	errDenied     = errors.New("everything that was pending is denied")
	errOver       = errors.New("the exchange is over")
)
