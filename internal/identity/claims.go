package identity

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxPrincipal is the maximum length of a principal in bytes.
const maxPrincipal = 256

// reserved are the principals of callers without an identity.
var reserved = []stopgate.Principal{"local", "token"}

// find returns the claim with a name, or at a JSON Pointer.
func find(claims jsonstream.Value, name string) (jsonstream.Value, bool) {
	if !strings.HasPrefix(name, "/") {
		return claims.Get(name)
	}
	pointer, err := jsonstream.ParsePointer(name)
	if err != nil {
		return jsonstream.Value{}, false
	}
	return pointer.Find(claims)
}

// principalOf returns the principal that a claim names. An email counts only if the issuer does not
// report that it is unverified: anyone could have entered it.
func principalOf(claims jsonstream.Value, name string) (stopgate.Principal, error) {
	v, ok := find(claims, name)
	if !ok || v.Kind() != jsonstream.String {
		return "", fmt.Errorf("the token has no text as the claim %q", name)
	}
	if name == "email" || name == "/email" {
		switch verified, ok := claims.Get("email_verified"); {
		case !ok, verified.Kind() == jsonstream.True, verified.Kind() == jsonstream.String && verified.Text() == "true":
		default:
			return "", fmt.Errorf("the email of the token is not verified")
		}
	}
	who := v.Text()
	if err := CheckPrincipal(stopgate.Principal(who)); err != nil {
		return "", fmt.Errorf("the claim %q: %w", name, err)
	}
	return stopgate.Principal(who), nil
}

// CheckPrincipal returns an error if a name cannot be that of an authenticated principal.
func CheckPrincipal(who stopgate.Principal) error {
	for _, name := range reserved {
		if who == name || strings.HasPrefix(string(who), logoutsOf) {
			return fmt.Errorf("the name %q belongs to callers without an identity", who)
		}
	}
	if len(who) == 0 || len(who) > maxPrincipal || !utf8.ValidString(string(who)) || strings.ContainsFunc(string(who), func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }) {
		return fmt.Errorf("want 1 to %d printable bytes without blanks", maxPrincipal)
	}
	return nil
}

// groupsOf returns the groups that a claim lists: an array of names, or one name. Without the claim,
// as where there are too many for a token, they are not known.
func groupsOf(claims jsonstream.Value, name string) (stopgate.Groups, error) {
	if name == "" {
		return stopgate.Groups{}, nil
	}
	v, ok := find(claims, name)
	if !ok || v.Kind() == jsonstream.Null {
		return stopgate.Groups{}, nil
	}
	var names []string
	switch v.Kind() {
	case jsonstream.String:
		names = []string{v.Text()}
	case jsonstream.Array:
		for e := range v.Elements() {
			if e.Kind() != jsonstream.String {
				return stopgate.Groups{}, fmt.Errorf("the claim %q has a group that is no text", name)
			}
			names = append(names, e.Text())
		}
	default:
		return stopgate.Groups{}, fmt.Errorf("the claim %q is no list of groups", name)
	}
	groups, err := stopgate.GroupsOf(names...)
	if err != nil {
		return groups, fmt.Errorf("the claim %q: %w", name, err)
	}
	return groups, nil
}
