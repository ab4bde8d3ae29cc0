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
	if len(v.tokens) > 0 {
		token, shown := takeToken(r)
		var known bool
		if v.principal, known = v.bearer(token); !known {
			no := &refusal{status: http.StatusUnauthorized, code: stopgate.CodeUnauthenticated, message: noToken, why: "no token"}
			switch {
			case token != "":
				no.message, no.why = unknownToken, "unknown token"
			case shown > 1:
				no.message, no.why = differentTokens, "tokens that differ"
			}
			return no
		}
	}
	return nil
}

// Messages for clients that were not admitted. noToken is for people who have a provider key and no
// token of this gate.
const (
	noToken         = "This gate wants a token of its own: as the API key, in the header X-Stopgate-Token, or in the base URL as /k/TOKEN."
	unknownToken    = "This gate does not know this token: it is mistyped, or was taken back."
	differentTokens = "This request shows different tokens of the gate: send one."
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

// takeToken finds the gate token in all supported places and removes it from all of them, so that
// it is never sent upstream. Two different tokens count as none, because the principal would be a
// guess (G10). shown is the number of places with a token.
func takeToken(r *http.Request) (token string, shown int) {
	tokens := append(header.TakeTokens(r.Header), header.QueryTokens(r.URL)...)
	if rest, ok := strings.CutPrefix(r.URL.Path, "/k/"); ok && r.URL.RawPath == "" {
		if token, path, ok := strings.Cut(rest, "/"); ok {
			r.URL.Path = "/" + path
			tokens = append(tokens, token)
		}
	}
	for _, token := range r.Header["X-Stopgate-Token"] {
		if token != "" {
			tokens = append(tokens, token)
		}
	}
	if len(tokens) == 0 || slices.ContainsFunc(tokens, func(t string) bool { return t != tokens[0] }) {
		return "", len(tokens)
	}
	return tokens[0], len(tokens)
}

// bearer returns the principal of a token. It compares all tokens in constant time.
func (c *configuration) bearer(token string) (who stopgate.Principal, known bool) {
	sum := sha256.Sum256([]byte(token))
	for i := range c.tokens {
		if subtle.ConstantTimeCompare(sum[:], c.tokens[i].SHA256[:]) == 1 {
			who, known = c.tokens[i].Name, true
		}
	}
	return who, known
}

// validName reports whether text of a client is acceptable as an identifier: 1 to 128 characters of
// A-Z a-z 0-9 . _ : -
func validName(s string) bool { return stopgate.ValidToolName(stopgate.ToolName(s)) }
