package schema

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// trail is the way to a part of a schema. It is spelled only when a message needs
// it: the schema of a stranger can have many parts below long names. The nil trail
// is the root.
type trail struct {
	up    *trail
	token string
}

func (t *trail) below(token string) *trail { return &trail{t, token} }

func (t *trail) tokens() []string {
	var list []string
	for ; t != nil; t = t.up {
		list = append(list, t.token)
	}
	slices.Reverse(list)
	return list
}

// pointer spells the trail as a JSON pointer.
func (t *trail) pointer() string { return jsonstream.Pointer(t.tokens()).String() }

// dotted spells it as policy files do.
func (t *trail) dotted() string { return strings.Join(t.tokens(), ".") }
