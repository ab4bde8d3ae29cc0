package serve

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/stopgate/stopgate"
)

// Token authenticates a client over HTTP under its own name.
type Token struct {
	Name   stopgate.Principal
	Groups stopgate.Groups // of the principal
	SHA256 [sha256.Size]byte
}

// bearer returns the principal of a token. It compares all tokens, so that its duration does
// not reveal which one matched.
func bearer(tokens []Token, given string) (who stopgate.Principal, groups stopgate.Groups, ok bool) {
	sum := sha256.Sum256([]byte(given))
	for _, t := range tokens {
		if subtle.ConstantTimeCompare(sum[:], t.SHA256[:]) == 1 {
			who, groups, ok = t.Name, t.Groups, true
		}
	}
	return who, groups, ok
}
