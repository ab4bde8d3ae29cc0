package serve

import (
	"context"
	"net/http"

	"github.com/stopgate/stopgate"
)

// Authenticate returns the caller of a request with a bearer token that is none of [Handler.SetTokens].
// After an error the request is refused; the client is not told the reason.
type Authenticate func(r *http.Request, token string) (stopgate.Principal, stopgate.Groups, error)

type groupsKey struct{}

// Groups returns the groups of the client whose request the context belongs to.
func Groups(ctx context.Context) stopgate.Groups {
	groups, _ := ctx.Value(groupsKey{}).(stopgate.Groups)
	return groups
}

// authenticate finds the client of a request, and returns the request with its groups.
func (h *Handler) authenticate(r *http.Request, token string, inURL bool) (who stopgate.Principal, _ *http.Request, ok bool) {
	who, groups, ok := bearer(*h.tokens.Load(), token)
	if !ok && h.identify != nil && token != "" && !inURL { // addresses are logged everywhere
		var err error
		who, groups, err = h.identify(r, token)
		ok = err == nil
	}
	if !ok {
		return "", r, false
	}
	return who, r.WithContext(context.WithValue(r.Context(), groupsKey{}, groups)), true
}
