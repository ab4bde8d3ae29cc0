package gateway

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
)

// configuration holds the settings and everything derived from them. It is immutable:
// [Gateway.Reload] replaces it, and an exchange keeps the one it started with.
type configuration struct {
	settings  Settings
	upstreams *upstream.Set
	routes    []route
	hosts     map[string]bool
	origins   map[string]bool
	tokens    []Token
	identity  Identity
	workloads Certificates
	chain     *chain.Chain // event policies
}

// Token authenticates a client. The gateway stores only its hash.
type Token struct {
	// Name is the principal of the client.
	Name   stopgate.Principal
	Groups stopgate.Groups // of the principal
	SHA256 [sha256.Size]byte
}

// Identity authenticates clients by tokens of an identity provider. It is safe for concurrent use.
type Identity interface {
	// Issued reports whether a token in a header for a provider's key is one for the gateway.
	Issued(token string) bool
	// Authenticate returns the caller of a request with a token. After an error the request is
	// refused; the client is not told the reason.
	Authenticate(r *http.Request, token string) (stopgate.Principal, stopgate.Groups, error)
}

// Certificates authenticate clients by the certificate of their connection. They are safe for
// concurrent use.
type Certificates interface {
	// AuthenticateConnection returns the client of a connection with a certificate. After an error
	// the connection, or the request, is refused.
	AuthenticateConnection(s *tls.ConnectionState) (stopgate.Principal, error)
}

// newConfiguration validates settings and rejects unsafe ones. It reuses open connections of the
// previous configuration, if any.
func newConfiguration(o *Options, before *configuration) (*configuration, error) {
	tokens, err := o.tokens()
	if err != nil {
		return nil, err
	}
	guarded := len(tokens) > 0 || o.Identity != nil || o.Certificates != nil
	if err := o.Settings.check(guarded); err != nil {
		return nil, err
	}
	c := &configuration{
		settings: o.Settings, routes: builtinRoutes(), tokens: tokens, identity: o.Identity, workloads: o.Certificates,
		hosts: map[string]bool{}, origins: map[string]bool{},
	}
	var list []upstream.Options
	for _, u := range o.Upstreams {
		list = append(list, u.options())
	}
	var old *upstream.Set
	if before != nil {
		old = before.upstreams
	}
	if c.upstreams, err = upstream.OpenSet(list, o.Settings.Timeouts.upstream(), guarded, old); err != nil {
		return nil, err
	}
	more, err := parseRoutes(o.Settings.Passthrough)
	if err != nil {
		return nil, err
	}
	c.routes = append(c.routes, more...)
	if c.chain, err = chain.New(o.Policies...); err != nil {
		return nil, err
	}
	if o.Replay != nil {
		if c.upstreams.Replay, err = upstream.Open(upstream.Options{ID: "replay", Transport: o.Replay}, o.Settings.Timeouts.upstream()); err != nil {
			return nil, err
		}
		c.upstreams.Replay.Canned = true
	}
	if host, _, err := net.SplitHostPort(o.Settings.Listen); err == nil {
		c.hosts[strings.ToLower(host)] = true
	}
	for _, host := range o.Settings.Hosts {
		c.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range o.Settings.Origins {
		c.origins[strings.ToLower(origin)] = true
	}
	return c, nil
}

// tokens returns all tokens of the options, as hashes.
func (o *Options) tokens() ([]Token, error) {
	list := o.Tokens
	if o.Token != "" {
		list = append([]Token{{Name: anyToken, SHA256: sha256.Sum256([]byte(o.Token))}}, list...)
	}
	seen := map[stopgate.Principal]bool{}
	for _, t := range list {
		switch {
		case !validName(string(t.Name)) || t.Name == local:
			return nil, fmt.Errorf("gateway: token name %q: want 1 to 128 letters, digits and . _ : -, and not %q", t.Name, local)
		case seen[t.Name]:
			return nil, fmt.Errorf("gateway: two tokens have the name %q", t.Name)
		case t.SHA256 == [sha256.Size]byte{} || t.SHA256 == sha256.Sum256(nil):
			return nil, fmt.Errorf("gateway: the token %q is empty", t.Name)
		}
		seen[t.Name] = true
	}
	return list, nil
}

// The principals of clients with an unnamed token, and of clients that need no token (S22).
const (
	anyToken stopgate.Principal = "token"
	local    stopgate.Principal = "local"
)

// Reload applies new settings, upstreams and tokens to exchanges that start from now on. Running
// exchanges keep theirs, and unchanged upstreams keep their connections. It ignores Gate, Replay,
// TLS, Certificates and Log of o, and the listen address: the caller owns the listener. After an error the old
// settings are still in force (FM11).
func (g *Gateway) Reload(o Options) error {
	apply, err := g.Prepare(o)
	if err == nil {
		apply()
	}
	return err
}

// Prepare is Reload in two steps, for callers that reload more than the gateway. apply cannot fail.
func (g *Gateway) Prepare(o Options) (apply func(), err error) {
	before := g.conf.Load()
	o.Replay = nil
	if replay := before.upstreams.Replay; replay != nil {
		o.Replay = replay.Transport
	}
	o.Settings.Listen, o.Certificates = before.settings.Listen, before.workloads
	next, err := newConfiguration(&o, before)
	if err != nil {
		return nil, err
	}
	return func() {
		old := g.conf.Swap(next)
		old.upstreams.CloseIdle(next.upstreams)
	}, nil
}
