package mcpgate

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/stopgate/stopgate"
)

// Token lets a client in over HTTP, under its own name.
type Token struct {
	Name   stopgate.Principal
	SHA256 [sha256.Size]byte
}

// Local is the principal of whoever needs no token: the process that started the gate,
// and the machine's own programs where no token is configured.
const Local stopgate.Principal = "local"

// bearer finds whose token a request has. Every token is compared, so that time tells
// nothing.
func bearer(tokens []Token, given string) (who stopgate.Principal, ok bool) {
	sum := sha256.Sum256([]byte(given))
	for _, t := range tokens {
		if subtle.ConstantTimeCompare(sum[:], t.SHA256[:]) == 1 {
			who, ok = t.Name, true
		}
	}
	return who, ok
}
