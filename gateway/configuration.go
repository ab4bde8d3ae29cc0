package gateway

import (
	"crypto/sha256"
	"fmt"
	"net"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
)

// configuration is what a gateway goes by: its settings and what was made of them.
// It never changes; [Gateway.Reload] puts another one in its place, and an exchange
// keeps to the one it began with.
type configuration struct {
	settings  Settings
	upstreams upstreams
	replay    *upstream
	routes    []route
	hosts     map[string]bool
	origins   map[string]bool
	tokens    []Token
	chain     *events.Chain // of event policies
}

// Token lets a client in. The gateway knows its hash only.
type Token struct {
	// Name is the principal of what the client does.
	Name   stopgate.Principal
	SHA256 [sha256.Size]byte
}

// newConfiguration checks settings and refuses those that would be unsafe. What is
// open of the configuration before, if there is one, is used on.
func newConfiguration(o *Options, before *configuration) (*configuration, error) {
	tokens, err := o.tokens()
	if err != nil {
		return nil, err
	}
	if err := o.Settings.check(len(tokens) > 0); err != nil {
		return nil, err
	}
	c := &configuration{
		settings: o.Settings, routes: builtinRoutes(), tokens: tokens,
		hosts: map[string]bool{}, origins: map[string]bool{},
	}
	if c.upstreams, err = openUpstreams(o, len(tokens) > 0, before); err != nil {
		return nil, err
	}
	more, err := parseRoutes(o.Settings.Passthrough)
	if err != nil {
		return nil, err
	}
	c.routes = append(c.routes, more...)
	if c.chain, err = events.NewChain(o.Policies...); err != nil {
		return nil, err
	}
	if o.Replay != nil {
		if c.replay, err = openUpstream(Upstream{ID: "replay", Transport: o.Replay}, o.Settings.Timeouts); err != nil {
			return nil, err
		}
		c.replay.canned = true
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

// tokens are all tokens of the options, by their hashes.
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

// The principals of clients whose token has no name, and of those that need none
// (DECISIONS S22).
const (
	anyToken stopgate.Principal = "token"
	local    stopgate.Principal = "local"
)

// Reload puts other settings, upstreams and tokens into force for the exchanges that
// begin from now on; those that are under way keep to theirs, and upstreams that did
// not change keep their connections. Gate, Replay, TLS and Log of o are not looked at,
// and the address stays as it is: a listener is the caller's. On an error nothing
// changes (FM11).
func (g *Gateway) Reload(o Options) error {
	apply, err := g.Prepare(o)
	if err == nil {
		apply()
	}
	return err
}

// Prepare is Reload in two steps, for a caller with more to reload: apply cannot fail.
func (g *Gateway) Prepare(o Options) (apply func(), err error) {
	before := g.conf.Load()
	o.Replay = nil
	if before.replay != nil {
		o.Replay = before.replay.Transport
	}
	o.Settings.Listen = before.settings.Listen
	next, err := newConfiguration(&o, before)
	if err != nil {
		return nil, err
	}
	return func() {
		old := g.conf.Swap(next)
		old.upstreams.closeIdle(next.upstreams)
	}, nil
}
