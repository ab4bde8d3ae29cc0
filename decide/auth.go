package decide

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate"
)

// Scope is a set of permissions of a token (S43).
type Scope uint8

// The scopes. A token has any set of them.
const (
	Decide  Scope = 1 << iota // propose calls
	Observe                   // results count as observed; without this scope as reported
	Approve                   // read and answer questions, create and revoke grants
	Operate                   // read records and sessions, restore and reset sessions
	Texts                     // add what persons said and approved: texts and facts of sessions

	// onSocket is the permission of requests on the Unix socket without a token. Tokens cannot have
	// it.
	onSocket
	// ownSession is the permission of a request with the key of the session that it is about.
	ownSession
)

// scopeNames are the names of scopes in settings.
var scopeNames = map[string]Scope{"decide": Decide, "observe": Observe, "approve": Approve, "operate": Operate, "texts": Texts}

// ParseScope returns the scope with a name from settings.
func ParseScope(name string) (Scope, bool) {
	s, ok := scopeNames[name]
	return s, ok
}

// String returns the name of a single scope.
func (s Scope) String() string {
	for name, scope := range scopeNames {
		if s == scope {
			return name
		}
	}
	return "several scopes"
}

// Token authenticates a client. The server stores only the token's hash.
type Token struct {
	// Name is the principal of the bearer's calls, and the approver's name for the bearer's
	// answers.
	Name   stopgate.Principal
	Groups stopgate.Groups   // of the principal
	SHA256 [sha256.Size]byte // hash of the token's bytes
	Scopes Scope
}

// Local is the principal of programs on this machine (S22).
const Local stopgate.Principal = "local"

// GroupScopes are the scopes of clients that [Options.Identity] authenticates: those of all groups
// that the client is in.
type GroupScopes struct {
	Group  string // "*" is every client
	Scopes Scope
}

// tokens authenticate clients.
type tokens struct {
	list     atomic.Pointer[[]Token]
	identify func(*http.Request, string) (stopgate.Principal, stopgate.Groups, error)
	groups   []GroupScopes
}

// set replaces all tokens. On an error they do not change.
func (s *tokens) set(list []Token) error {
	for _, t := range list {
		if t.Name == "" || t.Scopes == 0 {
			return errors.New("decide: every token needs a name and a scope")
		}
	}
	s.list.Store(&list)
	return nil
}

// caller is the authenticated client of a request.
type caller struct {
	name   stopgate.Principal
	groups stopgate.Groups
	scopes Scope
	// session is the only one that a caller with its key may use; "" for other callers.
	session stopgate.SessionID
}

// caller authenticates a request. local reports whether it arrived through a channel that only this
// user can open.
func (s *tokens) caller(r *http.Request, local bool) (caller, *problem) {
	if r.Header.Get("Origin") != "" {
		return caller{}, &problem{Status: http.StatusForbidden, Code: "origin_refused", Detail: "browsers may not use this API"}
	}
	header := r.Header.Get("Authorization")
	if len(r.Header.Values("Authorization")) > 1 { // a proxy may have checked a different one
		return caller{}, &problem{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "one Authorization, not several"}
	}
	if header == "" && local {
		return caller{name: Local, scopes: Decide | Observe | onSocket}, nil
	}
	if scheme, text, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
		if who, ok := s.holder(sha256.Sum256([]byte(text))); ok {
			return who, nil
		}
		if who, ok := s.identified(r, strings.TrimSpace(text)); ok {
			return who, nil
		}
	}
	return caller{}, &problem{Status: http.StatusUnauthorized, Code: "unauthorized", Detail: "send Authorization: Bearer TOKEN, with a token of this gate"}
}

// holder returns the client of the token with this hash.
func (s *tokens) holder(sum [sha256.Size]byte) (caller, bool) {
	for _, t := range *s.list.Load() {
		if subtle.ConstantTimeCompare(sum[:], t.SHA256[:]) == 1 {
			return caller{name: t.Name, groups: t.Groups, scopes: t.Scopes}, true
		}
	}
	return caller{}, false
}

// identified returns the client of a token of the identity provider, with the scopes of its groups.
func (s *tokens) identified(r *http.Request, token string) (caller, bool) {
	if s.identify == nil || token == "" {
		return caller{}, false
	}
	who, groups, err := s.identify(r, token)
	if err != nil {
		return caller{}, false
	}
	c := caller{name: who, groups: groups}
	for _, g := range s.groups {
		if g.Group == "*" || groups.Contains(g.Group) {
			c.scopes |= g.Scopes
		}
	}
	return c, true
}

// approver returns the approver for the approval pages.
func (s *tokens) approver(sum [sha256.Size]byte) (name string, groups stopgate.Groups, ok bool) {
	who, ok := s.holder(sum)
	return string(who.name), who.groups, ok && who.require(Approve) == nil
}

// require returns a problem if the client lacks a scope.
func (c caller) require(scope Scope) *problem {
	if c.scopes&scope != 0 {
		return nil
	}
	p := &problem{Status: http.StatusForbidden, Code: "scope_missing", Detail: "the token has no scope " + (scope &^ (onSocket | ownSession)).String()}
	switch {
	case scope == onSocket:
		p.Detail = "only the Unix socket has this route"
	case c.scopes&onSocket != 0 && scope&ownSession != 0:
		p.Detail = "this needs the key of the session, sent as " + keyHeader + ", or a token with the scope " + (scope &^ (onSocket | ownSession)).String()
	case c.scopes&onSocket != 0:
		p.Detail = "this needs a token with the scope " + (scope &^ (onSocket | ownSession)).String() + ": [api.tokens] of the policy file, sent as Authorization: Bearer TOKEN"
	}
	return p
}
