package session

import (
	"errors"
	"strings"
)

// ErrOrder is the error of a fact that is not the next one.
var ErrOrder = errOrder

var errKey = errors.New("session: parse key: invalid text")

var unescaper = strings.NewReplacer("~0", "~", "~1", "/", "~2", "*")

// ParseKey parses a text of [Key.Text].
func ParseKey(text string) (Key, error) {
	var k Key
	rest, principal := strings.CutPrefix(text, "*")
	if principal {
		k.Scope = OfPrincipal
	}
	space, rest, ok := strings.Cut(rest, "/")
	name, value, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || space == "" || k.Space.UnmarshalText([]byte(space)) != nil {
		return Key{}, errKey
	}
	k.Name, k.Value = unescaper.Replace(name), value
	if k.Text() != text {
		return Key{}, errKey
	}
	return k, nil
}
