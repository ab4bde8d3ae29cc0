package schema

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// trail is the path to a part of a schema. It is formatted only for messages, since an untrusted
// schema can have many parts below long names. The nil trail is the root.
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

// pointer formats the trail as a JSON pointer.
func (t *trail) pointer() string { return jsonstream.Pointer(t.tokens()).String() }

// dotted formats the trail as policy files do.
func (t *trail) dotted() string { return strings.Join(t.tokens(), ".") }
