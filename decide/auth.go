package decide

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
)

// Scope is what a token may do (DECISIONS S43).
type Scope uint8

// The scopes. A token has any set of them.
const (
	Decide  Scope = 1 << iota // ask for decisions
	Observe                   // its results count as observed; without, as reported
	Approve                   // see and answer questions, make and revoke grants
	Operate                   // read records and sessions, restore and reset them

	// onSocket is what a request on the socket may without a token, and no token says.
	onSocket
)

// scopeNames are the scopes as settings spell them.
var scopeNames = map[string]Scope{"decide": Decide, "observe": Observe, "approve": Approve, "operate": Operate}

// ParseScope reads a scope as settings spell it.
func ParseScope(name string) (Scope, bool) {
	s, ok := scopeNames[name]
	return s, ok
}

// String names one scope.
func (s Scope) String() string {
	for name, scope := range scopeNames {
		if s == scope {
			return name
		}
	}
	return "several scopes"
}

// Token lets its bearer in. The token itself is not kept, only its hash.
type Token struct {
	// Name is the principal that calls of the bearer belong to, and the name under
	// which the bearer answers questions.
	Name   stopgate.Principal
	SHA256 [sha256.Size]byte // of the token's bytes
	Scopes Scope
}

// Local is the principal of the machine's own programs (DECISIONS S22).
const Local stopgate.Principal = "local"

// caller is who made a request.
type caller struct {
	name   stopgate.Principal
	scopes Scope
}

// caller finds out who makes a request. local says that it came over a channel that
// only this user can open.
func (s *Server) caller(r *http.Request, local bool) (caller, *problem) {
	if r.Header.Get("Origin") != "" {
		return caller{}, &problem{Status: http.StatusForbidden, Code: "origin_refused", Detail: "browsers may not use this API"}
	}
	header := r.Header.Get("Authorization")
	if len(r.Header.Values("Authorization")) > 1 { // what stands in front may have looked at another one
		return caller{}, &problem{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "one Authorization, not several"}
	}
	if header == "" && local {
		return caller{name: Local, scopes: Decide | Observe | onSocket}, nil
	}
	if scheme, text, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
		if who, ok := s.bearer(text); ok {
			return who, nil
		}
	}
	return caller{}, &problem{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "send Authorization: Bearer TOKEN, with a token of this gate"}
}

// bearer finds out whose a token is.
func (s *Server) bearer(token string) (caller, bool) { return s.holder(sha256.Sum256([]byte(token))) }

// holder finds out whose the token with a hash is.
func (s *Server) holder(sum [sha256.Size]byte) (caller, bool) {
	for _, t := range *s.tokens.Load() {
		if subtle.ConstantTimeCompare(sum[:], t.SHA256[:]) == 1 {
			return caller{name: t.Name, scopes: t.Scopes}, true
		}
	}
	return caller{}, false
}

// approver is who a token lets answer on the pages.
func (s *Server) approver(sum [sha256.Size]byte) (name string, ok bool) {
	who, ok := s.holder(sum)
	return string(who.name), ok && who.may(Approve) == nil
}

// may refuses callers without a scope.
func (c caller) may(scope Scope) *problem {
	if c.scopes&scope != 0 {
		return nil
	}
	p := &problem{Status: http.StatusForbidden, Code: "scope_missing", Detail: "the token has no scope " + (scope &^ onSocket).String()}
	if c.scopes&onSocket != 0 {
		p.Detail = "this needs a token with the scope " + (scope &^ onSocket).String() + ": [api.tokens] of the policy file, sent as Authorization: Bearer TOKEN"
	}
	return p
}
