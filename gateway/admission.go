package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
)

// refusal is the reason why a request is refused.
type refusal struct {
	status  int
	code    stopgate.Code
	message string // default: the public text of the code
	why     string // for the log only; default: the code
}

// admit checks Host and Origin against their allow lists (G9, S46) and the token, if one is
// configured. It removes the token from the request.
func (v *clientRequest) admit(r *http.Request) *refusal {
	if !v.knownHost(r.Host) {
		return &refusal{status: http.StatusForbidden, code: stopgate.CodeOriginRejected, message: foreignHost, why: "host " + truncate(r.Host)}
	}
	for _, origin := range r.Header["Origin"] {
		if !v.knownOrigin(origin, r.Host) {
			return &refusal{status: http.StatusForbidden, code: stopgate.CodeOriginRejected, message: foreignOrigin, why: "origin " + truncate(origin)}
		}
	}
	v.principal = local
	if v.workloads != nil && r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		return v.certificate(r)
	}
	if len(v.tokens) > 0 || v.identity != nil || v.workloads != nil {
		return v.authenticate(r)
	}
	return nil
}

// authenticate finds the client of the request's token. There is no principal for a request without.
func (v *clientRequest) authenticate(r *http.Request) *refusal {
	no := &refusal{status: http.StatusUnauthorized, code: stopgate.CodeUnauthenticated, message: noToken, why: "no token"}
	var issued func(string) bool
	if v.identity != nil {
		if issued = v.identity.Issued; len(r.Header["Authorization"]) > 1 {
			no.message, no.why = differentTokens, "several headers Authorization"
			return no
		}
	}
	shown := takeTokens(r, issued)
	if !v.wantsTokens() {
		no.message, no.why = noCertificate, "no client certificate"
		return no
	}
	switch {
	case len(shown.all) == 0:
		return no
	case slices.ContainsFunc(shown.all, func(t string) bool { return t != shown.all[0] }):
		no.message, no.why = differentTokens, "tokens that differ"
		return no
	}
	no.message, no.why = unknownToken, "unknown token"
	known := false
	if v.principal, v.groups, known = v.bearer(shown.all[0]); known {
		return nil
	}
	if v.identity == nil || shown.inURL { // addresses are logged everywhere
		return no
	}
	var err error
	if v.principal, v.groups, err = v.identity.Authenticate(r, shown.all[0]); err != nil {
		no.why = "not authenticated: " + truncate(err.Error())
		return no
	}
	return nil
}

// Messages for clients that were not admitted. noToken is for people who have a provider key and no
// token of this gate.
const (
	noToken         = "This gate wants a token of its own: as the API key, in the header X-Stopgate-Token, or in the base URL as /k/TOKEN."
	unknownToken    = "This gate does not know this token: it is mistyped, or was taken back."
	differentTokens = "This request shows different tokens of the gate: send one."
	noCertificate   = "This gate wants a client certificate."
	twoIdentities   = "This request has a client certificate and a token of the gate: show one of them."
	foreignHost     = "This gate does not answer to this host name: its names are those in [gateway] hosts of its policy, and loopback."
	foreignOrigin   = "Pages of this origin may not call this gate: [gateway] origins of its policy lists those that may."
)

// knownHost reports whether a Host header names this gateway. Pages that use DNS rebinding to reach
// loopback still send their own name.
func (c *configuration) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return host != "" && (upstream.Loopback(host) || c.hosts[host])
}

// knownOrigin reports whether browser pages of this origin are allowed: a configured origin, or the
// gateway's own.
func (c *configuration) knownOrigin(origin, host string) bool {
	if c.origins[strings.ToLower(origin)] {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, host)
}

// shownTokens are the gate tokens of a request. Two different ones count as none, because the principal
// would be a guess (G10).
type shownTokens struct {
	all   []string
	inURL bool // one of them is in the address
}

// takeTokens finds the gate tokens in all supported places and removes them from all of them, so that
// they are never sent upstream.
func takeTokens(r *http.Request, issued func(string) bool) (shown shownTokens) {
	tokens := append(header.TakeTokens(r.Header, issued), header.QueryTokens(r.URL)...)
	if rest, ok := strings.CutPrefix(r.URL.Path, "/k/"); ok && r.URL.RawPath == "" {
		if token, path, ok := strings.Cut(rest, "/"); ok {
			r.URL.Path = "/" + path
			tokens = append(tokens, token)
			shown.inURL = true
		}
	}
	for _, token := range r.Header["X-Stopgate-Token"] {
		if token != "" {
			tokens = append(tokens, token)
		}
	}
	shown.all = tokens
	return shown
}

// bearer returns the principal of a token. It compares all tokens in constant time.
func (c *configuration) bearer(token string) (who stopgate.Principal, groups stopgate.Groups, known bool) {
	sum := sha256.Sum256([]byte(token))
	for i := range c.tokens {
		if subtle.ConstantTimeCompare(sum[:], c.tokens[i].SHA256[:]) == 1 {
			who, groups, known = c.tokens[i].Name, c.tokens[i].Groups, true
		}
	}
	return who, groups, known
}

// validName reports whether text of a client is acceptable as an identifier: 1 to 128 characters of
// A-Z a-z 0-9 . _ : -
func validName(s string) bool { return stopgate.ValidToolName(stopgate.ToolName(s)) }
