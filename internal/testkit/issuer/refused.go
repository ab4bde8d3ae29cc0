package issuer

import (
	"strings"
	"time"
)

// Refused is a token that no surface accepts.
type Refused struct {
	Name, Token string
	Reason      string // a part of the reason in the log
}

// Refusals returns tokens that no surface accepts, with the claim email as the principal.
func (i *Issuer) Refusals() []Refused {
	now := i.now()
	ann := func(more map[string]any) map[string]any {
		all := map[string]any{"email": "ann@example.com"}
		for name, v := range more {
			all[name] = v
		}
		return all
	}
	return []Refused{
		{"expired", i.Token(ann(map[string]any{"exp": now.Add(-5 * time.Minute).Unix()})), "expired"},
		{"without an end", i.Token(ann(map[string]any{"exp": nil})), "expired"},
		{"not yet valid", i.Token(ann(map[string]any{"nbf": now.Add(5 * time.Minute).Unix()})), "nbf"},
		{"issued later", i.Token(ann(map[string]any{"iat": now.Add(5 * time.Minute).Unix()})), "iat"},
		{"wrong audience", i.Token(ann(map[string]any{"aud": "wiki"})), "audience"},
		{"without an audience", i.Token(ann(map[string]any{"aud": nil})), "audience"},
		{"wrong issuer", i.Token(ann(map[string]any{"iss": i.URL + "/other"})), "issuer"},
		{"alg none", i.Unsigned(ann(nil)), "algorithm"},
		{"HS256 with the public key", i.Symmetric(ann(nil)), "algorithm"},
		{"unknown kid", i.Stranger("other", ann(nil)), "key"},
		{"another key under a known kid", i.Stranger(i.KeyID(), ann(nil)), "key"},
		{"without the claim", i.Token(nil), "email"},
		{"unverified email", i.Token(ann(map[string]any{"email_verified": false})), "not verified"},
		{"unverified email as text", i.Token(ann(map[string]any{"email_verified": "false"})), "not verified"},
		{"the name of programs without a token", i.Token(map[string]any{"email": "local"}), "belongs to"},
		{"the name of a token", i.Token(map[string]any{"email": "ci"}), "belongs to"},
		{"a name of several lines", i.Token(map[string]any{"email": "ann\nroot"}), "printable"},
		{"groups that are none", i.Token(ann(map[string]any{"groups": map[string]any{"leads": true}})), "groups"},
		{"a group that is no text", i.Token(ann(map[string]any{"groups": []any{"leads", 7}})), "groups"},
		{"a logout token", i.Logout(ann(map[string]any{"sub": "u-1"})), "event"},
		{"huge", i.Token(ann(map[string]any{"padding": strings.Repeat("x", 40<<10)})), "bytes"},
		{"cut", i.Token(ann(nil))[:200], "three parts"},
		{"changed", strings.Replace(i.Token(ann(nil)), ".", ".e30", 1), ""},
		{"no token", "x", "three parts"},
	}
}

// KeyID is the id of the key that signs.
func (i *Issuer) KeyID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0].KeyID
}
