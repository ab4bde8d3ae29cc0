package upstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/provider/registry"
)

// Options describe a model provider or a compatible server. Their fields are those of
// gateway.Upstream.
type Options struct {
	ID, API         string
	Models          []string // patterns
	BaseURL, Key    string
	ObjectArguments bool
	Connections     int
	Authorities     string
	Timeouts        Timeouts
	Transport       http.RoundTripper
}

// Timeouts limit the waits for an upstream.
type Timeouts struct {
	Connect     time.Duration // dialling and the TLS handshake
	Answer      time.Duration // the response header, streamed
	AnswerWhole time.Duration // the same, not streamed
	IdleFirst   time.Duration // between two bytes, before the first content
	Idle        time.Duration // between two bytes, after the first content
}

// Server is an upstream that is ready for requests.
type Server struct {
	Options
	Canned    bool // responses are scripts or recordings
	base      *url.URL
	pool      *http.Transport // the gateway's own pool, to be closed
	byDefault bool            // used by default, not configured
}

// over returns t, with the timeouts of base where t has none.
func (t Timeouts) over(base Timeouts) Timeouts {
	return Timeouts{
		Connect: positive(t.Connect, base.Connect), Answer: positive(t.Answer, base.Answer), AnswerWhole: positive(t.AnswerWhole, base.AnswerWhole),
		IdleFirst: positive(t.IdleFirst, base.IdleFirst), Idle: positive(t.Idle, base.Idle),
	}
}

func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
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

// Open opens an upstream. base are the timeouts where it has none.
func Open(u Options, base Timeouts) (*Server, error) {
	if u.Transport != nil && u.BaseURL == "" {
		u.BaseURL = "http://" + u.ID
	}
	address, err := u.address()
	if err != nil {
		return nil, err
	}
	u.Timeouts = u.Timeouts.over(base)
	up := &Server{Options: u, base: address}
	if u.Transport == nil {
		if up.pool, err = newTransport(&u); err != nil {
			return nil, err
		}
		up.Transport = up.pool
	}
	return up, nil
}

// Request builds the request for the upstream from scratch; it never clones the client's.
func (u *Server) Request(ctx context.Context, r *http.Request, body *Payload, data []byte) (*http.Request, error) {
	to := *r.URL
	header.QueryTokens(&to) // even if this gateway requires none
	if u.Canned || u.Key != "" {
		to.RawQuery = header.RemoveKeys(to.RawQuery)
	}
	out, err := http.NewRequestWithContext(ctx, r.Method, u.url(&to), nil)
	if err != nil {
		return nil, fmt.Errorf("request to upstream %s: %w", u.ID, err)
	}
	body.attach(out, data)
	out.Header = header.Request(r.Header)
	switch {
	case u.Canned:
		header.DropCredential(out.Header)
	case u.Key != "":
		vendor := registry.VendorNamed(u.API)
		if vendor == nil {
			vendor = registry.Closest(r.URL.Path, r.Header).Vendor
		}
		header.DropCredential(out.Header)
		vendor.SetKey(out.Header, u.Key)
	}
	return out, nil
}

// Address returns HOST:PORT of the upstream.
func (u *Server) Address() string {
	if u.base.Port() != "" {
		return u.base.Host
	}
	return net.JoinHostPort(u.base.Hostname(), map[string]string{"http": "80", "https": "443"}[u.base.Scheme])
}

// url joins the base URL with the client's path and query.
func (u *Server) url(in *url.URL) string {
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
