// Package identity authenticates callers: by the tokens of an OpenID Connect provider, and by client
// certificates with SPIFFE ids.
//
//	p := identity.New(identity.OIDC{Issuer: "https://id.example.com", Audience: "stopgate"}, identity.Options{})
//	principal, groups, err := p.Authenticate(r, bearer)
//
// A token is accepted if the issuer signed it with a key that it publishes, by an asymmetric
// algorithm, for the audience, and it is in force. Everything else is refused: a token is never taken
// for less than it claims to be, and a caller is never taken for nobody.
//
// Guarantees:
//
//   - Errors name the reason, for logs. They contain no token, and callers get none of them.
//   - The issuer is asked for its keys, and not about tokens. If it cannot be reached, keys that are
//     known are used until [MaxKeyAge]; then every token is refused.
//   - A certificate counts if its chain ends at a root of the file, it is that of a client, and its one
//     URI is a SPIFFE id of a workload of the trust domain.
//   - A caller that was logged out by the provider (Back-Channel Logout) is refused by every gate with
//     the same store.
package identity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
)

// Bounds of tokens and keys.
const (
	// MaxToken is the maximum length of a token in bytes.
	MaxToken = 16 << 10
	// Skew is how far the clocks of the issuer and the gate may differ.
	Skew = time.Minute
	// KeyRefresh is the age from which keys are read again, MaxKeyAge the age from which they are
	// not used any more.
	KeyRefresh = 5 * time.Minute
	MaxKeyAge  = time.Hour
	// fetchInterval bounds how often keys are read because a token names one that is not known.
	fetchInterval = 10 * time.Second
	// fetchTimeout bounds one request to the issuer.
	fetchTimeout = 5 * time.Second
)

// OIDC is an OpenID Connect provider, and which of its claims identify a caller.
type OIDC struct {
	Issuer   string // https, or http on loopback
	Audience string // the value that `aud` has to contain
	// Principal is the claim with the name of the principal, Groups the one with its groups: a name,
	// or a JSON Pointer. Without Groups the groups of a caller are not known.
	Principal, Groups string
}

// Options are the dependencies of a [Provider].
type Options struct {
	// Client sends requests to the issuer; nil is a client with timeouts.
	Client *http.Client
	// Now is the clock; nil is the machine's.
	Now func() time.Time
	// Log gets the reason of every refusal.
	Log *slog.Logger
	// Taken reports names that belong to other callers, such as those of tokens in policy files. It
	// may be nil.
	Taken func(stopgate.Principal) bool
	// Logouts keeps which callers were logged out. If nil, nothing is known of them, and
	// [Provider.Logout] refuses every request.
	Logouts Logouts
}

// Logouts keeps entries for all gates, by key.
type Logouts interface {
	PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error
	LogEntry(ctx context.Context, p stopgate.Principal, key string) ([]byte, error)
}

// Provider authenticates callers. It is safe for concurrent use.
type Provider struct {
	settings OIDC
	options  Options
	keys     *keys
}

// New returns a provider. The issuer is first asked when a token arrives: a gate starts without it.
func New(s OIDC, o Options) *Provider {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: fetchTimeout}
	}
	client := *o.Client
	client.CheckRedirect = checkRedirect
	o.Client = &client
	return &Provider{settings: s, options: o, keys: &keys{issuer: s.Issuer, client: o.Client, now: o.Now}}
}

// Settings returns the settings of the provider.
func (p *Provider) Settings() OIDC { return p.settings }

// Issued reports whether a text is a token that names the issuer, without a check of anything: such
// a token is not for others.
func (p *Provider) Issued(token string) bool {
	claims, err := unverified(token)
	if err != nil {
		return false
	}
	issuer, _ := claims.Get("iss")
	return strings.TrimSuffix(issuer.Text(), "/") == strings.TrimSuffix(p.settings.Issuer, "/")
}

// Authenticate returns the caller of a request with a bearer token. The error is for logs, where the
// provider has written it already.
func (p *Provider) Authenticate(r *http.Request, bearer string) (stopgate.Principal, stopgate.Groups, error) {
	who, groups, err := p.caller(r.Context(), bearer)
	if err != nil {
		p.options.Log.Warn("a caller is refused", "reason", err.Error(), "remote", r.RemoteAddr)
		return "", stopgate.Groups{}, err
	}
	return who, groups, nil
}

func (p *Provider) caller(ctx context.Context, token string) (stopgate.Principal, stopgate.Groups, error) {
	refuse := func(err error) (stopgate.Principal, stopgate.Groups, error) { return "", stopgate.Groups{}, err }
	t, err := p.verify(ctx, token)
	if err != nil {
		return refuse(err)
	}
	if err := p.loggedOut(ctx, t); err != nil {
		return refuse(err)
	}
	who, err := principalOf(t.claims, p.settings.Principal)
	if err != nil {
		return refuse(err)
	}
	if p.options.Taken != nil && p.options.Taken(who) {
		return refuse(fmt.Errorf("the name %q belongs to a token of a policy file or to client certificates", who))
	}
	groups, err := groupsOf(t.claims, p.settings.Groups)
	if err != nil {
		return refuse(err)
	}
	return who, groups, nil
}

// errNoToken is the reason of a request without one.
var errNoToken = errors.New("no token")

// tooLong is the reason of a token that is not read.
func tooLong(n int) error {
	return fmt.Errorf("the token has %d bytes, at most %d are read", n, MaxToken)
}
